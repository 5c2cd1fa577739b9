"""Counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.special import betainc, gammaincc, gammaln, xlogy

from .._types import Floats, Rows
from ..errors import ParameterError
from ..numerics.gamma import stirling_rest
from ..numerics.quadrature import tilted_moments
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .base import Likelihood, Prediction, Tilted

__all__ = ["Poisson"]

_LARGEST_RATE = 43.0  # whose exponential is a whole number of 64 bits
_STEP = 6e-6  # of central differences in the logarithm of the scatter: near eps^(1/3)
_FAR = 300.0  # logarithm of a number beside which any other is nothing


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Likelihood):
    r"""Counts with a log link.

    .. math:: p(y \mid f) = \frac{\lambda^y e^{-\lambda}}{y!}, \qquad \lambda = e^{f + b}

    With a scatter phi the rate of each row is lambda times a number of its own, Gamma-distributed around one with
    variance phi. Then counts are negative binomial, with r = 1 / phi,

    .. math:: p(y \mid f) = \frac{\Gamma(y + r)}{\Gamma(r) \, y!}
              \Bigl(\frac{r}{r + \lambda}\Bigr)^r \Bigl(\frac{\lambda}{r + \lambda}\Bigr)^y, \qquad
              \mathrm{Var}(y \mid f) = \lambda + \phi \lambda^2.

    Parameters
    ----------
    bias : float
        b; the logarithm of the average count is a good start.
    scatter : float
        phi. Zero stays zero; any other is learned with the other parameters.
    """

    bias: float = 0.0
    scatter: float = 0.0
    counts: ClassVar[bool] = True
    spare: ClassVar[str] = "scatter"

    roles: ClassVar[Mapping[str, Role]] = {"bias": Role.BIAS, "scatter": Role.FREE}

    def __post_init__(self) -> None:
        if not (isinstance(self.scatter, Real) and 0.0 <= self.scatter < np.inf):
            raise ParameterError(f"Poisson: scatter must be a finite number from 0, got {self.scatter!r}")
        object.__setattr__(self, "scatter", float(self.scatter))
        super().__post_init__()

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """That of the bias, and of the scatter where there is one."""
        return {"bias": IDENTITY, "scatter": LOG} if self.scatter else {"bias": IDENTITY}

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        r"""Around the mode, log y: of large counts nothing is left in the difference of terms like y log y.

        With scatter, t = f + b - log y, and what Stirling's formula leaves of the Gamma functions,

        .. math:: \log p = y \, t - (y + r) \log \frac{r + y e^t}{r + y}
                  + \tfrac12 \log\frac{r}{2 \pi y (y + r)} + \delta(y + r) - \delta(r) - \delta(y).
        """
        return self._of(y)(f)

    def _of(self, y: Floats) -> Callable[[Floats], Floats]:
        """Return ``log_prob`` of these counts: what is the same for every f is computed once for all that are asked."""
        base = np.maximum(y, 1.0)
        middle = np.log(base)
        if not self.scatter:
            height = gammaln(y + 1.0) - xlogy(y, base) + base

            def plain(f: Floats) -> Floats:
                off = f + self.bias - middle
                return np.asarray(y * off - base * (np.exp(off) - 1.0) - height)

            return plain
        r = 1.0 / self.scatter
        height = 0.5 * np.log(r / (2.0 * np.pi * base * (base + r)))
        height = height + stirling_rest(base + r) - stirling_rest(np.asarray(r)) - stirling_rest(base)
        height = np.where(y > 0.0, height, -r * np.log1p(self.scatter))
        ratio = _ratio(y, base, r)
        return lambda f: ratio(f + self.bias - middle) + height

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        y = np.atleast_1d(np.broadcast_arrays(y, mean, var)[0])

        def some(rows: Rows) -> Callable[[Floats, Floats], Floats]:
            known = self._of(y[rows, None])
            return lambda _, f: known(f)

        log_z, g, nu = tilted_moments(some(np.arange(len(y))), y, mean, var, take=some)
        return Tilted(log_z, g, np.maximum(nu, 0.0))

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        rate = np.exp(np.minimum(f + self.bias, _LARGEST_RATE))
        if self.scatter:
            rate = rate * random.gamma(1.0 / self.scatter, self.scatter, size=np.shape(f))
        return random.poisson(np.minimum(rate, np.exp(_LARGEST_RATE))).astype(np.float64)

    def covariance(self, mean: Floats, cov: Floats) -> Floats:
        r"""In closed form: the rates are log-normal.

        .. math:: \mathrm{Cov}(y_i, y_j) = \mathrm{E} \lambda_i \, \mathrm{E} \lambda_j \, (e^{\Sigma_{ij}} - 1)
                  + \delta_{ij} (\mathrm{E} \lambda_i + \phi \, \mathrm{E} \lambda_i^2)
        """
        rate, var = self.predict(mean, np.diagonal(cov))
        found = np.outer(rate, rate) * np.expm1(cov)
        found[np.diag_indices(len(found))] = var
        return found

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        if self.scatter:
            return super().expected_log_prob(y, mean, var)
        log_rate = mean + self.bias
        return np.asarray(y * log_rate - np.exp(log_rate + 0.5 * var) - gammaln(y + 1.0))

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        slopes = {"bias": self.tilted(y, mean, var).g}
        if self.scatter:
            more, less = (replace(self, scatter=self.scatter * np.exp(h)) for h in (_STEP, -_STEP))
            difference = more.tilted(y, mean, var).log_z - less.tilted(y, mean, var).log_z
            slopes["scatter"] = difference / (2.0 * _STEP * self.scatter)
        return self._gradient(slopes)

    def cdf(self, y: Floats, f: Floats) -> Floats:
        r"""By incomplete functions, half a count earlier.

        .. math:: P(Y \le y) = Q(y + 1, \lambda), \qquad \text{with scatter } I_{r / (r + \lambda)}(r, y + 1)
        """
        rate, known = np.exp(np.minimum(f + self.bias, 700.0)), np.maximum(y + 0.5, 1e-300)
        if self.scatter:
            up_to = betainc(1.0 / self.scatter, known, 1.0 / (1.0 + self.scatter * rate))
        else:
            up_to = gammaincc(known, rate)
        return np.where(y > -0.5, up_to, 0.0)

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        log_rate = mean + self.bias
        with np.errstate(over="ignore"):  # a rate beyond all numbers is infinite
            rate = np.exp(log_rate + 0.5 * var)
            uncertain = np.asarray(np.where(var > 0.0, 2.0 * (log_rate + var), 2.0 * log_rate * bool(self.scatter)))
            return Prediction(rate, rate + np.exp(uncertain) * (self.scatter - np.expm1(-var)))

    def check_targets(self, y: Floats) -> None:
        strange = (y < 0) | (y != np.round(y))
        if strange.any():
            row = int(np.argmax(strange))
            raise ParameterError(f"Poisson: targets must be counts 0, 1, 2, ...; row {row} has {float(y[row])}")


def _ratio(y: Floats, base: Floats, r: float) -> Callable[[Floats], Floats]:
    r"""Return how far a negative binomial count is below its mode, by the smaller of both shares.

    .. math:: y \, t - (y + r) \log \frac{r + m e^t}{r + m} = -r \, t - (y + r) \log \frac{m + r e^{-t}}{r + m}
    """
    few = base <= r
    share, sign = np.where(few, base, r) / (base + r), np.where(few, 1.0, -1.0)
    slope, total = np.where(few, y, r), y + r

    def ratio(t: Floats) -> Floats:
        t = sign * t
        mixed = np.log1p(share * np.expm1(np.minimum(t, _FAR))) + np.maximum(t - _FAR, 0.0)
        return np.asarray(slope * t - total * mixed)

    return ratio
