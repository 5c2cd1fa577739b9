"""Maps between a constrained parameter and the free number an optimiser moves."""

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
from scipy.special import expit, logit

from .._types import Floats

__all__ = [
    "IDENTITY",
    "INCREASING",
    "INVERSE_SQUARE",
    "LOG",
    "SHARE",
    "SIGMOID",
    "SOFTPLUS",
    "TRANSFORMS",
    "Above",
    "Interval",
    "Rate",
    "Transform",
]

_ANY_UNIT = 200.0  # a logarithm that a parameter does not reach in any unit, and whose exponential has a square


class Transform(ABC):
    """A smooth map from free real numbers onto the values a parameter may take."""

    low: float = -np.inf
    high: float = np.inf
    requirement: str = "finite"
    """What a value must be, in words, for error messages."""
    free_bounds: tuple[float, float] = (-np.inf, np.inf)
    """Where an optimiser should keep the free number."""
    start_bounds: tuple[float, float] = (-np.inf, np.inf)
    """Where it should begin: beyond, the value hardly moves with the free number."""
    elementwise: bool = True
    """Whether each value depends on its own free number only."""

    @abstractmethod
    def value(self, free: Floats) -> Floats:
        """Parameter value of a free number."""

    @abstractmethod
    def free(self, value: Floats) -> Floats:
        """Free number of a parameter value."""

    @abstractmethod
    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        """Gradient in the free numbers from the gradient in the values (parameters along axis 0)."""

    def admits(self, value: Floats) -> bool:
        """Whether every entry is finite and strictly inside the range."""
        value = np.asarray(value)
        return bool(np.all(np.isfinite(value)) and np.all((value > self.low) & (value < self.high)))


class Identity(Transform):
    r"""Any real number, :math:`\theta = t`."""

    def value(self, free: Floats) -> Floats:
        return np.asarray(free)

    def free(self, value: Floats) -> Floats:
        return np.asarray(value)

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return gradient


class Log(Transform):
    r"""Positive by the exponential, :math:`\theta = e^t`."""

    low = 0.0
    requirement = "positive and finite"
    free_bounds = (-_ANY_UNIT, _ANY_UNIT)

    def value(self, free: Floats) -> Floats:
        return np.exp(free)

    def free(self, value: Floats) -> Floats:
        return np.log(value)

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return _scale(gradient, value)


class InverseSquare(Transform):
    r"""A positive weight of squares by the logarithm of a length, :math:`\theta = e^{-2 t}`."""

    low = 0.0
    requirement = "positive and finite"
    free_bounds = (-0.5 * _ANY_UNIT, 0.5 * _ANY_UNIT)

    def value(self, free: Floats) -> Floats:
        return np.exp(-2.0 * np.asarray(free))

    def free(self, value: Floats) -> Floats:
        return np.asarray(-0.5 * np.log(value))

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return _scale(gradient, -2.0 * np.asarray(value))


class Above(Transform):
    r"""Above a number by the exponential, :math:`\theta = c + e^t`; an optimiser stays a hundredth away from it."""

    free_bounds = (-4.6, _ANY_UNIT)

    def __init__(self, low: float) -> None:
        self.low = low
        self.requirement = f"above {low:g} and finite"

    def value(self, free: Floats) -> Floats:
        return np.asarray(self.low + np.exp(free))

    def free(self, value: Floats) -> Floats:
        return np.log(np.asarray(value) - self.low)

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return _scale(gradient, np.asarray(value) - self.low)


class Softplus(Transform):
    r"""Positive, linear for large values (LSH05 section 4), :math:`\theta = \log(1 + e^t)`."""

    low = 0.0
    requirement = "positive and finite"
    free_bounds = (-_ANY_UNIT, 1e10)

    def value(self, free: Floats) -> Floats:
        return np.logaddexp(0.0, free)

    def free(self, value: Floats) -> Floats:
        value = np.asarray(value)
        return np.where(value > 1.0, value + np.log(-np.expm1(-value)), np.log(np.expm1(np.minimum(value, 1.0))))

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return _scale(gradient, -np.expm1(-np.asarray(value)))


class Interval(Transform):
    r"""Between 0 and ``high`` by the sigmoid, :math:`\theta = c / (1 + e^{-t})`."""

    low = 0.0
    free_bounds = (-23.0, 23.0)
    start_bounds = (-2.0, 2.0)

    def __init__(self, high: float = 1.0) -> None:
        self.high = high
        self.requirement = f"strictly between 0 and {high:g}"

    def value(self, free: Floats) -> Floats:
        return np.asarray(self.high * expit(free))

    def free(self, value: Floats) -> Floats:
        return np.asarray(logit(np.asarray(value) / self.high))

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        return _scale(gradient, value * (1.0 - value / self.high))


class Share(Interval):
    """A probability: the same between 0 and 1, but learning begins where it is told to, near an end as well."""

    start_bounds = (-np.inf, np.inf)


class Rate(Share):
    r"""A probability below ``high`` that is mostly small; an optimiser stays between it and a ten-thousandth of it."""

    free_bounds = (-9.2, 9.2)


class Increasing(Transform):
    r"""An increasing sequence, :math:`\theta_k = t_1 + e^{t_2} + \dots + e^{t_k}` (LSH05 2.4)."""

    requirement = "finite and strictly increasing"
    elementwise = False

    def value(self, free: Floats) -> Floats:
        return np.cumsum(np.concatenate([free[:1], np.exp(free[1:])]))

    def free(self, value: Floats) -> Floats:
        return np.concatenate([value[:1], np.log(np.diff(value))])

    def pullback(self, value: Floats, gradient: Floats) -> Floats:
        from_here_on = np.cumsum(gradient[::-1], axis=0)[::-1]
        return _scale(from_here_on, np.concatenate([[1.0], np.diff(value)]))

    def admits(self, value: Floats) -> bool:
        return super().admits(value) and bool(np.all(np.diff(value) > 0))


def _scale(gradient: Floats, slope: Floats) -> Floats:
    """Multiply along axis 0, whatever stands behind it."""
    slope = np.asarray(slope)
    return gradient * slope.reshape(slope.shape + (1,) * (np.ndim(gradient) - slope.ndim))


IDENTITY: Final = Identity()
INCREASING: Final = Increasing()
INVERSE_SQUARE: Final = InverseSquare()
LOG: Final = Log()
SOFTPLUS: Final = Softplus()
SHARE: Final = Share(1.0)
SIGMOID: Final = Interval(1.0)
TRANSFORMS: Final[dict[str, Transform]] = {"log": LOG, "softplus": SOFTPLUS, "sigmoid": SIGMOID}
