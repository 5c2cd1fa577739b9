"""Moments of a likelihood times a Gaussian, for any likelihood, by quadrature.

Gauss-Hermite nodes placed on the Gaussian miss a likelihood that is much narrower than it. Here they
are centred on the mode of the *tilted* density p(y | f) N(f | mean, var) and scaled to its width. Two
orders are compared; rows on which they disagree (a step-like likelihood under a wide Gaussian, say) are
done again with Gauss-Legendre panels on either side of the mode.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Rows

__all__ = ["TiltedMoments", "gauss_hermite", "gauss_legendre", "tilted_log_prob", "tilted_moments"]

LogProb: TypeAlias = Callable[[Floats, Floats], Floats]
LogDensity: TypeAlias = Callable[[Floats], Floats]

_ORDERS = (24, 40)  # the two Gauss-Hermite orders that must agree
_AGREEMENT = 1e-9  # relative to the standard deviation of the Gaussian
_PANEL = 48  # Gauss-Legendre nodes on a panel
_DROPS = (1.0, 40.0)  # panels end where the density is e^-1 and e^-40 of the peak
_NO_VARIANCE, _LEAST = 1e-100, 1e-12  # variance that is none, and what stands for it: derivatives need some
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


class TiltedMoments(NamedTuple):
    """Log normaliser of p(y | f) N(f | mean, var) and its derivatives in the mean."""

    log_z: Floats
    g: Floats
    nu: Floats


@lru_cache
def gauss_hermite(order: int) -> tuple[Floats, Floats]:
    r"""Nodes and log weights with :math:`\int e^{\psi(x)} dx \approx \sum_k e^{\psi(x_k) + w_k}`.

    The rule is exact when :math:`e^{\psi}` is N(0, 1) times a polynomial of degree below 2 ``order``.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    return nodes, np.log(weights) + 0.5 * nodes**2


@lru_cache
def gauss_legendre(order: int) -> tuple[Floats, Floats]:
    """Nodes and log weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return 0.5 * (nodes + 1.0), np.log(0.5 * weights)


def tilted_moments(
    log_prob: LogProb, y: Floats, mean: Floats, var: Floats, take: Callable[[Rows], LogProb] | None = None
) -> TiltedMoments:
    r"""Log normaliser, g and nu of the tilted density, row by row.

    .. math:: Z = \int p(y \mid f) \, N(f \mid \mu, \sigma^2) \, df, \qquad
              g = \frac{d \log Z}{d \mu} = \frac{E[f] - \mu}{\sigma^2}, \qquad
              \nu = -\frac{d^2 \log Z}{d \mu^2} = \frac{1 - V[f] / \sigma^2}{\sigma^2}

    with the moments of :math:`p(y \mid f) N(f \mid \mu, \sigma^2) / Z` (SLH appendix B).
    ``log_prob(y, f)`` gets ``y`` of shape (n, 1) and ``f`` of shape (n, nodes). Where it differs from row to row,
    ``take(rows)`` returns the function for some of them.
    """
    y, mean, sd = _standard(y, mean, var)
    psi = _standardised(log_prob, y, mean, sd)
    mode = _mode(psi, len(y))
    width = np.sqrt(_reach(psi, mode, 0.5, 1.0) * _reach(psi, mode, 0.5, -1.0))
    coarse, fine = (_hermite(psi, mode, width, order) for order in _ORDERS)
    hard = np.flatnonzero(~_agree(coarse, fine))
    if hard.size:
        some = _standardised(take(hard) if take else log_prob, y[hard], mean[hard], sd[hard])
        redone = _moments(*_panels(some, mode[hard]))
        for all_rows, new in zip(fine, redone, strict=True):
            all_rows[hard] = new
    log_z, first, spread = fine
    return TiltedMoments(log_z - 0.5 * np.log(2 * np.pi), first / sd, (1.0 - spread) / sd**2)


def tilted_log_prob(log_prob: LogProb, y: Floats, mean: Floats, var: Floats) -> tuple[Floats, Floats]:
    r"""Log normaliser of the tilted density, and the mean of log p(y | f) under it, row by row.

    .. math:: \log Z, \qquad \frac1Z \int \log p(y \mid f) \, p(y \mid f) \, N(f \mid \mu, \sigma^2) \, df
    """
    y, mean, sd = _standard(y, mean, var)
    psi = _standardised(log_prob, y, mean, sd)
    terms, x = _panels(psi, _mode(psi, len(y)))
    log_z = _moments(terms, x)[0]
    weights, value = np.exp(terms - np.where(np.isneginf(log_z), 0.0, log_z)[:, None]), psi(x) + 0.5 * x * x
    told = np.where(weights > 0.0, weights * np.where(np.isneginf(value), 0.0, value), 0.0).sum(axis=1)
    return log_z - 0.5 * np.log(2 * np.pi), told


def _standard(y: Floats, mean: Floats, var: Floats) -> tuple[Floats, Floats, Floats]:
    """Targets, means and standard deviations of all rows, none of the last too small."""
    y, mean, var = np.broadcast_arrays(np.asarray(y), *np.asarray([mean, var], dtype=np.float64))
    var = np.where(var > _NO_VARIANCE, var, _LEAST)
    y, mean, sd = (np.atleast_1d(v) for v in (y, mean, np.sqrt(var)))
    return y, mean, sd


def _standardised(log_prob: LogProb, y: Floats, mean: Floats, sd: Floats) -> LogDensity:
    """Log of the tilted density in x = (f - mean) / sd."""
    y_, mean_, sd_ = y[:, None], mean[:, None], sd[:, None]

    def psi(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            value = log_prob(y_, mean_ + sd_ * x) - 0.5 * x * x
        return np.where(np.isnan(value), -np.inf, value)

    return psi


def _agree(coarse: tuple[Floats, ...], fine: tuple[Floats, ...]) -> Floats:
    close = np.ones(len(fine[0]), dtype=bool)
    for a, b in zip(coarse, fine, strict=True):
        with np.errstate(invalid="ignore"):
            close &= np.abs(a - b) <= _AGREEMENT * np.maximum(1.0, np.abs(b))
    return close


def _mode(psi: LogDensity, n: int) -> Floats:
    """Mode by doubling steps uphill, then golden section: derivative free, all rows at once."""

    def at(x: Floats) -> Floats:
        return psi(x[:, None])[:, 0]

    middle = _possible(at, n)
    step = 1e-3 * np.maximum(1.0, np.abs(middle))
    step = np.where(at(middle + step) > at(middle - step), step, -step)
    behind, ahead = middle - step, middle + step
    top, climbing = at(middle), np.ones(n, dtype=bool)
    for _ in range(80):
        value = at(ahead)
        climbing &= value > top
        if not climbing.any():
            break
        behind, middle = np.where(climbing, middle, behind), np.where(climbing, ahead, middle)
        ahead = np.where(climbing, middle + 2.0 * (middle - behind), ahead)
        top = np.where(climbing, value, top)
    left, right = np.minimum(behind, ahead), np.maximum(behind, ahead)
    for _ in range(45):
        span = _GOLDEN * (right - left)
        low, high = right - span, left + span
        ours, theirs = at(low), at(high)
        rising = np.where(ours == theirs, middle > 0.5 * (left + right), theirs > ours)  # both may be impossible
        left, right = np.where(rising, low, left), np.where(rising, right, high)
    return 0.5 * (left + right)


def _possible(at: LogDensity, n: int) -> Floats:
    """Zero, or where the density is nothing there in double precision the nearest place by doubling where it is not."""
    place = np.zeros(n)
    lost = np.isneginf(at(place))
    for k in range(80 if lost.any() else 0):
        for side in (-1e-3, 1e-3):
            trial = np.where(lost, side * 2.0**k, place)
            found = lost & ~np.isneginf(at(trial))
            place, lost = np.where(found, trial, place), lost & ~found
        if not lost.any():
            break
    return place


def _reach(psi: LogDensity, mode: Floats, drop: float, side: float) -> Floats:
    """Distance from the mode at which the log density has fallen by ``drop``."""
    floor = psi(mode[:, None])[:, 0] - drop
    beyond = np.full(len(mode), np.sqrt(2.0 * drop))
    for _ in range(60):
        short = psi((mode + side * beyond)[:, None])[:, 0] > floor
        if not short.any():
            break
        beyond = np.where(short, 2.0 * beyond, beyond)
    low, high = np.log(beyond) - 30.0, np.log(beyond)
    for _ in range(14):
        middle = 0.5 * (low + high)
        inside = psi((mode + side * np.exp(middle))[:, None])[:, 0] > floor
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.exp(high)


def _hermite(psi: LogDensity, mode: Floats, width: Floats, order: int) -> tuple[Floats, ...]:
    nodes, log_weights = gauss_hermite(order)
    x = mode[:, None] + width[:, None] * nodes
    return _moments(psi(x) + log_weights + np.log(width)[:, None], x)


def _panels(psi: LogDensity, mode: Floats) -> tuple[Floats, Floats]:
    """Logs of the terms on four panels, and where they are."""
    nodes, log_weights = gauss_legendre(_PANEL)
    places, log_w = [], []
    for side in (-1.0, 1.0):
        near, far = (side * _reach(psi, mode, drop, side)[:, None] for drop in _DROPS)
        for start, length in ((0.0, near), (near, far - near)):
            places.append(mode[:, None] + start + length * nodes)
            log_w.append(log_weights + np.log(np.abs(length)))
    x = np.hstack(places)
    return psi(x) + np.hstack(log_w), x


def _moments(log_terms: Floats, x: Floats) -> tuple[Floats, ...]:
    """Log of the sum of the terms, mean and variance of x under them; those of N(0, 1) where all terms are nothing."""
    top = log_terms.max(axis=1, keepdims=True)
    nothing = ~np.isfinite(top[:, 0])
    if nothing.any():
        log_z, first, spread = _moments(np.where(nothing[:, None], 0.0, log_terms), x)
        return np.where(nothing, -np.inf, log_z), np.where(nothing, 0.0, first), np.where(nothing, 1.0, spread)
    weights = np.exp(log_terms - top)
    total = weights.sum(axis=1, keepdims=True)
    weights /= total
    first = (weights * x).sum(axis=1)
    spread = (weights * (x - first[:, None]) ** 2).sum(axis=1)
    return (top + np.log(total))[:, 0], first, spread
