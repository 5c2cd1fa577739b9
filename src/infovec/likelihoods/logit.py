"""Two classes by the logistic function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from .._types import Floats
from ..numerics.normal import hazard, hazard_excess, log_half_transform
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .base import Tilted
from .lapse import Lapsing

__all__ = ["Logit"]


def _alternating_weights(order: int) -> Floats:
    """Weights w with sum_k (-1)^k a_k close to w @ a, error 5.8^-order (Cohen, Villegas, Zagier 2000)."""
    d = (3.0 + np.sqrt(8.0)) ** order
    d = 0.5 * (d + 1.0 / d)
    weights, b, c = np.empty(order), -1.0, -d
    for k in range(order):
        c = b - c
        weights[k] = c
        b *= (k + order) * (k - order) / ((k + 0.5) * (k + 1.0))
    return weights / d


_WIDE, _STEEP = 1e10, 1e-4  # variance, and mean for each of it, where the series cancels and a normal noise does
_REACH = 56.0  # of the argument, within which a likelihood with a lapse is more than a constant
_ORDER = 24
_K = np.arange(_ORDER)[:, None]
_W = _alternating_weights(_ORDER)


@dataclass(frozen=True, eq=False, repr=False)
class Logit(Lapsing):
    r"""Two classes, y = -1 or +1, by the logistic function.

    .. math:: p(y \mid f) = \epsilon + \frac{1 - 2 \epsilon}{1 + \exp(-\lambda y (f + b))}

    The normaliser is exact to rounding for any variance: on each half line the logistic function is an
    alternating series of exponentials, whose Gaussian integrals are known, and the series is accelerated.

    Parameters
    ----------
    bias, slope : float
        b and lambda.
    lapse : float
        epsilon, the probability that a label is wrong. Zero stays zero, any other is learned too.
    """

    bias: float = 0.0
    slope: float = 1.0

    _clean: ClassVar[Mapping[str, Transform]] = {"bias": IDENTITY, "slope": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"bias": Role.BIAS, "slope": Role.REDUNDANT, "lapse": Role.FREE}

    @property
    def labels(self) -> Floats:
        return np.array([-1.0, 1.0])

    def clean_log_prob(self, y: Floats, f: Floats) -> Floats:
        return -np.logaddexp(0.0, -self.slope * y * (f + self.bias))

    def clean_tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        log_z, g, nu = _logistic_gaussian(y * self.slope * (mean + self.bias), self.slope**2 * var)
        return Tilted(log_z, y * self.slope * g, self.slope**2 * nu)

    def clean_slopes(self, y: Floats, mean: Floats, var: Floats) -> dict[str, Any]:
        _, g, nu = self.clean_tilted(y, mean, var)
        by_var = 0.5 * (g**2 - nu)  # d log Z / d var
        by_slope = ((mean + self.bias) * g + 2.0 * var * by_var) / self.slope
        return {"bias": g, "slope": by_slope}

    def in_noise(self) -> tuple["Logit", float, float, float]:
        return Logit(lapse=self.lapse), self.slope, -self.bias, _REACH


def _logistic_gaussian(mean: Floats, var: Floats) -> Tilted:
    r"""Log E[s(f)] for the logistic function s and f = N(mean, var), with derivatives in the mean.

    .. math:: E[s] = \sum_{k \ge 0} (-1)^k (A_k + B_{k+1}), \quad
              A_k = \int_0^\infty e^{-k f} N(f) df, \quad B_k = \int_{-\infty}^0 e^{k f} N(f) df
    """
    mean, var = np.broadcast_arrays(*np.asarray([mean, np.maximum(var, 1e-20)], dtype=np.float64))
    wide = (var > _WIDE) & (np.abs(mean) < _STEEP * var)
    if wide.any():
        found = np.empty((3, *mean.shape))
        found[:, wide], found[:, ~wide] = _step_gaussian(mean[wide], var[wide]), _by_series(mean[~wide], var[~wide])
        return Tilted(*found)
    return _by_series(mean, var)


def _step_gaussian(mean: Floats, var: Floats) -> Tilted:
    r"""The same where the variance is so large that only the variance of logistic noise counts, :math:`\pi^2 / 3`.

    What it leaves out is of the order of :math:`1 / v^2` and :math:`(m / v)^4`.
    """
    sd = np.sqrt(var + np.pi**2 / 3.0)
    u = mean / sd
    h = hazard(u)
    return Tilted(log_ndtr(u), h / sd, h * hazard_excess(u, h) / sd**2)


def _by_series(mean: Floats, var: Floats) -> Tilted:
    above = log_half_transform(_K, mean, var)  # log A_k
    below = log_half_transform(_K + 1.0, -mean, var)  # log B_{k+1}
    top = np.maximum(above[0], below[0])
    with np.errstate(under="ignore"):
        a, b = np.exp(above - top), np.exp(below - top)
    k0, k1 = _K, _K + 1.0
    z = _W @ (a + b)
    g = _W @ (k1 * b - k0 * a) / z
    # The boundary terms of the derivatives at f = 0: alternating sums of k0 + k1, which is 0 by Abel.
    second = _W @ (k0**2 * a + k1**2 * b) / z
    return Tilted(top + np.log(z), g, np.maximum(g**2 - second, 0.0))
