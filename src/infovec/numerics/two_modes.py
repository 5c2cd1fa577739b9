"""Moments of a power of two opposite probits under a Gaussian: a product that may have two modes."""

from collections.abc import Callable

import numpy as np

from .._types import Floats
from .quadrature import TiltedMoments

__all__ = ["two_mode_moments"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _LOG_WEIGHTS = 0.5 * (_NODES + 1.0), np.log(0.5 * _WEIGHTS)
_REACH = 9.0  # standard deviations beyond which there is nothing, of the Gaussian and of the noise
_PANELS = 24  # across either
_FINEST = 16  # times as many where the power is large
_ROWS = 256  # at a time: their nodes stay in the cache


def two_mode_moments(
    log_prob: Callable[[Floats, Floats], Floats], y: Floats, mean: Floats, var: Floats, power: Floats, width: float
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
    found = np.empty((3, len(mean)))
    finer = np.minimum(np.ceil(np.sqrt(np.maximum(power, 1.0))), _FINEST).astype(np.intp)
    for times in np.unique(finer):
        rows = np.flatnonzero(finer == times)
        step = max(1, _ROWS // int(times))
        for start in range(0, len(rows), step):
            at = rows[start : start + step]
            sd = np.sqrt(np.maximum(var[at], 1e-24))
            found[:, at] = _panels(log_prob, y[at], mean[at], sd, power[at], width, int(times))
    return TiltedMoments(*found)


def _panels(
    log_prob: Callable[[Floats, Floats], Floats],
    y: Floats,
    mean: Floats,
    sd: Floats,
    power: Floats,
    width: float,
    times: int,
) -> TiltedMoments:
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
    top = psi.max(axis=1, keepdims=True)
    share = np.exp(psi - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    first = (share * x).sum(axis=1)
    spread = (share * (x - first[:, None]) ** 2).sum(axis=1)
    log_z = (top + np.log(total))[:, 0] - 0.5 * np.log(2.0 * np.pi)
    return TiltedMoments(log_z, first / sd, (1.0 - spread) / sd**2)
