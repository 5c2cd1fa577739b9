"""Student's t noise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import digamma, gammaln, stdtr

from .._types import Floats
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Above, Transform
from .base import Likelihood, Prediction, Tilted

__all__ = ["StudentT"]

_NODES = 160
_WITH_VARIANCE = Above(2.0)


class _Mixture(NamedTuple):
    """The noise as a mixture of Gaussians with precision w: one column for each node of log w."""

    log_z: Floats
    weight: Floats
    log_w: Floats
    pull: Floats  # residual / total variance
    precision: Floats  # 1 / total variance


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(Likelihood):
    r"""Student's t noise, for outliers. Not log-concave: a row may have nothing to say (nu <= 0).

    .. math:: p(y \mid f) = \frac{\Gamma((k+1)/2)}{\Gamma(k/2) \sqrt{\pi k} \, s}
              \left(1 + \frac{(y - f - b)^2}{k s^2}\right)^{-(k+1)/2}

    The tilted density can have two modes, which no single Gaussian rule covers. The noise is a mixture of
    Gaussians over a Gamma-distributed precision, so the normaliser is one smooth integral over the
    logarithm of that precision, done by the trapezoidal rule.

    Parameters
    ----------
    scale : float
        s.
    df : float
        Degrees of freedom k. Up to two the noise has no variance; above two they stay there while learning.
    bias : float
        b, added to the latent function.
    """

    log_concave: ClassVar[bool] = False

    scale: float = 1.0
    df: float = 4.0
    bias: float = 0.0

    @property
    def transforms(self) -> Mapping[str, Transform]:
        return {"scale": LOG, "df": _WITH_VARIANCE if self._has_variance else LOG, "bias": IDENTITY}

    roles: ClassVar[Mapping[str, Role]] = {"scale": Role.NOISE_SCALE, "df": Role.FREE, "bias": Role.BIAS}

    @property
    def _has_variance(self) -> bool:
        return isinstance(self.df, Real) and self.df > _WITH_VARIANCE.low

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        k = self.df
        constant = gammaln(0.5 * (k + 1)) - gammaln(0.5 * k) - 0.5 * np.log(np.pi * k)
        r = (y - f - self.bias) / self.scale
        return np.asarray(constant - np.log(self.scale) - 0.5 * (k + 1) * np.log1p(r**2 / k))

    def _mixture(self, y: Floats, mean: Floats, var: Floats) -> _Mixture:
        k, s2 = self.df, self.scale**2
        residual = y - mean - self.bias
        spread = 9.0 * np.sqrt(2.0 / k)  # of log w where k is large; where it is small tails of other shapes count
        start = -np.log((k + residual**2 / s2) / (k + 1.0)) - 74.0 / (k + 1.0) - min(spread, 40.0)
        end = min(spread, 2.0) + np.log1p(80.0 / k)
        step = (end - start) / (_NODES - 1)
        log_w = start + step * np.arange(_NODES)[:, None]
        total = var + s2 * np.exp(-log_w)
        log_terms = (
            0.5 * k * (np.log(0.5 * k) + log_w - np.exp(log_w))
            - gammaln(0.5 * k)
            - 0.5 * (np.log(2 * np.pi * total) + residual**2 / total)
        )
        top = log_terms.max(axis=0)
        weight = np.exp(log_terms - top)
        sums = weight.sum(axis=0)
        log_z = top + np.log(sums * step)
        return _Mixture(log_z, weight / sums, log_w, residual / total, 1.0 / total)

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        return np.asarray(f + self.bias + self.scale * random.standard_t(self.df, size=np.shape(f)))

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        m = self._mixture(y, mean, var)
        g = (m.weight * m.pull).sum(axis=0)
        nu = (m.weight * (m.precision - (m.pull - g) ** 2)).sum(axis=0)
        return Tilted(m.log_z, g, nu)

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        m = self._mixture(y, mean, var)
        k = self.df
        by_variance = 0.5 * (m.pull**2 - m.precision) * np.exp(-m.log_w)
        by_df = 0.5 * (np.log(0.5 * k) + 1.0 - digamma(0.5 * k) + m.log_w - np.exp(m.log_w))
        return self._gradient(
            {
                "scale": 2.0 * self.scale * (m.weight * by_variance).sum(axis=0),
                "df": (m.weight * by_df).sum(axis=0),
                "bias": (m.weight * m.pull).sum(axis=0),
            }
        )

    def cdf(self, y: Floats, f: Floats) -> Floats:
        return np.asarray(stdtr(self.df, (y - f - self.bias) / self.scale))

    def in_unit(self, centre: float, scale: float) -> Self:
        return replace(self, scale=self.scale / scale, bias=(self.bias - centre) / scale)

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        """Mean and variance of y; the variance is infinite for df <= 2."""
        noise = self.scale**2 * self.df / (self.df - 2.0) if self.df > 2 else np.inf
        return Prediction(mean + self.bias, var + noise)
