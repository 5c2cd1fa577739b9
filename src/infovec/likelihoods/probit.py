"""Two classes by the cumulative Gaussian."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._types import Floats
from ..numerics.normal import hazard, hazard_excess, log_ndtr
from ..numerics.powers import LARGEST_POWER, ndtr_power_moments
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .base import Tilted
from .lapse import Lapsing

__all__ = ["Probit"]


@dataclass(frozen=True, eq=False, repr=False)
class Probit(Lapsing):
    r"""Two classes, y = -1 or +1, by the cumulative Gaussian (LSH05 2.3, NIPS03 eq. 2).

    .. math:: p(y \mid f) = \epsilon + (1 - 2 \epsilon) \Phi\bigl(\lambda y (f + b)\bigr)

    Parameters
    ----------
    bias : float
        b; the probit of the fraction of +1 is a good start.
    slope : float
        lambda; the same model as an infinite slope and white noise of variance 1 / slope^2.
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
        return np.asarray(log_ndtr(self.slope * y * (f + self.bias)))

    def clean_tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        c = y / np.sqrt(self.slope**-2 + var)  # LSH05 eq. 19
        u = c * (mean + self.bias)
        h = hazard(u)
        return Tilted(log_ndtr(u), c * h, c**2 * h * hazard_excess(u, h))  # eq. 20, 21

    def clean_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        if np.max(weight) > LARGEST_POWER:
            return super().clean_power(y, mean, var, weight)
        c = self.slope * y
        log_z, g, nu = ndtr_power_moments(c * (mean + self.bias), c**2 * var, weight)
        return Tilted(log_z, c * g, c**2 * np.maximum(nu, 0.0))

    def clean_slopes(self, y: Floats, mean: Floats, var: Floats) -> dict[str, Any]:
        c = y / np.sqrt(self.slope**-2 + var)
        u = c * (mean + self.bias)
        h = hazard(u)
        return {"bias": c * h, "slope": h * u * c**2 * self.slope**-3}

    def in_noise(self) -> tuple["Probit", float, float, float]:
        return Probit(lapse=self.lapse), self.slope, -self.bias, 0.0
