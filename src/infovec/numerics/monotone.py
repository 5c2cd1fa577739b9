"""Monotone transforms of targets: the logarithm, and that of Yeo and Johnson. Immutable values."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .._types import Floats, Mask
from ..errors import ParameterError

__all__ = ["Log", "Monotone", "YeoJohnson"]


@dataclass(frozen=True)
class Log:
    r"""The logarithm of positive targets.

    .. math:: g(y) = \log y, \qquad \log g'(y) = -\log y
    """

    def admits(self, y: Floats) -> Mask:
        """Whether each target has a transform."""
        return np.asarray(y) > 0.0

    def of(self, y: Floats) -> Floats:
        """Return transformed targets."""
        return np.log(y)

    def inverse(self, z: Floats) -> Floats:
        """Return the targets that have these transforms."""
        with np.errstate(over="ignore"):
            return np.exp(z)

    def log_slope(self, y: Floats) -> Floats:
        """Logarithm of the slope: what a log density of transforms lacks to be one of targets."""
        return -np.log(y)

    @property
    def growth(self) -> float:
        """The power of z that the inverse grows with at most; infinite where it is e^z."""
        return np.inf


@dataclass(frozen=True)
class YeoJohnson:
    r"""The power transform of Yeo and Johnson (Biometrika 2000) of targets in a unit of their own.

    .. math:: t = \frac{y - c}{s}, \qquad
              g(y) = \begin{cases} ((1 + t)^\lambda - 1) / \lambda & t \ge 0 \\
              -((1 - t)^{2 - \lambda} - 1) / (2 - \lambda) & t < 0 \end{cases}, \qquad
              \log g'(y) = \mathrm{sign}(t) \, (\lambda - 1) \log(1 + |t|) - \log s

    with logarithms where an exponent is zero. Every number has a transform and is one.

    Parameters
    ----------
    power : float
        Lambda, from 0 to 2; one leaves targets as they are, a smaller one draws large targets in.
    centre, scale : float
        c and s.
    """

    power: float = 1.0
    centre: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        for name, low, high in (("power", 0.0, 2.0), ("centre", -np.inf, np.inf), ("scale", 0.0, np.inf)):
            value = getattr(self, name)
            good = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
            if not good or not low <= value <= high or (name == "scale" and value == 0.0):
                wanted = {"power": "a number from 0 to 2", "centre": "a number", "scale": "a positive number"}[name]
                raise ParameterError(f"YeoJohnson: {name} must be {wanted}, got {value!r}")
            object.__setattr__(self, name, float(value))

    def admits(self, y: Floats) -> Mask:
        """Whether each target has a transform: all have."""
        return np.ones(np.shape(y), dtype=bool)

    def of(self, y: Floats) -> Floats:
        """Return transformed targets."""
        t = (y - self.centre) / self.scale
        size = np.log1p(np.abs(t))
        return np.where(t >= 0.0, _power(size, self.power), -_power(size, 2.0 - self.power))

    def inverse(self, z: Floats) -> Floats:
        """Return the targets that have these transforms."""
        size, z = np.abs(z), np.asarray(z)
        with np.errstate(over="ignore"):
            t = np.where(z >= 0.0, _back(size, self.power), -_back(size, 2.0 - self.power))
            return self.centre + self.scale * t

    def log_slope(self, y: Floats) -> Floats:
        """Logarithm of the slope: what a log density of transforms lacks to be one of targets."""
        t = (y - self.centre) / self.scale
        return np.sign(t) * (self.power - 1.0) * np.log1p(np.abs(t)) - np.log(self.scale)

    @property
    def growth(self) -> float:
        """The power of z that the inverse grows with at most; infinite where it is e^z."""
        least = min(self.power, 2.0 - self.power)
        return 1.0 / least if least else np.inf


Monotone: TypeAlias = Log | YeoJohnson


def _power(size: Floats, power: float) -> Floats:
    """Return ((1 + t)^power - 1) / power of log(1 + t)."""
    return np.expm1(power * size) / power if power else np.asarray(size)


def _back(size: Floats, power: float) -> Floats:
    """Return t from that."""
    return np.asarray(np.expm1(np.log1p(power * size) / power if power else size))
