"""A kernel of categories: what counts is in which columns two rows differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import INVERSE_SQUARE, LOG, Transform
from .algebra import Block, Kernel
from .geometry import check_columns

__all__ = ["Categorical"]

_NOTHING = 200.0  # a distance whose exponential is nothing, in sums of which no other gets lost


@dataclass(frozen=True, eq=False, repr=False)
class Categorical(Kernel):
    r"""Categories without an order: the columns in which two rows differ, each with its relevance (Hamming distance).

    .. math:: k(x, z) = v \exp\Bigl(-\sum_j r_j \, 1[x_j \ne z_j]\Bigr)

    A column has the numbers of its categories, any numbers. A category that no training row has differs from all of
    them. It is an RBF kernel of columns of zeros and ones, one for each category, with :math:`\ell^2 = 1 / r`.

    Parameters
    ----------
    relevance : float or array of shape (n_features,)
        r, one for all columns or one for each. It is learned as a length scale is: as a common unit of distances first.
    variance : float
        v.
    """

    amplitude = "variance"
    relevance: float | Floats = 1.0
    variance: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {"relevance": INVERSE_SQUARE, "variance": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"relevance": Role.SCALE, "variance": Role.VARIANCE}

    def _levels(self, Z: Inputs) -> "_Levels":
        check_columns(Z, self.relevance, "relevance")
        return _Levels.of(Z)

    def _weights(self, levels: "_Levels") -> Floats:
        weight = np.minimum(np.broadcast_to(self.relevance, (levels.p,)), _NOTHING)
        return levels.differ * weight.astype(levels.differ.dtype)[levels.column][:, None]

    def on(self, Z: Inputs) -> Block:
        levels = self._levels(Z)
        weights = self._weights(levels)

        def block(X: Inputs) -> Floats:
            K: Floats = levels.rows(X) @ weights
            np.negative(K, out=K)
            np.exp(K, out=K)
            K *= self.variance
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        return np.full(X.shape[0], self.variance, dtype=np.result_type(X.dtype, np.float32))

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        if Z is None:
            return self._square_vjp(X, G)
        levels = self._levels(self.in_double(Z))
        rows = levels.rows(self.in_double(X))
        profile = np.exp(-(rows @ self._weights(levels)))
        W = profile * G
        there = np.einsum("lk,lk->l", rows.T @ W, levels.differ)
        by_column = np.bincount(levels.column, weights=there, minlength=levels.p)
        by_relevance = -self.variance * (by_column if np.ndim(self.relevance) else by_column.sum())
        return self._gradient({"relevance": by_relevance, "variance": float(W.sum())})

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        nothing = np.zeros(np.shape(self.relevance))
        return self._gradient({"relevance": nothing, "variance": np.sum(w, dtype=np.float64)})

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        """Zero: categories do not move."""
        return np.zeros(X.shape), np.zeros(Z.shape)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return np.zeros(X.shape)


class _Levels(NamedTuple):
    """The categories that occur in some rows Z, and one more for each column that stands for all others.

    Parameters
    ----------
    values : list of arrays
        Of each column, in ascending order.
    differ : array of shape (levels, rows of Z)
        One where the row is not in the category, else zero.
    column : array of int, shape (levels,)
        To which each belongs.
    """

    values: list[Floats]
    differ: Floats
    column: Rows

    @property
    def p(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, Z: Inputs) -> Self:
        """Return those of some rows."""
        Z = _dense(Z)
        values = [np.unique(Z[:, j]) for j in range(Z.shape[1])]
        differ = [np.vstack([v[:, None] != Z[:, j], np.ones((1, len(Z)), bool)]) for j, v in enumerate(values)]
        column = np.repeat(np.arange(Z.shape[1]), [len(v) + 1 for v in values])
        return cls(values, np.concatenate(differ).astype(Z.dtype), column)

    def rows(self, X: Inputs) -> Any:
        """The matrix that adds up what belongs to the categories of each row, one for each column."""
        X, (n, p) = _dense(X), X.shape
        at, start = np.empty((n, p), dtype=np.intp), 0
        for j, values in enumerate(self.values):
            code = np.minimum(np.searchsorted(values, X[:, j]), max(len(values) - 1, 0))
            known = values[code] == X[:, j] if len(values) else np.zeros(n, dtype=bool)
            at[:, j] = start + np.where(known, code, len(values))
            start += len(values) + 1
        parts = np.ones(n * p, dtype=X.dtype), at.ravel(), np.arange(0, n * p + 1, p)
        return sparse.csr_array(parts, shape=(n, start))


def _dense(X: Inputs) -> Floats:
    if sparse.issparse(X):
        raise ParameterError("Categorical takes dense inputs only: X.toarray()")
    return np.asarray(X)
