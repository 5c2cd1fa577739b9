"""Kernels of several tasks: one column says which task a row belongs to, the others go into a kernel that all share."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from .algebra import Block, Kernel, _writable
from .columns import On, found_column, parts_of, resolved
from .stationary import RBF

__all__ = ["GROUPS", "ByTask", "Tasks"]

GROUPS = "groups"
"""Name of the column that comes from ``fit(..., groups=)``."""


@dataclass(frozen=True, eq=False, repr=False)
class ByTask(Kernel):
    """A factor that depends on the tasks of two rows, times a kernel of all other columns."""

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)

    kernel: Kernel = field(default_factory=RBF)
    column: int | str = GROUPS

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.column, int | np.integer) and not isinstance(self.column, bool)
        if not whole and not isinstance(self.column, str):
            raise ParameterError(
                f"{type(self).__name__}: column must be the number or the name of a column, got {self.column!r}"
            )

    @abstractmethod
    def _factor(self, tasks: Floats, others: Floats) -> Floats:
        """The factor between rows of these tasks."""

    @abstractmethod
    def _own_variance(self, tasks: Floats) -> Floats:
        """The factor of every row with itself."""

    def resolved(self, names: Sequence[str], X: Inputs) -> "ByTask":
        """Return the same with the number of its column, which may be a name, and all that it needs to know of X."""
        column, p = self.column, X.shape[1]
        if isinstance(column, str):
            column = _found(column, names, type(self).__name__)
        if not -p <= column < p:
            raise ParameterError(f"{type(self).__name__}: column is {column}, but the inputs have {p} columns")
        column = int(column) % p
        there = np.delete(np.asarray(names, dtype=object), column) if len(names) == p else ()
        beside = X[:, np.arange(p) != column] if isinstance(X, np.ndarray) and _nested(self.kernel) else X[:1][:, 1:]
        return replace(self, column=column, kernel=resolved(self.kernel, tuple(there), beside))

    def _split(self, X: Inputs) -> tuple[Floats, Inputs]:
        """Tasks and all other columns."""
        name = type(self).__name__
        if isinstance(self.column, str):
            raise ParameterError(
                f"{name}: column {self.column!r} is a name, and only an estimator knows names; give its number"
            )
        if sparse.issparse(X):
            raise ParameterError(f"{name} takes dense inputs only: X.toarray()")
        p = X.shape[1]
        if p < 2 or not -p <= self.column < p:
            raise ParameterError(
                f"{name}: the inputs have {p} columns, which must be column {self.column} and others beside it"
            )
        return X[:, self.column], np.delete(X, self.column, axis=1)

    def on(self, Z: Inputs) -> Block:
        others, rest = self._split(Z)
        inside = self.kernel.on(rest)

        def block(X: Inputs) -> Floats:
            tasks, here = self._split(X)
            K = _writable(inside(here))
            K *= self._factor(tasks, others)
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        tasks, rest = self._split(X)
        return self.kernel.diag(rest) * self._own_variance(tasks)

    def times(self, factor: float) -> Kernel | None:
        inside = self.kernel.times(factor)
        return None if inside is None else replace(self, kernel=inside)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        tasks, rest = self._split(X)
        others, there = (tasks, None) if Z is None else self._split(Z)
        own = self._own_vjp(tasks, others, G * self.kernel(rest, there)) if self.transforms else np.empty(0)
        return np.concatenate([own, self.kernel.vjp(rest, there, G * self._factor(tasks, others))])

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        tasks, rest = self._split(X)
        own = self._diag_own_vjp(tasks, w * self.kernel.diag(rest)) if self.transforms else np.empty(0)
        return np.concatenate([own, self.kernel.diag_vjp(rest, w * self._own_variance(tasks))])

    def _own_vjp(self, tasks: Floats, others: Floats, G: Floats) -> Floats:
        """Gradient of <G, factor> in the parameters of the factor, if it has any."""
        return np.empty(0)

    def _diag_own_vjp(self, tasks: Floats, w: Floats) -> Floats:
        """Gradient of w' factor of every row with itself."""
        return np.empty(0)

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        """Gradients in the other columns; tasks do not move."""
        (tasks, rest), (others, there) = self._split(X), self._split(Z)
        by_x, by_z = self.kernel.input_vjp(rest, there, G * self._factor(tasks, others))
        return self._beside(by_x), self._beside(by_z)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        tasks, rest = self._split(X)
        return self._beside(self.kernel.diag_input_vjp(rest, w * self._own_variance(tasks)))

    def _beside(self, gradient: Floats) -> Floats:
        """Put the column of the tasks back, with a gradient of zero."""
        assert isinstance(self.column, int | np.integer)
        return np.insert(gradient, int(self.column) % (gradient.shape[1] + 1), 0.0, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Tasks(ByTask):
    r"""Tasks that share their parameters and nothing else: given these they are independent (the MT-IVM, SLH 5).

    .. math:: k(x, z) = 1[t_x = t_z] \, k_1(x', z')

    with the task t of a row and x' its other columns. A task that no training row has gets the prior: predictions say
    what the shared kernel and the likelihood say without data.

    Parameters
    ----------
    kernel : Kernel
        Of the columns beside that of the tasks, in their units; RBF by default.
    column : int or str
        Where the tasks are: the number of a column of X, or its name if X has names. "groups", the default, are the
        labels, of any type, that are given to ``fit(X, y, groups=labels)`` and ``predict(X, groups=labels)``.
    """

    @property
    def shift_invariant(self) -> bool:
        return self.kernel.shift_invariant

    def _factor(self, tasks: Floats, others: Floats) -> Floats:
        return np.asarray(tasks[:, None] == others, dtype=tasks.dtype)

    def _own_variance(self, tasks: Floats) -> Floats:
        return np.ones(len(tasks), dtype=tasks.dtype)


def _nested(kernel: Kernel) -> bool:
    return any(isinstance(part, ByTask | On) for part in parts_of(kernel))


def _found(column: str, names: Sequence[str], kernel: str) -> int:
    groups = (
        f"{kernel} has its tasks in groups: give fit(X, y, groups=labels) the task of each row, or say which "
        "column of X has them"
    )
    return found_column(column, names, kernel, groups if column == GROUPS else "")
