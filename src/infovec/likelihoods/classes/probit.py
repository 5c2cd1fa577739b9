"""The multivariate probit likelihood: Gaussian noise in the race of the classes (SLH 4.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._types import Floats, Rows
from ...numerics.normal import hazard, hazard_excess, log_ndtr
from .base import RaceLikelihood
from .winner import Noise, Shape, moments

__all__ = ["MultivariateProbit"]

_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
_DEEP = 1e4
_REACH = 8.0  # standard deviations


class _Normal(Noise):
    """N(0, 1)."""

    agreement, widest_step = 1e-4, 1.0

    def below(self, t: Floats, var: Floats) -> Shape:
        sd = np.sqrt(1.0 + var)
        z = np.minimum(t / sd, 37.0)  # beyond, all three are zero
        log = log_ndtr(z)
        deep = z < -_DEEP
        h = np.exp(np.where(deep, 0.0, -0.5 * z * z - _LOG_SQRT_2PI - log))
        if deep.any():  # where nothing is left of the difference
            h[deep] = hazard(z[deep])
        return Shape(log, h / sd, h * hazard_excess(z, h) / (1.0 + var))

    def log_both(self, t: Floats, var: Floats) -> tuple[Floats, Floats]:
        return log_ndtr(t / np.sqrt(1.0 + var)), self.density(t, var).log

    def density(self, t: Floats, var: Floats) -> Shape:
        total = 1.0 + var
        return Shape(-0.5 * t * t / total - 0.5 * np.log(total) - _LOG_SQRT_2PI, -t / total, 1.0 / total)

    def spread(self, var: Floats) -> tuple[Floats, Floats, Floats]:
        reach = _REACH * np.sqrt(1.0 + var)
        return 1.0 + var, reach, reach


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateProbit(RaceLikelihood):
    r"""The class wins whose latent value plus bias plus standard normal noise is the largest (SLH eq. 8).

    .. math:: P(y \mid f) = P\bigl(f_y + p_y + \epsilon_y > f_j + p_j + \epsilon_j \text{ for all } j\bigr), \qquad
              \epsilon_c \sim N(0, 1)

    With two classes it is the probit of their difference with slope :math:`1 / \sqrt 2`.
    """

    noise: ClassVar[Noise] = _Normal()

    def log_prob_of_right(self, labels: Rows, f: Floats) -> Floats:
        return moments(self.noise, labels, f + self.bias, np.zeros_like(f)).log_z
