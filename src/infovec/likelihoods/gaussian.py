"""Gaussian noise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtr

from .._types import Floats, Rows
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import IDENTITY, LOG, Transform
from .base import Likelihood, Prediction, Site, Tilted

__all__ = ["Gaussian"]


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Likelihood):
    r"""Gaussian noise, with one variance or a known variance for every training row (LSH05 2.2).

    .. math:: p(y \mid f) = N(y \mid f + b, \sigma^2)

    Parameters
    ----------
    variance : float or array of shape (n_rows,)
        Noise variance. An array gives each training row its own; it is then not learned, and
        predictions for new rows use its average.
    bias : float
        Added to the latent function.
    """

    conjugate: ClassVar[bool] = True
    variance: float | Floats = 1.0
    bias: float = 0.0

    @property
    def transforms(self) -> Mapping[str, Transform]:
        free: dict[str, Transform] = {"bias": IDENTITY}
        return free if np.ndim(self.variance) else {"variance": LOG, **free}

    roles: ClassVar[Mapping[str, Role]] = {"variance": Role.NOISE_VARIANCE, "bias": Role.BIAS}

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.variance):
            variance = np.array(self.variance, dtype=np.float64)
            if variance.ndim > 1 or not LOG.admits(variance):
                raise ParameterError("Gaussian: variance must be positive and finite, one number or one for each row")
            variance.setflags(write=False)
            object.__setattr__(self, "variance", variance)

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        variance = np.asarray(self.variance)
        if variance.ndim and np.ndim(f) == 2:
            variance = variance[:, None]
        return -0.5 * (np.log(2 * np.pi * variance) + (y - f - self.bias) ** 2 / variance)

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        variance = float(np.mean(self.variance))
        return np.asarray(f + self.bias + np.sqrt(variance) * random.standard_normal(np.shape(f)))

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        total = var + self.variance
        residual = y - mean - self.bias
        g = residual / total
        return Tilted(-0.5 * (np.log(2 * np.pi * total) + residual * g), g, 1.0 / total)

    def site(self, y: Floats, mean: Floats, var: Floats, tilted: Tilted) -> Site:
        """Return the likelihood itself: it is Gaussian already (SLH 3.2.1)."""
        precision = np.broadcast_to(1.0 / np.asarray(self.variance), np.shape(y))
        return Site(precision, precision * (y - self.bias))

    def d_site(self, y: Floats) -> tuple[Floats, Floats]:
        nothing, one = np.zeros(len(y)), np.ones(len(y))
        by_variance = self._gradient({"variance": one, "bias": nothing})
        return by_variance, self._gradient({"variance": nothing, "bias": -one})

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.log_prob(y, mean) - 0.5 * var / self.variance

    def d_expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> tuple[Floats, Floats, Floats]:
        residual, precision = y - mean - self.bias, 1.0 / np.asarray(self.variance)
        by_variance = 0.5 * precision * (precision * (residual**2 + var) - 1.0)
        by_theta = self._gradient({"variance": by_variance, "bias": precision * residual})
        return precision * residual, np.broadcast_to(-0.5 * precision, np.shape(y)), by_theta

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        _, g, nu = self.tilted(y, mean, var)
        return self._gradient({"variance": 0.5 * (g**2 - nu), "bias": g})

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        return Prediction(mean + self.bias, var + np.mean(self.variance))

    def cdf(self, y: Floats, f: Floats) -> Floats:
        return np.asarray(ndtr((y - f - self.bias) / np.sqrt(np.mean(self.variance))))

    def in_unit(self, centre: float, scale: float) -> Self:
        return replace(self, variance=self.variance / scale**2, bias=(self.bias - centre) / scale)

    def take(self, rows: Rows) -> Self:
        return replace(self, variance=self.variance[rows]) if np.ndim(self.variance) else self  # type: ignore[index]

    def for_new_rows(self) -> Self:
        return replace(self, variance=float(np.mean(self.variance)))

    def check_targets(self, y: Floats) -> None:
        if np.ndim(self.variance) and len(np.atleast_1d(self.variance)) != len(y):
            raise ParameterError(
                f"Gaussian: {len(np.atleast_1d(self.variance))} variances for {len(y)} rows; "
                "give one for each row, or a single number"
            )
