"""How far the numbers of a column usually reach, whatever a few of them do."""

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs

__all__ = ["usual_reach"]

_SHARE = 0.95  # of the numbers that differ from the centre: outliers may be one in twenty of them
_BEYOND = 20.0  # times as far as those reach, numbers are outliers: forty deviations of a Gaussian
_NUMBERS, _FEWEST = 1 << 21, 1000  # numbers that are looked at, and rows at least


def usual_reach(X: Inputs, weight: Floats | None = None) -> tuple[Floats, Floats]:
    r"""Centre of every column, and the distance from it beyond which numbers are outliers.

    .. math:: c = \mathrm{median}(x), \qquad r = 20 \, Q_{0.95}\bigl(|x - c| : x \neq c\bigr)

    Numbers at the centre do not count for the quantile, so that a column that is seldom used reaches as far as it does
    when it is. The centre of a column of a sparse matrix is zero. Of many rows some are looked at, evenly spaced.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
    weight : array of shape (n,), optional
        How often each row counts.
    """
    n, p = X.shape
    step = max(1, n // max(_NUMBERS // max(p, 1), _FEWEST))
    X, count = X[::step], np.ones(len(range(0, n, step))) if weight is None else weight[::step]
    if sparse.issparse(X):
        return np.zeros(p), _BEYOND * _reach_of_entries(X.tocsc(), count)
    centre, reach = np.empty((2, p))
    for j in range(p):  # one column at a time: copies of all would be twice as large as what is looked at
        x = np.array(X[:, j], dtype=np.float64)
        centre[j] = _quantile(x, count, 0.5 * count.sum())
        reach[j] = _reach(np.abs(x - centre[j]), count)
    return centre, _BEYOND * reach


def _reach_of_entries(X: sparse.csc_matrix, count: Floats) -> Floats:
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return np.array([_reach(np.abs(X.data[a:b], dtype=np.float64), count[X.indices[a:b]]) for a, b in ends])


def _reach(distance: Floats, count: Floats) -> float:
    there = distance > 0.0
    most = np.floor(_SHARE * count[there].sum() * (1.0 + 1e-12))
    return _quantile(distance[there], count[there], most) if there.any() else 0.0


def _quantile(x: Floats, count: Floats, below: float) -> float:
    """Smallest number with so many counts up to it."""
    order = np.argsort(x)
    return float(x[order[min(int(np.searchsorted(np.cumsum(count[order]), below)), len(x) - 1)]])
