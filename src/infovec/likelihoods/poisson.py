"""Counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaincc, gammaln, xlogy

from .._types import Floats
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, Transform
from .base import Likelihood, Prediction

__all__ = ["Poisson"]

_LARGEST_RATE = 43.0  # whose exponential is a whole number of 64 bits


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Likelihood):
    r"""Counts with a log link.

    .. math:: p(y \mid f) = \frac{\lambda^y e^{-\lambda}}{y!}, \qquad \lambda = e^{f + b}

    Parameters
    ----------
    bias : float
        b; the logarithm of the average count is a good start.
    """

    bias: float = 0.0
    counts: ClassVar[bool] = True

    transforms: ClassVar[Mapping[str, Transform]] = {"bias": IDENTITY}
    roles: ClassVar[Mapping[str, Role]] = {"bias": Role.BIAS}

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        """Around the mode, log y: of large counts nothing is left in the difference of terms like y log y."""
        base = np.maximum(y, 1.0)
        off = f + self.bias - np.log(base)
        return np.asarray(y * off - base * (np.exp(off) - 1.0) - (gammaln(y + 1.0) - xlogy(y, base) + base))

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        return random.poisson(np.exp(np.minimum(f + self.bias, _LARGEST_RATE))).astype(np.float64)

    def covariance(self, mean: Floats, cov: Floats) -> Floats:
        r"""In closed form: the rates are log-normal.

        .. math:: \mathrm{Cov}(y_i, y_j) = \mathrm{E} \lambda_i \, \mathrm{E} \lambda_j \, (e^{\Sigma_{ij}} - 1)
                  + \delta_{ij} \mathrm{E} \lambda_i
        """
        rate, var = self.predict(mean, np.diagonal(cov))
        found = np.outer(rate, rate) * np.expm1(cov)
        found[np.diag_indices(len(found))] = var
        return found

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        log_rate = mean + self.bias
        return np.asarray(y * log_rate - np.exp(log_rate + 0.5 * var) - gammaln(y + 1.0))

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self._gradient({"bias": self.tilted(y, mean, var).g})

    def cdf(self, y: Floats, f: Floats) -> Floats:
        r"""By the incomplete gamma function, :math:`P(Y \le y) = Q(y + 1, \lambda)`, half a count earlier."""
        rate = np.exp(np.minimum(f + self.bias, 700.0))
        return np.where(y > -0.5, gammaincc(np.maximum(y + 0.5, 1e-300), rate), 0.0)

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        log_rate = mean + self.bias
        with np.errstate(over="ignore"):  # a rate beyond all numbers is infinite
            rate = np.exp(log_rate + 0.5 * var)
            square = np.exp(np.where(var > 0.0, 2.0 * (log_rate + var), 0.0))
            return Prediction(rate, rate - square * np.expm1(-var))

    def check_targets(self, y: Floats) -> None:
        strange = (y < 0) | (y != np.round(y))
        if strange.any():
            row = int(np.argmax(strange))
            raise ParameterError(f"Poisson: targets must be counts 0, 1, 2, ...; row {row} has {float(y[row])}")
