"""What residuals are like: quantiles of a sample of scores, leaning on the normal distribution where it is small."""

import numpy as np
from scipy.special import ndtri

from .._types import Floats

__all__ = ["LEVELS", "normal_scores", "score_quantiles"]

LEVELS = np.linspace(0.0, 1.0, 201)[1:-1]
"""Probabilities whose quantiles are kept of a sample."""

_WORTH = 20.0  # observations that the normal distribution is worth
_SLOPE = 0.5  # least of the extrapolation: tails are not much shorter than those of the normal distribution


def score_quantiles(z: Floats, learned: int = 0, weight: Floats | None = None) -> Floats:
    r"""Quantiles of scores at ``LEVELS``, as far as there are enough of them to tell.

    .. math:: q(p) = \sqrt{\frac{n + k}{n - k}} \; \frac{n \, \hat q(p) + 20 \, \Phi^{-1}(p)}{n + 20}

    with :math:`\hat q(i / (n + 1))` the i-th smallest of n scores, and on a straight line in the normal score between
    them. The root is that of the final prediction error (Akaike 1969): new rows are predicted worse than rows that k
    parameters were learned from, even where these are left out with the parameters as they are.

    Parameters
    ----------
    z : array of shape (n,)
    learned : int
        k; of which at most half as many as there are scores count.
    weight : array of shape (n,), optional
        How often each score counts; n is the number of scores in any case.
    """
    n, normal = len(z), ndtri(LEVELS)
    if not n:
        return normal
    order, count = np.argsort(z, kind="stable"), np.ones(n) if weight is None else weight
    share = (np.cumsum(count[order]) - 0.5 * count[order]) / count.sum()
    found = _along(normal, ndtri((n * share + 0.5) / (n + 1.0)), z[order])
    k = min(learned, 0.5 * n)
    return np.sqrt((n + k) / (n - k)) * (n * found + _WORTH * normal) / (n + _WORTH)


def normal_scores(quantiles: Floats, p: Floats) -> Floats:
    """Scores at probabilities p, from the quantiles at ``LEVELS``."""
    return _along(ndtri(p), ndtri(LEVELS), quantiles)


def _along(t: Floats, at: Floats, value: Floats) -> Floats:
    """Interpolate between points; beyond them go on in the direction from the origin."""
    low, high = (max(v / a if a else 1.0, _SLOPE) for v, a in ((value[0], at[0]), (value[-1], at[-1])))
    inside = np.interp(t, at, value)
    return inside + low * np.minimum(t - at[0], 0.0) + high * np.maximum(t - at[-1], 0.0)
