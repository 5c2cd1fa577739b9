"""Immutable values with named parameters and one free vector theta: the base of kernels and likelihoods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..plain import frame, pairs
from .roles import Role
from .transforms import Transform

__all__ = ["Parametrised"]


@dataclass(frozen=True, eq=False, repr=False)
class Parametrised:
    """A frozen dataclass some of whose fields are free parameters and some are parts with their own.

    ``theta`` lists the free numbers of the value's own parameters, then those of its parts, in the order
    of ``transforms`` and ``_parts``. ``with_theta`` returns a changed copy. Two values are equal when
    they have the same type and the same fields.
    """

    _parts: ClassVar[tuple[str, ...]] = ()

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """The transform of each free parameter, by field name, in the order of theta."""
        return {}

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of each free parameter, by field name; one that is not named is free."""
        return {}

    def __post_init__(self) -> None:
        single = {field.name for field in fields(self) if field.type in (float, "float")}
        for name, transform in self.transforms.items():
            try:
                value = np.array(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise ParameterError(
                    f"{type(self).__name__}: {name} must be a number or an array of numbers, "
                    f"got {getattr(self, name)!r}"
                ) from error
            if value.ndim and name in single:
                raise ParameterError(f"{type(self).__name__}: {name} must be one number, got {getattr(self, name)!r}")
            if value.ndim > 1 or value.size == 0 or not transform.admits(value):
                raise ParameterError(
                    f"{type(self).__name__}: {name} must be {transform.requirement}, got {getattr(self, name)!r}"
                )
            value.setflags(write=False)
            object.__setattr__(self, name, value if value.ndim else float(value))

    def _own(self) -> Iterator[tuple[str, Transform, Floats]]:
        for name, transform in self.transforms.items():
            yield name, transform, np.atleast_1d(getattr(self, name))

    def _children(self) -> Iterator[tuple[str, "Parametrised"]]:
        for name in self._parts:
            yield name, getattr(self, name)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return everything that the value is made of, by name; those of a part as ``part__name``.

        Parameters
        ----------
        deep : bool
            Whether to go into the parts.
        """
        found: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(self) if field.init}
        for name, part in self._children() if deep else ():
            found |= {f"{name}__{inner}": value for inner, value in part.get_params().items()}
        return found

    def set_params(self, **params: object) -> Self:
        """Return a copy with other parameters, by the names of ``get_params``. The value itself never changes."""
        known = self.get_params(deep=False)
        whole = {name: value for name, value in params.items() if "__" not in name}
        inside: dict[str, dict[str, object]] = {}
        for name, value in params.items():
            part, nested, inner = name.partition("__")
            if part not in known or (nested and part not in self._parts):
                raise ParameterError(
                    f"{part if not nested or part not in known else name!r} is no parameter of "
                    f"{type(self).__name__}, which has {', '.join(self.get_params())}"
                )
            if nested:
                inside.setdefault(part, {})[inner] = value
        changed = replace(self, **whole)
        parts = {part: getattr(changed, part).set_params(**inner) for part, inner in inside.items()}
        return replace(changed, **parts) if parts else changed

    def __sklearn_clone__(self) -> Self:
        return self  # which cannot change

    @property
    def theta(self) -> Floats:
        """Free numbers of all parameters."""
        own = [transform.free(value) for _, transform, value in self._own()]
        return np.concatenate([np.empty(0), *own, *(part.theta for _, part in self._children())])

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy whose parameters are those of ``theta``."""
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != self.theta.shape:
            raise ParameterError(
                f"{type(self).__name__} has {self.theta.size} free parameters, theta has shape {theta.shape}"
            )
        changes: dict[str, Any] = {}
        at = 0
        for name, transform, value in self._own():
            new = transform.value(theta[at : at + value.size])
            changes[name] = new if np.ndim(getattr(self, name)) else float(new[0])
            at += value.size
        for name, part in self._children():
            changes[name] = part.with_theta(theta[at : at + part.theta.size])
            at += part.theta.size
        return replace(self, **changes)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """One name for each entry of theta; parts are prefixed by their field name."""
        names: list[str] = []
        for name, _, value in self._own():
            many = np.ndim(getattr(self, name)) > 0
            names += [f"{name}[{i}]" for i in range(value.size)] if many else [name]
        for name, part in self._children():
            names += [f"{name}.{inner}" for inner in part.parameter_names]
        return tuple(names)

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each entry of theta, shape (q, 2)."""
        own = [np.tile(transform.free_bounds, (value.size, 1)) for _, transform, value in self._own()]
        return np.concatenate([np.empty((0, 2)), *own, *(part.bounds for _, part in self._children())])

    @property
    def free_transforms(self) -> tuple[Transform, ...]:
        """The transform that each entry of theta goes through."""
        own = [transform for _, transform, value in self._own() for _ in range(value.size)]
        return (*own, *(t for _, part in self._children() for t in part.free_transforms))

    @property
    def free_roles(self) -> tuple[Role, ...]:
        """The role of the parameter that each entry of theta belongs to."""
        roles = self.roles
        own = [roles.get(name, Role.FREE) for name, _, value in self._own() for _ in range(value.size)]
        return (*own, *(role for _, part in self._children() for role in part.free_roles))

    def _gradient(self, by_name: Mapping[str, Any]) -> Floats:
        """Gradient in theta (own part) from gradients in the parameters' values.

        The gradient of a vector parameter has its entries along axis 0; that of a scalar has no such axis.
        """
        rows = [
            transform.pullback(value, np.asarray(by_name[name])[() if np.ndim(getattr(self, name)) else None])
            for name, transform, value in self._own()
        ]
        return np.concatenate(rows) if rows else np.empty(0)

    def _repr_html_(self) -> str:
        own = [(f.name, _shown(getattr(self, f.name))) for f in fields(self) if f.name not in self._parts]
        inside = [part._repr_html_() for _, part in self._children()]
        return frame(type(self).__name__, pairs(own) if own else "", *(f"<div>{part}</div>" for part in inside))

    def _key(self) -> tuple[Any, ...]:
        return tuple(_frozen(getattr(self, field.name)) for field in fields(self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        first = [f.name for f in fields(self) if not f.kw_only]
        changed = [f.name for f in fields(self) if f.kw_only and getattr(self, f.name) != f.default]
        inner = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in (*first, *changed))
        return f"{type(self).__name__}({inner})"


def _frozen(value: Any) -> Any:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return f"<{value.shape[0]} x {value.shape[1]} array>"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=8, separator=", ").replace("\n", "")
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
