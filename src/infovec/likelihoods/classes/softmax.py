r"""The softmax likelihood: Gumbel noise in the race of the classes.

The largest of :math:`f_c + \epsilon_c` with independent Gumbel noise is class y with probability softmax(f)_y, exactly.
So softmax needs the same one-dimensional integral as the probit, for any number of classes, once the distribution of a
Gaussian plus a Gumbel variable is known. It is a function of two numbers; four logarithms of it are nearly linear and
are interpolated from a table, which is made when it is first needed. The error of log Z, and of g and nu in units of
the standard deviation, is below 1e-6, but for nu of a class whose variance is some ten thousand times that of others.
"""

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import ClassVar

import numpy as np
from scipy.ndimage import map_coordinates, spline_filter
from scipy.special import log_ndtr, log_softmax, ndtr

from ..._types import Floats, Rows
from ...runtime import check
from .base import RaceLikelihood
from .winner import Noise, Shape

__all__ = ["Softmax"]

# The table is even in q, with sd = sinh(q), and s = cosh(q) sinh(u); its margins are not used.
_LEFT, _RIGHT, _ACROSS = -3.0, 3.35, 180
_WIDEST, _ALONG = 6.0, 180
_MARGIN = 12
_BY_GUMBEL = 2.0  # standard deviation above which the Gumbel variable is the one to integrate over
_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)


class _Gumbel(Noise):
    """Density exp(-x - exp(-x))."""

    agreement, widest_step = 1e-5, 0.5

    def below(self, t: Floats, var: Floats) -> Shape:
        log_minus, log_slope, log_ratio = _look_up(t, var)
        slope = np.exp(log_slope)
        return Shape(-np.exp(log_minus), slope, slope * np.exp(log_ratio))

    def log_both(self, t: Floats, var: Floats) -> tuple[Floats, Floats]:
        log_minus, log_slope, _ = _look_up(t, var)
        below = -np.exp(log_minus)
        return below, below + log_slope

    def density(self, t: Floats, var: Floats) -> Shape:
        log_minus, log_slope, log_ratio, log_curve = _look_up(t, var, 4)
        return Shape(log_slope - np.exp(log_minus), np.exp(log_slope) - np.exp(log_ratio), np.exp(log_curve))

    def spread(self, var: Floats) -> tuple[Floats, Floats, Floats]:
        sd = np.sqrt(var)
        return 1.6 + var, 5.0 + 8.0 * sd, 35.0 + 8.0 * sd


def _look_up(t: Floats, var: Floats, how_many: int = 3) -> list[Floats]:
    """The first three or all of four functions, where F and p are distribution and density of N(0, var) plus Gumbel.

    They are the logs of -log F, of its slope h = F'/F, of -h'/h, and of -(log p)''.
    """
    scale, q = np.sqrt(1.0 + var), np.arcsinh(np.sqrt(var))
    t, scale, q = np.broadcast_arrays(t, scale, q)
    u = np.arcsinh(t / scale)
    at = np.empty((2, *t.shape))
    np.multiply(np.clip(u, _LEFT, _RIGHT) - _LEFT, _ACROSS / (_RIGHT - _LEFT), out=at[0])
    np.multiply(np.minimum(q, _WIDEST), _ALONG / _WIDEST, out=at[1])
    at[0] += _MARGIN
    found = [map_coordinates(table, at, order=3, prefilter=False, mode="mirror") for table in _tables()[:how_many]]
    if np.any(q > _WIDEST):  # the Gumbel variable is as good as none: everything scales
        far = np.maximum(q - _WIDEST, 0.0)
        found = [table - power * far for table, power in zip(found, (0.0, 1.0, 1.0, 2.0), strict=False)]
    if np.any(u < _LEFT):  # the tail of the Gaussian: F falls like exp(-t^2 / (2 var))
        far = np.log(np.maximum(t / (scale * np.sinh(_LEFT)), 1.0))
        found = [table + power * far for table, power in zip(found, (2.0, 1.0, -1.0, 0.0), strict=False)]
    if np.any(u > _RIGHT):  # the tail of the Gumbel variable: 1 - F falls like exp(-t), or as it does at the edge
        far = np.maximum(t - scale * np.sinh(_RIGHT), 0.0) * np.exp(found[2])
        found[:2] = [found[0] - far, found[1] - far]
    return found


_columns: list[tuple[Floats, ...]] = []  # of the table, as far as it is made: work that is late goes on from here
_making = Lock()


@lru_cache
def _tables() -> tuple[Floats, ...]:
    """Coefficients of the cubic splines of all four functions; Late while they are made leaves what there is of them.

    It takes about a second, once in a process.
    """
    u = _LEFT + (_RIGHT - _LEFT) / _ACROSS * np.arange(-_MARGIN, _ACROSS + _MARGIN + 1)
    q = _WIDEST / _ALONG * np.arange(_ALONG + _MARGIN + 1)
    with _making:
        for v in q[len(_columns) :]:
            check()
            _columns.append(_column(np.cosh(v) * np.sinh(u), np.sinh(v)))
    each = zip(*_columns, strict=True)
    return tuple(spline_filter(np.stack(table, axis=1), order=3, mode="mirror") for table in each)


def _column(s: Floats, sd: float) -> tuple[Floats, ...]:
    r"""Tabulated functions at points s for one standard deviation.

    .. math:: F(s) = E\bigl[e^{-e^{\sigma x - s}}\bigr] = \int e^{-x - e^{-x}} \Phi\bigl((s - x) / \sigma\bigr) \, dx
    """
    if sd < _BY_GUMBEL:
        x = np.linspace(-30.0, 14.0, 221)
        log_weight = -0.5 * x * x - _LOG_SQRT_2PI + np.log(x[1] - x[0])
        reduced = s[:, None] - sd * x
        falling = np.exp(-reduced)
        log_below, log_density = log_weight - falling, log_weight - falling - reduced
        above, slope = np.exp(log_weight) * -np.expm1(-falling), falling - 1.0  # 1 - F; slope of the log density
        curve = falling
    else:
        x = np.linspace(-5.0, 110.0, 346)
        log_weight = -x - np.exp(-x) + np.log(x[1] - x[0])
        z = (s[:, None] - x) / sd
        log_below, log_density = log_weight + log_ndtr(z), log_weight - 0.5 * z * z - _LOG_SQRT_2PI - np.log(sd)
        above, slope = np.exp(log_weight) * ndtr(-z), -z / sd
        curve = np.full_like(z, sd**-2)
    log_F, log_p, above = _log_sum(log_below), _log_sum(log_density), above.sum(axis=1)
    log_slope = log_p - log_F
    weights = np.exp(log_density - log_p[:, None])
    p_slope = np.einsum("ij,ij->i", weights, slope)
    p_curve = np.einsum("ij,ij->i", weights, curve - (slope - p_slope[:, None]) ** 2)
    minus = np.where(above < 0.5, -np.log1p(-np.minimum(above, 0.5)), -log_F)
    ratio = np.exp(log_slope) - p_slope  # -h'/h = h - p'/p
    return np.log(minus), log_slope, np.log(ratio), np.log(np.maximum(p_curve, 1e-9 / (1.0 + sd**2)))


def _log_sum(log: Floats) -> Floats:
    """Log of the sum of exponentials along rows, the largest apart: what ``logsumexp`` of SciPy returns, but sooner."""
    top = log.max(axis=1, keepdims=True)
    largest = log == top
    number = largest.sum(axis=1, keepdims=True).astype(np.float64)
    rest = np.exp(np.where(largest, -np.inf, log) - top).sum(axis=1, keepdims=True)
    return np.asarray((np.log1p(rest / number) + np.log(number) + top)[:, 0])


@dataclass(frozen=True, eq=False, repr=False)
class Softmax(RaceLikelihood):
    r"""The multiple logistic likelihood.

    .. math:: P(y \mid f) = \frac{e^{f_y + p_y}}{\sum_j e^{f_j + p_j}}
    """

    noise: ClassVar[Noise] = _Gumbel()

    def log_prob_of_right(self, labels: Rows, f: Floats) -> Floats:
        return np.asarray(log_softmax(f + self.bias, axis=1)[np.arange(len(labels)), labels])
