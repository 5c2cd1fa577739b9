"""The distribution of a target whose latent value is Gaussian: its cumulative probabilities and its quantiles."""

import numpy as np
from scipy.special import ndtr

from .._types import Floats
from .base import Likelihood
from .transformed import Transformed

__all__ = ["central", "centre", "cumulative", "median", "quantile"]

_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(48)
_WEIGHTS = _WEIGHTS / np.sqrt(np.pi)
_DOUBLINGS, _HALVINGS = 60, 60


def cumulative(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats) -> Floats:
    r"""Probability of a target up to y, half that of y itself left out where targets are counts.

    .. math:: \int P(Y \le y \mid f) \, N(f \mid \mu, \sigma^2) \, df
    """
    if isinstance(likelihood, Transformed):
        good = likelihood.transform.admits(y)
        z = likelihood.transform.of(np.where(good, y, 1.0))
        return np.where(good, cumulative(likelihood.likelihood, z, mean, var), 0.0)
    if likelihood.conjugate:
        middle, spread = likelihood.predict(mean, var)
        return np.asarray(ndtr((y - middle) / np.sqrt(spread)))
    f = mean[:, None] + np.sqrt(2.0 * var)[:, None] * _NODES
    return np.asarray(likelihood.cdf(np.asarray(y)[:, None], f) @ _WEIGHTS)


def centre(likelihood: Likelihood, mean: Floats, var: Floats) -> Floats:
    """Mean of targets, or their median where noise around a transform has tails too heavy for a mean."""
    if isinstance(likelihood, Transformed) and not likelihood.has_moment(1):
        return median(likelihood, mean)
    return likelihood.predict(mean, var)[0]


def median(likelihood: Transformed, mean: Floats) -> Floats:
    """Median of targets around a transform: noise is symmetric, so that it is that of the latent value, taken back."""
    return likelihood.transform.inverse(mean + likelihood.likelihood.bias)  # type: ignore[attr-defined]


def central(likelihood: Likelihood, mean: Floats, var: Floats) -> tuple[Floats, Floats]:
    r"""Mean and standard deviation of targets, or what stands for them where noise around a transform has none.

    .. math:: Q(1/2), \qquad \tfrac{1}{2} (Q(\Phi(1)) - Q(\Phi(-1)))

    the median, and half of the interval that would be a deviation to either side if targets were normal.
    """
    if isinstance(likelihood, Transformed) and not likelihood.has_moment(2):
        low, high = (quantile(likelihood, p, mean, var) for p in ndtr(np.array([-1.0, 1.0])))
        return centre(likelihood, mean, var), 0.5 * (high - low)
    middle, spread = likelihood.predict(mean, var)
    return middle, np.sqrt(spread)


def quantile(likelihood: Likelihood, p: Floats, mean: Floats, var: Floats) -> Floats:
    """Target up to which the cumulative probability is p, one for each row, by bisection."""
    if isinstance(likelihood, Transformed):
        return likelihood.transform.inverse(quantile(likelihood.likelihood, p, mean, var))
    middle, spread = (np.array(part, dtype=np.float64) for part in likelihood.predict(mean, var))
    width = np.sqrt(np.where(np.isfinite(spread), spread, 1.0)) + 1e-300
    low, high = middle - width, middle + width
    for _ in range(_DOUBLINGS):
        short, far = cumulative(likelihood, low, mean, var) > p, cumulative(likelihood, high, mean, var) < p
        if not (short.any() or far.any()):
            break
        low, high = np.where(short, low - width, low), np.where(far, high + width, high)
        width = 2.0 * width
    for _ in range(_HALVINGS):
        between = 0.5 * (low + high)
        below = cumulative(likelihood, between, mean, var) < p
        low, high = np.where(below, between, low), np.where(below, high, between)
    return high
