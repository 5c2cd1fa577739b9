"""What is believed of a parameter before the data are seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..numerics.roles import Role

__all__ = ["NOTHING_EXPECTED", "WEAK", "Expected", "Gamma", "Normal", "Prior", "WeakPriors", "slh_priors"]


@dataclass(frozen=True)
class Normal:
    """Normal density of a parameter on its free scale: of the logarithm where it is positive, of itself elsewhere.

    Parameters
    ----------
    mean, std : float
    """

    mean: float = 0.0
    std: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and 0.0 < self.std < np.inf):
            raise ParameterError(f"Normal: mean must be finite and std positive and finite, got {self!r}")

    def slope(self, free: float, value: float, by_free: float) -> tuple[float, float]:
        """Log density up to a constant, and its derivative in the free number."""
        z = (free - self.mean) / self.std
        return -0.5 * z**2, -z / self.std


@dataclass(frozen=True)
class Gamma:
    r"""Gamma density of a positive parameter x itself, or of a power of it.

    .. math:: \log p = (a - 1) \log x^k - r x^k

    It is the density of :math:`x^k`, without the Jacobian of the free scale.

    Parameters
    ----------
    shape, rate : float
        a and r; the mean of x^k is a / r.
    power : float
        k; 2 for a prior on the square of a length scale, -2 on its inverse.
    """

    shape: float = 1.0
    rate: float = 1.0
    power: float = 1.0

    def __post_init__(self) -> None:
        if not (0.0 < self.shape < np.inf and 0.0 < self.rate < np.inf and np.isfinite(self.power) and self.power):
            raise ParameterError(f"Gamma: shape and rate must be positive and finite, power not 0, got {self!r}")

    def slope(self, free: float, value: float, by_free: float) -> tuple[float, float]:
        """Log density up to a constant, and its derivative in the free number, in which the value moves by by_free."""
        x = value**self.power
        log_density = (self.shape - 1.0) * self.power * np.log(value) - self.rate * x
        return float(log_density), float((self.shape - 1.0 - self.rate * x) * self.power / value * by_free)


Prior: TypeAlias = Normal | Gamma


WEAK = Normal(0.0, 3.0)
"""Of a step from where learning begins, where nothing else is said."""


class Expected(NamedTuple):
    """What is believed of the steps of parameters that begin at values of ours, by their roles.

    Few rows are explained best by parameters that few functions have: no noise at all, labels that are certain, columns
    that do not count. That they are seldom so must be said beforehand.

    Parameters
    ----------
    scale : Normal
        Of length scales that move together.
    own_scale : Normal
        Of each that moves alone, and of relevances of categories.
    variance : Normal
        Of variances of the kernel.
    noise : Normal
        Of the noise variance.
    """

    scale: Normal = Normal(0.0, 1.0)
    own_scale: Normal = Normal(0.0, 2.0)
    variance: Normal = WEAK
    noise: Normal = WEAK

    def of(self, role: Role, together: bool) -> Normal:
        """Return the prior of the steps of a parameter; whether it is a length scale that moves with the others."""
        if role is Role.SCALE:
            return self.scale if together else self.own_scale
        if role.noise:
            return Normal(role.noise * self.noise.mean, role.noise * self.noise.std)
        return self.variance if role is Role.VARIANCE else WEAK


class WeakPriors(NamedTuple):
    """What is believed of steps that nobody spoke of: ``WEAK``, unless there is something to expect.

    Parameters
    ----------
    begun : array of shape (size,), optional
        The steps with which learning begins, from which those of the priors count; zero unless given.
    expected : Expected, optional
    """

    begun: Floats | None = None
    expected: Expected | None = None


NOTHING_EXPECTED = WeakPriors()


def slh_priors(n_features: int = 1) -> Mapping[str, Prior | None]:
    r"""Return the priors of SLH 6.1 and Thesis 4.8.4, for a squared exponential kernel and the probit.

    .. math:: \log v \sim N(-1, 1), \qquad w^{-1} \sim \text{Gamma, mean 1, 1 degree of freedom}, \qquad b \sim N(0, 25)

    With d degrees of freedom and mean m the Gamma density has shape d / 2 and rate d / (2 m).

    Parameters
    ----------
    n_features : int
        By which the papers divide squared distances: 1 / w is length_scale^2 / n_features (SLH eq. 9). One for a length
        scale for each column, where they do not (SLH eq. 10).
    """
    return {
        "kernel*variance": Normal(-1.0, 1.0),
        "kernel*length_scale*": Gamma(0.5, 0.5 / n_features, power=2.0),
        "likelihood.bias": Normal(0.0, 5.0),
    }
