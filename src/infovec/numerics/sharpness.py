"""How sharply rows are known, and how well told apart, once some are included: what rounding is to be compared with."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .._types import Floats
from .quadrature import TiltedMoments

__all__ = ["RowsLeft", "rows_left"]


class RowsLeft(NamedTuple):
    """Rows that are not included."""

    sharpness: Floats  # k(x, x) nu
    reduction: Floats  # of the entropy, if the row were included: -1/2 log(1 - a nu)


def rows_left(
    covariance: Callable[[int], Floats],
    prior_var: Floats,
    tilted: Callable[[Floats, Floats], TiltedMoments],
    steps: int,
) -> Iterator[RowsLeft]:
    r"""Include rows greedily (NIPS03 algorithm 1) and yield how the others stand, after every inclusion.

    .. math:: h \leftarrow h + g_i A_{\cdot i}, \qquad A \leftarrow A - \nu_i A_{\cdot i} A_{\cdot i}^T, \qquad
              i = \arg\max_j a_j \nu_j, \qquad s_j = k(x_j, x_j) \, \nu_j

    Rounding to a precision eps moves a variance a by about eps k(x, x), and so the reduction -1/2 log(1 - a nu) by
    about eps s. With Gaussian noise s is the prior variance over the predictive variance of the target.

    Parameters
    ----------
    covariance : function of i
        Prior covariance of row i with all rows.
    prior_var : array of shape (n,)
        Prior variances.
    tilted : function of mean and var
        Moments of all rows.
    steps : int
        How many rows to include; fewer, if there are no more or none is informative.
    """
    n = len(prior_var)
    mean, var, taken = np.zeros(n), np.array(prior_var, dtype=np.float64), np.zeros(n, dtype=bool)
    M = np.empty((min(steps, n - 1), n))
    _, g, nu = tilted(mean, var)
    for t in range(len(M)):
        explained = np.where(taken, -np.inf, var * nu)
        i = int(np.argmax(explained))
        if not explained[i] > 0.0:
            break
        A = covariance(i) - M[:t, i] @ M[:t]
        M[t] = np.sqrt(nu[i]) * A
        mean, var = mean + g[i] * A, np.maximum(var - M[t] ** 2, 0.0)
        taken[i] = True
        _, g, nu = tilted(mean, var)
        reduction = -0.5 * np.log1p(-np.minimum(var * nu, 1.0 - 1e-15))
        yield RowsLeft((prior_var * nu)[~taken], reduction[~taken])
