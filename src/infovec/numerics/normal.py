"""The standard normal distribution, accurate in both tails.

All functions take and return float64 arrays and broadcast. None of them divides zero by zero or warns.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from .._types import Floats

__all__ = [
    "Truncated", "beyond", "hazard", "hazard_excess", "log_half_transform", "log_interval", "log_ndtr", "truncated",
]  # fmt: skip

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_SQRT_HALF = np.sqrt(0.5)
_SQRT_2_OVER_PI = np.sqrt(2 / np.pi)
_FRACTIONS = 18  # of Laplace's continued fraction: to 1e-17 at 8, closer beyond
_NARROW = 0.05  # interval whose probability is not a difference
_LEGENDRE = np.polynomial.legendre.leggauss(32)


def _phi(x: Floats) -> Floats:
    """Density of N(0, 1); zero beyond 40, where it is not representable."""
    x = np.clip(x, -40.0, 40.0)
    density: Floats = np.exp(-0.5 * x * x - _LOG_SQRT_2PI)
    return density


def hazard(x: Floats) -> Floats:
    r"""Derivative of log Phi.

    .. math:: h(x) = \phi(x) / \Phi(x)
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(divide="ignore"):
        h = _SQRT_2_OVER_PI / erfcx(-_SQRT_HALF * np.minimum(x, 37.0))
    far = x > 37.0  # Phi is one, and erfcx overflows
    return np.where(far, _phi(x), h) if far.any() else h


def hazard_excess(x: Floats, h: Floats | None = None) -> Floats:
    r"""``hazard(x) + x``, positive everywhere, without cancellation in the left tail.

    ``hazard(x) * hazard_excess(x)`` is minus the second derivative of log Phi. Below -8 it is the
    continued fraction of Laplace for Mills' ratio,

    .. math:: h(-t) - t = \cfrac{1}{t + \cfrac{2}{t + \cfrac{3}{t + \dots}}}

    ``h`` is the hazard at x, where it is known already.
    """
    x = np.asarray(x, dtype=np.float64)
    deep = x < -8.0
    if not deep.any():
        return (hazard(x) if h is None else h) + x
    t = -x[deep]
    tail = t
    for k in range(_FRACTIONS, 1, -1):
        tail = t + k / tail
    near = np.maximum(x, -8.0)
    excess = np.array((hazard(near) if h is None else h) + near)
    excess[deep] = 1.0 / tail
    return excess


def log_half_transform(rate: Floats | float, mean: Floats, var: Floats) -> Floats:
    r"""Log Laplace transform of the positive half of a Gaussian.

    .. math:: \log \int_0^\infty e^{-r f} N(f \mid \mu, \sigma^2) \, df
              = -r \mu + r^2 \sigma^2 / 2 + \log \Phi\bigl((\mu - r \sigma^2) / \sigma\bigr)

    In the left tail of Phi the first terms cancel against the last; there the same number is
    computed through the scaled complementary error function.
    """
    sd = np.sqrt(var)
    z = mean / sd - rate * sd
    left, right = np.minimum(z, 0.0), np.maximum(z, 0.0)
    in_left = -0.5 * (mean / sd) ** 2 + np.log(0.5 * erfcx(-_SQRT_HALF * left))
    in_right = rate * (0.5 * rate * var - mean) + log_ndtr(right)
    return np.where(z < 0, in_left, in_right)


def log_interval(lower: Floats, upper: Floats) -> Floats:
    r"""Log probability of an interval, to about 1e-11.

    .. math:: \log\bigl(\Phi(u) - \Phi(l)\bigr) = \log \Phi(u) + \log\bigl(1 - e^{\log \Phi(l) - \log \Phi(u)}\bigr)

    in the left half, into which intervals are reflected. Narrow ones, where the difference cancels, are ``truncated``.
    """
    lower, upper = np.broadcast_arrays(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):  # the whole line has neither end
        flip = lower + upper > 0.0
        a, b = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
        top = log_ndtr(b)
        value = np.asarray(top + np.log1p(-np.exp(log_ndtr(a) - top)))
        narrow = upper - lower < _NARROW
    if narrow.any():
        value[narrow] = truncated(lower[narrow], upper[narrow]).log_z
    return value


class Truncated(NamedTuple):
    """N(0, 1) cut to an interval: log probability of the interval, mean, one minus variance."""

    log_z: Floats
    mean: Floats
    shrinkage: Floats


def truncated(lower: Floats, upper: Floats) -> Truncated:
    r"""Moments of N(0, 1) restricted to ``lower < x < upper`` (either may be infinite).

    .. math:: \log Z = \log\bigl(\Phi(u) - \Phi(l)\bigr), \qquad
              E[x] = \frac{\phi(l) - \phi(u)}{Z}, \qquad
              1 - V[x] = E[x]^2 + \frac{u \phi(u) - l \phi(l)}{Z}

    Intervals are first reflected into the left half. Wide ones near the centre use these formulas;
    narrow ones and tails, where the differences cancel, use Gauss-Legendre quadrature in the
    distance from the upper end.
    """
    lower, upper = np.broadcast_arrays(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))
    whole = np.isneginf(lower) & np.isposinf(upper)
    flip = ~whole & (np.where(whole, 0.0, lower) + np.where(whole, 0.0, upper) > 0)
    a, b = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
    width = np.where(whole, np.inf, b - np.where(whole, 0.0, a))
    direct = (b > -5.0) & (width > 1.0)
    log_z, mean, shrinkage = (np.empty(a.shape) for _ in range(3))
    for mask, moments in ((direct, _by_differences), (~direct, _by_quadrature)):
        log_z[mask], mean[mask], shrinkage[mask] = moments(a[mask], b[mask], width[mask])
    return Truncated(log_z, np.where(flip, -mean, mean), shrinkage)


def beyond(lower: Floats) -> Truncated:
    r"""Moments of N(0, 1) restricted to ``x > lower``, by one hazard h at minus that end.

    .. math:: E[x] = h, \qquad 1 - V[x] = h (h - l)
    """
    h = hazard(-lower)
    return Truncated(log_ndtr(-lower), h, h * hazard_excess(-lower, h))


def _by_differences(a: Floats, b: Floats, width: Floats) -> Truncated:
    outside = ndtr(a) + ndtr(-b)
    inside = ndtr(b) - ndtr(a)
    with np.errstate(divide="ignore"):
        log_z = np.where(outside < 0.5, np.log1p(-outside), np.log(inside))
    mean = (_phi(a) - _phi(b)) / inside
    a, b = np.clip(a, -40.0, 40.0), np.clip(b, -40.0, 40.0)
    return Truncated(log_z, mean, mean**2 + (b * _phi(b) - a * _phi(a)) / inside)


def _by_quadrature(a: Floats, b: Floats, width: Floats) -> Truncated:
    nodes, weights = _LEGENDRE
    depth = np.maximum(-b, 0.0)
    reach = np.minimum(width, 80.0 / (depth + np.hypot(depth, np.sqrt(80.0))))
    s = 0.5 * reach[:, None] * (nodes + 1.0)
    density = 0.5 * reach[:, None] * weights * np.exp(b[:, None] * s - 0.5 * s * s)
    total = density.sum(axis=1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        density /= total[:, None]
        log_z = -0.5 * b * b - _LOG_SQRT_2PI + np.log(total)
    distance = (density * s).sum(axis=1)
    var = (density * (s - distance[:, None]) ** 2).sum(axis=1)
    return Truncated(log_z, b - distance, 1.0 - var)
