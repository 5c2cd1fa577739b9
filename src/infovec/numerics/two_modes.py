"""Moments of a power of two opposite probits under a Gaussian: a product that may have two modes."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from .._types import Floats, Mask
from .normal import beyond
from .quadrature import TiltedMoments, gauss_hermite

__all__ = ["two_mode_moments"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _LOG_WEIGHTS = 0.5 * (_NODES + 1.0), np.log(0.5 * _WEIGHTS)
_REACH = 9.0  # standard deviations beyond which there is nothing, of the Gaussian and of the noise
_PANELS = 24  # across either
_FINEST = 16  # times as many where the power is large
_ROWS = 256  # at a time: their nodes stay in the cache
_DEEP, _NARROW = np.log(1e-9), 0.5  # least log p, and width of the Gaussian, to which fewer nodes will do
_ORDER = 64  # of these
_X, _LOG_X = np.polynomial.legendre.leggauss(128)
_LOG_X = np.log(_REACH * _LOG_X)

LogProb: TypeAlias = Callable[[Floats, Floats], Floats]


def two_mode_moments(
    log_prob: LogProb, y: Floats, mean: Floats, var: Floats, power: Floats, width: float
) -> TiltedMoments:
    r"""Log normaliser and its derivatives in the mean, by panels that are small on either scale.

    .. math:: \log \int p(y \mid z)^k \, N(z \mid m, s^2) \, dz

    Where p changes, between :math:`-w/2 - 9` and :math:`w/2 + 9`, no panel is longer than a standard deviation of the
    noise, or of its k-th power; and none within nine deviations of the mean is longer than one of the Gaussian. On each
    of them the product is as good as a polynomial.

    Parameters
    ----------
    log_prob : callable
        Of y and z, which broadcast; constant beyond the reach of the noise.
    y, mean, var, power : array of shape (n,)
    width : float
        w.
    """
    found, sd = np.empty((3, len(mean))), np.sqrt(np.maximum(var, 1e-24))
    shallow = _shallow(log_prob, y, power, width)
    finer = np.minimum(np.ceil(np.sqrt(np.maximum(power, 1.0))), _FINEST).astype(np.intp)
    ways: list[tuple[Mask, int, Callable[..., Floats]]] = [
        (shallow & (sd <= _NARROW), 1, _on_nodes),
        (shallow & (sd > _NARROW), 1, _cut_in_three),
    ]
    for times in np.unique(finer).tolist():
        ways.append((~shallow & (finer == times), times, partial(_panels, width=width, times=times)))
    for chosen, times, moments in ways:
        rows, step = np.flatnonzero(chosen), max(1, _ROWS // times)
        for start in range(0, len(rows), step):
            at = rows[start : start + step]
            found[:, at] = moments(log_prob, y[at], mean[at], sd[at], power[at])
    return TiltedMoments(*found)


def _shallow(log_prob: LogProb, y: Floats, power: Floats, width: float) -> Mask:
    """Whether p has one step, that is not high, and the power makes it no steeper."""
    if width or not len(y):
        return np.zeros(len(y), dtype=bool)
    lowest = np.minimum(log_prob(y, np.full(len(y), -_REACH)), log_prob(y, np.full(len(y), _REACH)))
    return np.asarray((power <= 1.0) & (lowest > _DEEP))


def _on_nodes(log_prob: LogProb, y: Floats, mean: Floats, sd: Floats, power: Floats) -> Floats:
    """Of a Gaussian that is not much wider than the step: nodes of its own."""
    x, log_weights = gauss_hermite(_ORDER)
    psi = power[:, None] * log_prob(y[:, None], mean[:, None] + sd[:, None] * x) - 0.5 * x**2 + log_weights
    return _moments(psi - 0.5 * np.log(2.0 * np.pi), x, sd)


def _cut_in_three(log_prob: LogProb, y: Floats, mean: Floats, sd: Floats, power: Floats) -> Floats:
    """Of a wide one: in the middle p is the same for all rows of a label, and on either side of it a constant."""
    labels, own = np.unique(y, return_inverse=True)
    at = np.concatenate([[-_REACH], _REACH * _X, [_REACH]])
    log_p = power[:, None] * log_prob(labels[:, None], at)[own]
    m, s = mean[:, None], sd[:, None]
    middle = (_REACH * _X - m) / s
    left, right = beyond((_REACH + mean) / sd), beyond((_REACH - mean) / sd)
    inside = log_p[:, 1:-1] - 0.5 * middle**2 + _LOG_X - np.log(s) - 0.5 * np.log(2.0 * np.pi)
    sides = [(log_p[:, k] + side.log_z)[:, None] for k, side in ((0, left), (-1, right))]
    x = np.hstack([-left.mean[:, None], middle, right.mean[:, None]])
    own_spread = np.zeros(x.shape)
    own_spread[:, 0], own_spread[:, -1] = 1.0 - left.shrinkage, 1.0 - right.shrinkage
    return _moments(np.hstack([sides[0], inside, sides[1]]), x, sd, own_spread)


def _moments(psi: Floats, x: Floats, sd: Floats, own_spread: Floats | float = 0.0) -> Floats:
    """Log of the sum of terms, and its derivatives in the mean from the mean and variance of x under them."""
    top = psi.max(axis=1, keepdims=True)
    share = np.exp(psi - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    first = (share * x).sum(axis=1)
    spread = (share * ((x - first[:, None]) ** 2 + own_spread)).sum(axis=1)
    return np.stack([(top + np.log(total))[:, 0], first / sd, (1.0 - spread) / sd**2])


def _panels(
    log_prob: LogProb, y: Floats, mean: Floats, sd: Floats, power: Floats, *, width: float, times: int
) -> Floats:
    end = 0.5 * width + _REACH
    noise = np.linspace(-end, end, _PANELS * times * max(1, round(end / 12.0)) + 1)
    ends = np.concatenate(
        [
            (noise - mean[:, None]) / sd[:, None],
            np.broadcast_to(np.linspace(-_REACH, _REACH, _PANELS + 1), (len(mean), _PANELS + 1)),
        ],
        axis=1,
    )
    ends = np.sort(np.clip(ends, -4.0 * _REACH, 4.0 * _REACH), axis=1)
    length = np.diff(ends, axis=1)
    x = (ends[:, :-1, None] + length[:, :, None] * _NODES).reshape(len(mean), -1)
    with np.errstate(divide="ignore"):
        log_weight = (np.log(length)[:, :, None] + _LOG_WEIGHTS).reshape(x.shape)
    psi = power[:, None] * log_prob(y[:, None], mean[:, None] + sd[:, None] * x) - 0.5 * x**2 + log_weight
    return _moments(psi - 0.5 * np.log(2.0 * np.pi), x, sd)
