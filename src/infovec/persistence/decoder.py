"""From a tree of JSON values with references to arrays back to objects. Names are looked up in closed registries."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..errors import ModelFileError, ParameterError
from ..numerics.parameters import Parametrised
from .archive import Reader
from .arrays import Layout
from .registry import Registry, build_value

__all__ = ["ABSENT", "Decoder", "own_things", "parsed"]

ABSENT = object()
"""Stands for what could not be saved."""

_TYPES: Mapping[str, type] = {"float32": np.float32, "float64": np.float64}
_FLOATS: Mapping[str, float] = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parsed(text: bytes) -> Any:
    """Return the value of a JSON text, without the liberties that Python takes."""
    return json.loads(text.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no, parse_float=_finite)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("a JSON object has the same key twice")
    return found


def _no(name: str) -> Any:
    raise ModelFileError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no(text)


def own_things(things: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Return the user's own classes and functions by name."""
    if isinstance(things, Mapping):
        return dict(things)
    if isinstance(things, type) or not isinstance(things, Iterable):
        raise ParameterError(f"kernels must be a list of classes or functions, got {things!r}: write kernels=[...]")
    named: dict[str, Any] = {}
    for thing in things:
        name = getattr(thing, "__name__", None)
        if name is None:
            raise ParameterError(f"kernels must list classes and functions, not {thing!r}")
        if named.setdefault(name, thing) is not thing:
            raise ParameterError(f"two of kernels are called {name}; one name must be one thing")
    return named


class Decoder:
    """Puts things together.

    Parameters
    ----------
    reader : Reader
        Has the arrays.
    registry : Registry
        The classes that may be built.
    own : dict
        Classes and functions of the user's own, by name.
    """

    def __init__(self, reader: Reader, registry: Registry, own: Mapping[str, Any]) -> None:
        self.reader, self.registry, self.own = reader, registry, own
        self.arrays: dict[str, tuple[Array, Layout]] = {}
        self._kinds: dict[str, Callable[..., Any]] = {
            "float": lambda value: _FLOATS[value],
            "scalar": lambda array: self._of(array, np.ndarray)[()],
            "array": self._array,
            "objects": self._objects,
            "csr": self._csr,
            "tuple": lambda items: tuple(self._of(items, list)),
            "dict": lambda items: self._mapping(items),
            "type": lambda name: _TYPES[name],
            "dtype": lambda name: np.dtype(_TYPES[name]),
            "absent": lambda: ABSENT,
            "object": self._object,
            "own": self._own,
            "function": self._function,
        }

    def decode(self, tree: Any) -> Any:
        """Return what a tree stands for."""
        if tree is None or isinstance(tree, bool | int | float | str):
            return tree
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        given = dict(tree)
        kind = given.pop("kind", None)
        if kind not in self._kinds:
            raise ModelFileError(f"nothing of the kind {str(kind)[:80]!r} is known")
        return self._kinds[kind](**given)

    def _of(self, tree: Any, cls: type) -> Any:
        thing = self.decode(tree)
        if not isinstance(thing, cls):
            raise ModelFileError(f"a {type(thing).__name__} stands where a {cls.__name__} belongs")
        return thing

    def _array(self, member: str, dtype: Any, shape: Any, order: Any) -> Array:
        layout = Layout.declared(dtype, shape, order)
        if member not in self.arrays:
            self.arrays[member] = self.reader.array(member, layout), layout
        array, as_before = self.arrays[member]
        if layout != as_before:
            raise ModelFileError(f"{member} is declared in two ways")
        return array

    def _objects(self, items: Any) -> Array:
        found = self._of(items, list)
        array = np.empty(len(found), dtype=object)
        array[:] = found
        return array

    def _csr(self, array: bool, shape: Any, **parts: Any) -> Any:
        data, indices, indptr = (self._of(parts.pop(name), np.ndarray) for name in ("data", "indices", "indptr"))
        if parts or not (isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)):
            raise ModelFileError("a sparse matrix is declared in a way that no model file has")
        matrix = (sparse.csr_array if array else sparse.csr_matrix)((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def _mapping(self, items: Any) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in dict(items).items()}

    def _object(self, **given: Any) -> Any:
        record = self.registry.records.get(given["class"])
        if record is None:
            raise ModelFileError(
                f"it has a {given['class'][:80]!r}, which this version of infovec does not know; upgrade infovec"
            )
        return record.build(self._mapping(given["fields"]))

    def _own(self, **given: Any) -> Any:
        cls = self._passed(given["class"], "class")
        if not (isinstance(cls, type) and issubclass(cls, Parametrised)):
            raise ModelFileError(f"{given['class']} must be a class derived from Kernel or Likelihood, got {cls!r}")
        return build_value(cls, self._mapping(given["fields"]))

    def _function(self, name: str) -> Any:
        function = self._passed(name, "function")
        if not callable(function):
            raise ModelFileError(f"{name} must be a function, got {function!r}")
        return function

    def _passed(self, name: str, what: str) -> Any:
        if name not in self.own:
            shown = name[:80]
            how = f"kernels=[{shown}]" if shown.isidentifier() else f"kernels={{{shown!r}: ...}}"
            raise ModelFileError(f"the model needs the {what} {shown}, which files do not have: load(path, {how})")
        return self.own[name]
