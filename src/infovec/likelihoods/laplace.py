"""Double exponential noise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtr

from .._types import Floats
from ..numerics.normal import hazard, hazard_excess, log_half_transform
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .base import Likelihood, Prediction, Tilted

__all__ = ["Laplace"]


@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Likelihood):
    r"""Double exponential noise: the log-concave noise with the heaviest tails.

    .. math:: p(y \mid f) = \frac{1}{2 s} \exp\left(-\frac{|y - f - b|}{s}\right)

    Parameters
    ----------
    scale : float
        s; the noise variance is 2 s^2.
    bias : float
        b, added to the latent function.
    """

    scale: float = 1.0
    bias: float = 0.0

    transforms: ClassVar[Mapping[str, Transform]] = {"scale": LOG, "bias": IDENTITY}
    roles: ClassVar[Mapping[str, Role]] = {"scale": Role.NOISE_SCALE, "bias": Role.BIAS}

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        return -np.abs(y - f - self.bias) / self.scale - np.log(2.0 * self.scale)

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        return np.asarray(f + self.bias + random.laplace(scale=self.scale, size=np.shape(f)))

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        return self._tilted(y, mean, var, self.scale)

    def tilted_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        r"""Return ``tilted`` of a power of p, which is the same noise of another scale, times a constant.

        .. math:: p(y \mid f)^w = \frac{2 s / w}{(2 s)^w} \cdot
                  \frac{w}{2 s} \exp\left(-\frac{|y - f - b|}{s / w}\right)
        """
        scale = self.scale / weight
        log_z, g, nu = self._tilted(y, mean, var, scale)
        return Tilted(log_z + np.log(2.0 * scale) - weight * np.log(2.0 * self.scale), g, nu)

    def _tilted(self, y: Floats, mean: Floats, var: Floats, s: float | Floats) -> Tilted:
        var = np.maximum(var, 1e-20 * s**2)
        sd = np.sqrt(var)
        residual = y - mean - self.bias
        below = log_half_transform(1.0 / s, residual, var)  # log of the part with f + b < y
        above = log_half_transform(1.0 / s, -residual, var)
        log_sum = np.logaddexp(below, above)
        p, q = np.exp(below - log_sum), np.exp(above - log_sum)
        # Each part is a truncated Gaussian; its distance from the kink has mean sd * e, variance var (1 - h e).
        z, z_ = residual / sd - sd / s, -residual / sd - sd / s
        e, e_ = hazard_excess(z), hazard_excess(z_)
        nu = (p * hazard(z) * e + q * hazard(z_) * e_ - p * q * (e + e_) ** 2) / var
        return Tilted(log_sum - np.log(2.0 * s), (p - q) / s, np.maximum(nu, 0.0))

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        """By the mean of a folded normal distribution, which has no kink."""
        sd, residual = np.sqrt(var), y - mean - self.bias
        z = residual / sd
        distance = sd * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z**2) + residual * (2.0 * ndtr(z) - 1.0)
        return -distance / self.scale - np.log(2.0 * self.scale)

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.d_log_z_power(y, mean, var, 1.0, self.tilted(y, mean, var))

    def d_log_z_power(self, y: Floats, mean: Floats, var: Floats, weight: float | Floats, tilted: Tilted) -> Floats:
        r"""Gradient of log Z in theta where p has the power w, with its tilted moments; r is the residual.

        .. math:: \log Z = \log Z_1(r / s, \sigma^2 / s^2) - w \log s, \qquad
                  s \frac{\partial \log Z}{\partial s} = r g - \sigma^2 (g^2 - \nu) - w
        """
        _, g, nu = tilted
        by_scale = ((y - mean - self.bias) * g - var * (g**2 - nu) - weight) / self.scale
        return self._gradient({"scale": by_scale, "bias": g})

    def cdf(self, y: Floats, f: Floats) -> Floats:
        r = (y - f - self.bias) / self.scale
        tail = 0.5 * np.exp(-np.abs(r))
        return np.where(r < 0.0, tail, 1.0 - tail)

    def in_unit(self, centre: float, scale: float) -> Self:
        return replace(self, scale=self.scale / scale, bias=(self.bias - centre) / scale)

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        return Prediction(mean + self.bias, var + 2.0 * self.scale**2)
