"""Moments of a power of the cumulative Gaussian from a table: a power is asked for again and again."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.interpolate import RectBivariateSpline

from .._types import Floats, Mask
from .normal import hazard, hazard_excess, log_ndtr
from .quadrature import TiltedMoments

__all__ = ["LARGEST", "SMALLEST", "PowerTable", "Quadrature", "power_table"]

SMALLEST, LARGEST = 0.1, 5.0
"""Powers that are tabulated: those of others bend too much."""

_LEFT, _RIGHT = -8.0, 10.0  # ends of the table, in deviations; the right one of powers from one
_LEAST = -6.5  # from which on it is used: a spline is worst at its ends; to the right of them nothing is left of R
_STEPS, _SIZE = 12.2, 56  # in a deviation, and in a

Quadrature = Callable[[Floats, Floats, Floats], TiltedMoments]


class PowerTable(NamedTuple):
    r"""Log normaliser of one power as a smooth surface, its derivatives those of the surface.

    .. math:: \log \int \Phi(z)^w \, N(z \mid m, s^2) \, dz = \log \Phi(c t) + R(t, a), \quad
              t = \frac{m}{\sqrt{1 + s^2}}, \quad a = \frac{1}{\sqrt{1 + \max(w, 1) s^2}}, \quad
              c^2 = \frac{1 + s^2}{s^2 + 1 / w}

    For w = 1 nothing is left for R, and far to the left it is what is missing of a tail: it is smooth, and a spline of
    the fifth degree is exact to 1e-6.
    """

    power: float
    surface: RectBivariateSpline

    def knows(self, mean: Floats, var: Floats) -> Mask:
        """Whether a mean and a variance are inside the table."""
        return np.asarray(mean >= _LEAST * np.sqrt(1.0 + var))

    def __call__(self, mean: Floats, var: Floats) -> TiltedMoments:
        """Log normaliser, and its derivatives in the mean."""
        q = 1.0 / np.sqrt(1.0 + var)
        t, a = mean * q, 1.0 / np.sqrt(1.0 + max(self.power, 1.0) * var)
        c = np.sqrt((1.0 + var) / (var + 1.0 / self.power))
        h = hazard(c * t)
        rest = np.zeros((3, len(t)))
        here = np.flatnonzero(t < _right(self.power))
        rest[:, here] = [self.surface.ev(t[here], a[here], dx=k) for k in range(3)]
        log_z, g = log_ndtr(c * t) + rest[0], q * (c * h + rest[1])
        nu = q**2 * (c**2 * h * hazard_excess(c * t, h) - rest[2])
        return TiltedMoments(log_z, g, nu)


@lru_cache(maxsize=64)
def power_table(power: float, by_quadrature: Quadrature) -> PowerTable:
    """Return the table of a power, made once."""
    right = _right(power)
    t, a = np.linspace(_LEFT, right, round(_STEPS * (right - _LEFT))), np.linspace(0.0, 1.0, _SIZE)
    var = (a[1:] ** -2 - 1.0) / max(power, 1.0)
    T, var = (grid.ravel() for grid in np.meshgrid(t, var, indexing="ij"))
    whole = by_quadrature(T * np.sqrt(1.0 + var), var, np.full(T.size, power)).log_z
    rest = whole - log_ndtr(np.sqrt((1.0 + var) / (var + 1.0 / power)) * T)
    rest = np.column_stack([np.zeros(len(t)), rest.reshape(len(t), -1)])  # of a Gaussian without end nothing is left
    return PowerTable(power, RectBivariateSpline(t, a, rest, kx=5, ky=5, s=0.0))


def _right(power: float) -> float:
    """Where the table ends: a root of small powers in c carries R further."""
    return _RIGHT / min(power, 1.0) ** 0.5
