"""Moments of powers of a likelihood under a Gaussian, where its slope is known: without a search for each row."""

from collections.abc import Callable

import numpy as np

from .._types import Floats, Mask
from .normal import beyond, hazard, hazard_excess, log_ndtr
from .power_table import LARGEST, SMALLEST, power_table
from .quadrature import TiltedMoments, gauss_hermite

__all__ = ["LARGEST_POWER", "bell_power_moments", "by_quadrature", "ndtr_power_moments"]

LARGEST_POWER = 50.0
"""Larger powers are too steep for the fixed nodes."""

_NARROW = 1.5  # standard deviation up to which Gauss-Hermite nodes on the mode see all there is
_SHARP = 0.3  # width of the product below which the nodes in the middle do not see it, and those on the mode do
_EDGE = 8.5  # Phi is 1 to the right of it, to rounding
_X, _W = np.polynomial.legendre.leggauss(96)
_MIDDLE, _LOG_MIDDLE, _LOG_PHI = _EDGE * _X, np.log(_EDGE * _W), log_ndtr(_EDGE * _X)
_FAR, _FAR_WEIGHT = np.polynomial.legendre.leggauss(32)
_FAR, _LOG_FAR = 0.5 * (_FAR + 1.0), np.log(0.5 * _FAR_WEIGHT)
_REACH = 8.5  # standard deviations beyond which there is nothing
_ORDER = 32
_POINT = 1e-8  # change of the logarithm within a deviation below which the Gaussian is a point
_AGREEMENT = 1e-7  # of half the order: the whole is far better
_OFTEN, _TABLES = 200, 16  # rows of the same power for which there is a table, and how many tables there are at most
_ROWS = 512  # at a time: their nodes stay in the cache


def ndtr_power_moments(mean: Floats, var: Floats, power: Floats) -> TiltedMoments:
    r"""Log normaliser and its derivatives in the mean.

    .. math:: \log \int \Phi(z)^w \, N(z \mid m, s^2) \, dz, \qquad 0 < w \le 50

    Those that many rows have are looked up in tables unless they are extreme.
    """
    mean, var, power = np.broadcast_arrays(mean, var, power)
    found, left = np.empty((3, len(mean))), np.ones(len(mean), dtype=bool)
    for w in _tabulated(power):
        table = power_table(float(w), by_quadrature)
        at = np.flatnonzero((power == w) & table.knows(mean, var))
        found[:, at], left[at] = table(mean[at], var[at]), False
    rest = np.flatnonzero(left)
    if rest.size:
        found[:, rest] = by_quadrature(mean[rest], var[rest], power[rest])
    return TiltedMoments(*found)


def _tabulated(power: Floats) -> Floats:
    """Return the powers that are looked up: those of many rows, since a table is as dear as some sweeps over them."""
    some, count = np.unique(power[(power >= SMALLEST) & (power <= LARGEST)], return_counts=True)
    frequent = np.argsort(-count, kind="stable")[:_TABLES]
    return some[frequent[count[frequent] >= _OFTEN]]


def by_quadrature(mean: Floats, var: Floats, power: Floats) -> TiltedMoments:
    r"""Return the same without tables.

    A narrow Gaussian gets Gauss-Hermite nodes on the mode of the product. A wide one is cut in three: on the right
    :math:`\Phi` is one and the integral known; in the middle :math:`\log \Phi` is tabulated at nodes that are the same
    for all rows; on the left the product is nearly a Gaussian of precision :math:`w + s^{-2}`, cut off.
    """
    sd = np.sqrt(np.maximum(var, 1e-300))
    mode, bend = _mode(mean, sd, power)
    found = np.empty((3, len(mean)))
    wide = (sd * np.sqrt(np.clip(power, 1.0, 4.0)) > _NARROW) & (sd > _SHARP * np.sqrt(bend))
    for rows, moments in ((np.flatnonzero(~wide), _narrow), (np.flatnonzero(wide), _wide)):
        for start in range(0, len(rows), _ROWS):
            at = rows[start : start + _ROWS]
            found[:, at] = moments(mean[at], sd[at], power[at], mode[at], bend[at])
    h = hazard(mean)
    return _or_at_a_point(TiltedMoments(log_ndtr(mean), h, h * hazard_excess(mean, h)), mean, sd, power, found)[0]


def bell_power_moments(
    curve: Callable[[Floats], TiltedMoments], mean: Floats, var: Floats, power: Floats
) -> tuple[TiltedMoments, Mask]:
    """Do the same for any log-concave likelihood, by Gauss-Hermite nodes on the mode; say where two orders agree.

    ``curve(f)`` returns log p(y | f) with its slope and minus its curvature in f, for f of shape (n,) or (n, nodes).
    """
    sd, x = np.sqrt(np.maximum(var, 1e-300)), np.zeros(len(mean))
    for _ in range(15):
        _, slope, bend = curve(mean + sd * x)
        bend = 1.0 + power * var * bend
        step = (power * sd * slope - x) / bend
        x = x + step
        if np.all(np.abs(step) * np.sqrt(bend) < 1e-2):
            break
    orders = []
    for order in (_ORDER // 2, _ORDER):
        nodes, log_weights = gauss_hermite(order)
        places = x[:, None] + nodes / np.sqrt(bend)[:, None]
        terms = power[:, None] * curve(mean[:, None] + sd[:, None] * places).log_z - 0.5 * places**2 + log_weights
        orders.append(_summed(terms - 0.5 * np.log(2.0 * np.pi * bend)[:, None], places))
    coarse, fine = orders
    agree = np.all(np.abs(fine - coarse) <= _AGREEMENT * np.maximum(1.0, np.abs(coarse)), axis=0)
    moments, point = _or_at_a_point(curve(mean), mean, sd, power, fine)
    return moments, agree | point


def _or_at_a_point(
    at: TiltedMoments, mean: Floats, sd: Floats, power: Floats, found: Floats
) -> tuple[TiltedMoments, Mask]:
    """Derivatives in the mean from the moments of (z - m) / s, or those at the mean where the Gaussian is a point."""
    log_z, first, spread = found
    change = np.maximum(power * np.abs(at.g), 1.0 + np.abs(mean))  # of the logarithm, and of the argument itself
    point = (sd * change < _POINT) & (power * sd**2 * np.abs(at.nu) < _POINT**2)
    g, nu = np.where(point, power * at.g, first / sd), np.where(point, power * at.nu, (1.0 - spread) / sd**2)
    return TiltedMoments(np.where(point, power * at.log_z, log_z), g, nu), point


def _mode(mean: Floats, sd: Floats, power: Floats) -> tuple[Floats, Floats]:
    """Mode of the product in x = (z - m) / s, and minus the second derivative of its logarithm there.

    Newton steps from the mean never pass the mode: the logarithm bends less and less on the way.
    """
    x = np.zeros(len(mean))
    for _ in range(30):
        z = mean + sd * x
        h = hazard(z)
        bend = 1.0 + power * sd**2 * h * hazard_excess(z, h)
        step = (power * sd * h - x) / bend
        x = x + step
        if np.all(np.abs(step) * np.sqrt(bend) < 1e-2):
            break
    return x, bend


def _narrow(mean: Floats, sd: Floats, power: Floats, mode: Floats, bend: Floats) -> Floats:
    nodes, log_weights = gauss_hermite(_ORDER)
    x = mode[:, None] + nodes / np.sqrt(bend)[:, None]
    terms = power[:, None] * log_ndtr(mean[:, None] + sd[:, None] * x) - 0.5 * x**2 + log_weights
    return _summed(terms - 0.5 * np.log(2.0 * np.pi * bend)[:, None], x)


def _wide(mean: Floats, sd: Floats, power: Floats, mode: Floats, bend: Floats) -> Floats:
    m, s, w = mean[:, None], sd[:, None], power[:, None]
    scale = -np.log(s) - 0.5 * np.log(2.0 * np.pi)
    middle = (_MIDDLE - m) / s
    right = beyond((_EDGE - mean) / sd)
    tau = 1.0 / np.sqrt(power + sd**-2)
    peak = mean * (tau / sd) ** 2  # of the left part, if it is there
    end = np.minimum(peak + _REACH * tau, -_EDGE)
    length = (end - (np.minimum(peak, -_EDGE) - _REACH * tau))[:, None]
    far = end[:, None] - length * _FAR
    left = (far - m) / s
    terms = [
        w * log_ndtr(far) - 0.5 * left**2 + scale + np.log(length) + _LOG_FAR,
        w * _LOG_PHI - 0.5 * middle**2 + scale + _LOG_MIDDLE,
        right.log_z[:, None],
    ]
    return _summed(np.hstack(terms), np.hstack([left, middle, right.mean[:, None]]), 1.0 - right.shrinkage)


def _summed(log_terms: Floats, x: Floats, last_spread: Floats | float = 0.0) -> Floats:
    """Log of the sum of the terms, mean and variance of x under them; the last term has a variance of its own."""
    top = log_terms.max(axis=1, keepdims=True)
    weights = np.exp(log_terms - top)
    total = weights.sum(axis=1)
    weights /= total[:, None]
    first = np.einsum("ij,ij->i", weights, x)
    spread = np.einsum("ij,ij->i", weights, (x - first[:, None]) ** 2) + weights[:, -1] * last_spread
    return np.stack([top[:, 0] + np.log(total), first, spread])
