"""A kernel of several tasks that are correlated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .tasks import ByTask

__all__ = ["Coregion"]

_SHARED, _OWN, _FURTHER = 0.5, 0.5, 0.25  # of the variance of a task where learning begins


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
        for any correlations of three tasks, 1 where all are alike.
    loadings : array of shape (n_tasks, rank), optional
        W, kept row after row in one line. Unless it is given ``fit`` begins with correlations of a half.
    kappa : array of shape (n_tasks,), optional
        Variance that a task has for itself.
    """

    rank: int = 2
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
        W = np.sqrt(np.append(_SHARED, np.full(self.rank - 1, _FURTHER / self.rank))) * np.cos(angle)
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
