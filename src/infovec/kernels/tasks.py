"""Kernels of several tasks: one column says which task a row belongs to, the others go into a kernel that all share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .algebra import Block, Kernel, _writable
from .stationary import RBF

__all__ = ["GROUPS", "ByTask", "Coregion", "Tasks", "resolved"]

GROUPS = "groups"
"""Name of the column that comes from ``fit(..., groups=)``."""
_SHARED, _OWN, _FURTHER = 0.5, 0.5, 0.25  # of the variance of a task where learning begins


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
    def _own_vjp(self, tasks: Floats, others: Floats, G: Floats) -> Floats:
        """Gradient of <G, factor> in the parameters of the factor."""

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

    def _diag_own_vjp(self, tasks: Floats, w: Floats) -> Floats:
        raise NotImplementedError  # of a factor without parameters

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
    r"""Rows of different tasks are independent given the parameters, which all tasks share (Lawrence and Platt's MT-IVM).

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

    def _own_vjp(self, tasks: Floats, others: Floats, G: Floats) -> Floats:
        return np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class Coregion(ByTask):
    r"""Tasks that have something in common, how much of which is learned (the linear model of coregionalisation).

    .. math:: k(x, z) = B_{t_x t_z} \, k_1(x', z'), \qquad B = W W^T + \mathrm{diag}(\kappa)

    with the task t of a row and x' its other columns. A task beyond those of B, which no training row has, is
    independent of all others and has their average variance: :math:`B_{tt} = \mathrm{tr}(B) / T`.

    Parameters
    ----------
    kernel : Kernel
        Of the columns beside that of the tasks, in their units; RBF by default. A factor may be in its variance or in
        B, which learning leaves near where they begin: look at their product, or at ``correlation``.
    column : int or str
        Where the tasks are, as for ``Tasks``; numbers must be 0, 1, 2 and so on.
    rank : int
        Columns of W: how many functions tasks have in common. Rank r has T (r + 1) parameters for T tasks; 2 is enough
        for any correlations of three tasks, and for most of a few.
    loadings : array of shape (n_tasks, rank), optional
        W, kept row after row in one line. Unless it is given ``fit`` begins with correlations of a half.
    kappa : array of shape (n_tasks,), optional
        Variance that a task has for itself.
    """

    rank: int = 1
    loadings: Floats | None = None
    kappa: Floats | None = None

    @property
    def transforms(self) -> Mapping[str, Transform]:
        return {} if self.loadings is None else {"loadings": IDENTITY, "kappa": LOG}

    roles: ClassVar[Mapping[str, Role]] = {"loadings": Role.FREE, "kappa": Role.FREE}

    def __post_init__(self) -> None:
        if not isinstance(self.rank, int | np.integer) or isinstance(self.rank, bool) or self.rank < 1:
            raise ParameterError(f"Coregion: rank must be a whole number from 1, got {self.rank!r}")
        if (self.loadings is None) != (self.kappa is None):
            raise ParameterError("Coregion: give both loadings and kappa, or neither for fit to begin with its own")
        if self.loadings is not None:
            given = np.atleast_1d(np.asarray(self.loadings))
            if given.ndim == 2 and given.shape[1] != self.rank:
                raise ParameterError(f"Coregion: loadings have shape {given.shape}, but rank is {self.rank}")
            object.__setattr__(self, "loadings", given.ravel())
            object.__setattr__(self, "kappa", np.atleast_1d(np.asarray(self.kappa)))
        super().__post_init__()
        if self.loadings is not None and len(self.loadings) != self.rank * self.n_tasks:
            raise ParameterError(
                f"Coregion: {self.n_tasks} tasks, as many as kappa has entries, need {self.rank * self.n_tasks} "
                f"loadings of rank {self.rank}, got {len(self.loadings)}"
            )

    @property
    def shift_invariant(self) -> bool:
        return False  # the numbers of tasks are places in B

    @property
    def n_tasks(self) -> int:
        """Tasks that B knows; zero as long as it does not."""
        return 0 if self.kappa is None else len(self.kappa)

    @property
    def _W(self) -> Floats:
        if self.loadings is None:
            raise ParameterError(
                "Coregion: it does not know its tasks yet; fit counts them, or give loadings and kappa"
            )
        return self.loadings.reshape(-1, self.rank)

    @property
    def covariance(self) -> Floats:
        """B, which times the kernel is the covariance within and between tasks."""
        W = self._W
        B: Floats = W @ W.T
        B[np.diag_indices(len(B))] += self.kappa
        return B

    @property
    def correlation(self) -> Floats:
        """Correlations between the functions of the tasks."""
        B = self.covariance
        root = np.sqrt(np.diagonal(B))
        return B / np.outer(root, root)

    def resolved(self, names: Sequence[str], X: Inputs) -> "ByTask":
        """Return the same with the number of its column, and a matrix B to begin with."""
        found = super().resolved(names, X)
        if self.loadings is not None:
            return found
        assert isinstance(found.column, int)
        if not isinstance(X, np.ndarray):
            raise ParameterError("Coregion: tasks are counted in dense arrays in memory only; give loadings and kappa")
        T = int(np.max(_codes(np.asarray(X[:, found.column])))) + 1
        angle = np.pi * np.outer(np.arange(T) + 0.5, np.arange(self.rank)) / T
        W = np.sqrt(np.append(_SHARED, np.full(self.rank - 1, _FURTHER)) / self.rank) * np.cos(angle)
        W[:, 0] = np.sqrt(_SHARED)
        return replace(found, loadings=W, kappa=np.full(T, _OWN))  # type: ignore[call-arg]

    def _at(self, *tasks: Floats) -> tuple[tuple[Rows, ...], Floats]:
        """Places of tasks in a matrix that has those B does not know at its end, and that matrix."""
        B, T = self.covariance, self.n_tasks
        codes = [_codes(t) for t in tasks]
        new = np.unique(np.concatenate(codes))
        new = new[new >= T]
        if not len(new):
            return tuple(codes), B
        whole = np.zeros((T + len(new), T + len(new)))
        whole[:T, :T] = B
        whole[np.arange(T, len(whole)), np.arange(T, len(whole))] = np.mean(np.diagonal(B))
        return tuple(np.where(code < T, code, T + np.searchsorted(new, code)) for code in codes), whole

    def _factor(self, tasks: Floats, others: Floats) -> Floats:
        (left, right), B = self._at(tasks, others)
        return B.astype(tasks.dtype)[:, right][left]

    def _own_variance(self, tasks: Floats) -> Floats:
        (left,), B = self._at(tasks)
        return np.diagonal(B).astype(tasks.dtype)[left]

    def _own_vjp(self, tasks: Floats, others: Floats, G: Floats) -> Floats:
        (left, right), B = self._at(tasks, others)
        S = len(B)
        return self._pull(_sums(left, S) @ G @ _sums(right, S).T)

    def _diag_own_vjp(self, tasks: Floats, w: Floats) -> Floats:
        (left,), B = self._at(tasks)
        return self._pull(np.diag(np.bincount(left, weights=w, minlength=len(B))))

    def _pull(self, by_B: Floats) -> Floats:
        """Gradient in W and kappa from that in B with the unknown tasks, whose variance is the average."""
        T = self.n_tasks
        H = np.array(by_B[:T, :T])
        H[np.diag_indices(T)] += np.trace(by_B[T:, T:]) / T
        by_W = (H + H.T) @ self._W
        return self._gradient({"loadings": by_W.ravel(), "kappa": np.diagonal(H).copy()})


def _sums(at: Rows, size: int) -> Any:
    """The matrix that adds up rows of each of so many tasks."""
    return sparse.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(size, len(at)))


def _codes(tasks: Floats) -> Rows:
    found = np.rint(tasks)
    if not np.array_equal(found, tasks) or np.any(found < 0):
        raise ParameterError(
            "Coregion: tasks must be numbered 0, 1, 2 and so on; for labels of any type leave column='groups', and "
            "give them to fit and predict as groups"
        )
    return found.astype(np.intp)


def _nested(kernel: Kernel) -> bool:
    return isinstance(kernel, ByTask) or any(_nested(p) for _, p in kernel._children() if isinstance(p, Kernel))


def _found(column: str, names: Sequence[str], kernel: str) -> int:
    if column in names:
        return list(names).index(column)
    if column == GROUPS:
        raise ParameterError(
            f"{kernel} has its tasks in groups: give fit(X, y, groups=labels) the task of each row, or say which "
            "column of X has them"
        )
    known = f"which are {', '.join(map(str, names[:8]))}" if len(names) else "of which X has none"
    raise ParameterError(f"{kernel}: column {column!r} is none of the names of columns, {known}; or give its number")


def resolved(kernel: Kernel, names: Sequence[str], X: Inputs) -> Kernel:
    """Return a kernel whose tasks are in columns with a number, from one that may call them by name.

    Parameters
    ----------
    kernel : Kernel
    names : sequence of str
        Of the columns of X; empty if they have none.
    X : array of shape (n, p)
    """
    if isinstance(kernel, ByTask):
        return kernel.resolved(names, X)
    parts = {name: part for name, part in kernel._children() if isinstance(part, Kernel)}
    found = {name: resolved(part, names, X) for name, part in parts.items()}
    return kernel if all(found[name] is parts[name] for name in parts) else replace(kernel, **found)
