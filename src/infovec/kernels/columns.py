"""Kernels of some of the columns, and how kernels get to know which columns their names are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from .algebra import Block, Kernel
from .categorical import Categorical
from .constant import Bias, White
from .stationary import RBF

__all__ = ["On", "as_numbers", "found_column", "parts_of", "resolved"]


@dataclass(frozen=True, eq=False, repr=False)
class On(Kernel):
    r"""A kernel of some of the columns; the others do not matter to it.

    .. math:: k(x, z) = k_1(x_S, z_S)

    Parameters
    ----------
    kernel : Kernel
        Any kernel of numbers; what it has for each column it has for each of these, in their order.
    columns : int, str, or a sequence of either
        S: numbers of columns, counted from the end where negative, or names, which ``fit`` looks up in those of X.
    """

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)

    kernel: Kernel = field(default_factory=RBF)
    columns: tuple[int | str, ...] = (0,)

    def __post_init__(self) -> None:
        super().__post_init__()
        one = isinstance(self.columns, str) or np.ndim(self.columns) == 0
        listed = [self.columns] if one else list(self.columns)
        columns = tuple(int(c) if isinstance(c, np.integer) else str(c) if isinstance(c, str) else c for c in listed)
        whole = all(isinstance(c, int | str) and not isinstance(c, bool) for c in columns)
        if not columns or not whole or len(set(columns)) < len(columns):
            raise ParameterError(
                f"On: columns must be different numbers or names of columns, one at least, got {self.columns!r}"
            )
        if not self.kernel.numeric:
            raise ParameterError(f"On: {self.kernel!r} is a kernel of objects, which have no columns")
        object.__setattr__(self, "columns", columns)

    def resolved(self, names: Sequence[str], X: Inputs) -> "On":
        """Return the same with the numbers of its columns, which may be names, and all that its kernel needs of X."""
        p = X.shape[1]
        columns = [found_column(c, names, "On") if isinstance(c, str) else c for c in self.columns]
        at = _inside(columns, p)
        there = [names[j] for j in at] if len(names) == p else []
        return replace(self, columns=at, kernel=resolved(self.kernel, there, X[:, list(at)]))

    def _of(self, X: Inputs) -> Inputs:
        """The columns that count."""
        name = next((c for c in self.columns if isinstance(c, str)), None)
        if name is not None:
            raise ParameterError(
                f"On: column {name!r} is a name, and only an estimator knows names; give the number of the column"
            )
        found = X[:, list(_inside(self.columns, X.shape[1]))]
        return found.tocsr() if sparse.issparse(found) else found

    def on(self, Z: Inputs) -> Block:
        inside = self.kernel.on(self._of(Z))
        return lambda X: inside(self._of(X))

    def part_by_part(self, Z: Inputs) -> Block:
        inside = self.kernel.part_by_part(self._of(Z))
        return lambda X: inside(self._of(X))

    def diag(self, X: Inputs) -> Floats:
        return self.kernel.diag(self._of(X))

    def times(self, factor: float) -> Kernel | None:
        inside = self.kernel.times(factor)
        return None if inside is None else replace(self, kernel=inside)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return self.kernel.vjp(self._of(X), None if Z is None else self._of(Z), G)

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self.kernel.diag_vjp(self._of(X), w)

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        by_x, by_z = self.kernel.input_vjp(self._of(X), self._of(Z), G)
        return self._among(by_x, X), self._among(by_z, Z)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self._among(self.kernel.diag_input_vjp(self._of(X), w), X)

    def _among(self, gradient: Floats, X: Inputs) -> Floats:
        """The gradient in all columns: zero in those that do not count."""
        found = np.zeros(X.shape)
        found[:, list(_inside(self.columns, X.shape[1]))] = gradient
        return found


def _inside(columns: Sequence[int | str], p: int) -> tuple[int, ...]:
    """Numbers of columns from zero on; checked against the p that there are."""
    wrong = [c for c in columns if isinstance(c, int) and not -p <= c < p]
    if wrong:
        raise ParameterError(f"On: column {wrong[0]} is asked for, but the inputs have {p} columns")
    at = tuple(int(c) % p for c in columns)
    if len(set(at)) < len(at):
        raise ParameterError(f"On: columns {list(columns)} are not different ones of {p}")
    return at


def found_column(column: str, names: Sequence[str], kernel: str, hint: str = "") -> int:
    """Return the number of a column that a kernel calls by its name."""
    if column in names:
        return list(names).index(column)
    known = f"which are {', '.join(map(str, names[:8]))}" if len(names) else "of which X has none"
    raise ParameterError(
        hint or f"{kernel}: column {column!r} is none of the names of columns, {known}; or give its number"
    )


def resolved(kernel: Kernel, names: Sequence[str], X: Inputs) -> Kernel:
    """Return a kernel whose columns all have numbers, from one that may call them by name.

    Parameters
    ----------
    kernel : Kernel
    names : sequence of str
        Of the columns of X; empty if they have none.
    X : array of shape (n, p)
    """
    own = getattr(kernel, "resolved", None)
    if own is not None:
        found: Kernel = own(names, X)
        return found
    parts = {name: part for name, part in kernel._children() if isinstance(part, Kernel)}
    changed = {name: resolved(part, names, X) for name, part in parts.items()}
    return kernel if all(changed[name] is parts[name] for name in parts) else replace(kernel, **changed)


def parts_of(kernel: Kernel) -> list[Kernel]:
    """Return a kernel and all parts of its parts."""
    return [kernel, *(found for _, part in kernel._children() if isinstance(part, Kernel) for found in parts_of(part))]


def as_numbers(kernel: Kernel, names: Sequence[str], columns: Sequence[int] | None = None) -> set[int]:
    """Return the columns whose values a kernel takes for numbers, not for categories that are the same or not.

    Parameters
    ----------
    kernel : Kernel
    names : sequence of str
        Of all columns.
    columns : sequence of int, optional
        Those that the kernel sees; all of them unless given.
    """
    seen = list(range(len(names))) if columns is None else list(columns)
    if isinstance(kernel, On):
        at = [found_column(c, names, "On") if isinstance(c, str) else seen[c % len(seen)] for c in kernel.columns]
        return as_numbers(kernel.kernel, names, at)
    own = getattr(kernel, "column", None)  # of tasks
    if isinstance(own, int | str) and own in (*range(len(seen)), *names):
        seen.pop(own if isinstance(own, int) else seen.index(list(names).index(own)))
    parts = [part for _, part in kernel._children() if isinstance(part, Kernel)]
    if parts:
        return set().union(*(as_numbers(part, names, seen) for part in parts))
    return set() if isinstance(kernel, Categorical | Bias | White) else set(seen)
