"""Noise around a monotone transform of the target."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._types import Floats, Rows
from ..errors import ParameterError
from ..numerics.monotone import Log, Monotone, YeoJohnson
from ..runtime import pieces
from .base import Likelihood, Prediction, Site, Tilted
from .gaussian import Gaussian
from .laplace import Laplace
from .student_t import StudentT

__all__ = ["Transformed", "untransformed"]

_L = TypeVar("_L")

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
_WEIGHTS = _WEIGHTS / np.sqrt(2.0 * np.pi)
_FEW_NODES, _FEW_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)  # of what noise has smoothed
_FEW_WEIGHTS = _FEW_WEIGHTS / np.sqrt(2.0 * np.pi)
_STEP, _NEAR, _NOTHING = 0.25, 10.0, 37.0  # of log |noise|: from e^-10 scales to where e^-37 of the integrand is left
_SPARE, _LEAST = 0.5, 0.02  # that tails have at least beyond what is asked of them, powers and exponents


@dataclass(frozen=True, eq=False, repr=False)
class Transformed(Likelihood):
    r"""Noise that is added to a monotone transform of the target: prices, counts, what spreads over powers of ten.

    .. math:: p(y \mid f) = p_0(g(y) \mid f) \, g'(y)

    Densities are those of the target itself, so that they can be compared with any others. Its mean is that of
    the transform taken back, by quadrature; quantiles are the transform's own, taken back.

    Parameters
    ----------
    likelihood : Gaussian, Laplace or StudentT
        p_0, the noise of the transform.
    transform : Log or YeoJohnson
        g.

    Examples
    --------
    >>> import numpy as np
    >>> from infovec.likelihoods import Gaussian, Log, Transformed
    >>> noise = Transformed(Gaussian(0.5), Log())
    >>> mean, var = noise.predict(np.array([1.0]), np.array([0.5]))
    >>> bool(np.isclose(mean[0], np.exp(1.0 + (0.5 + 0.5) / 2)))
    True
    """

    _parts: ClassVar[tuple[str, ...]] = ("likelihood",)

    likelihood: Likelihood = field(default_factory=Gaussian)
    transform: Monotone = field(default_factory=Log)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.likelihood, Gaussian | Laplace | StudentT):
            raise ParameterError(
                f"Transformed: likelihood must be Gaussian, Laplace or StudentT, got {self.likelihood!r}"
            )
        if not isinstance(self.transform, Log | YeoJohnson):
            raise ParameterError(f"Transformed: transform must be Log or YeoJohnson, got {self.transform!r}")

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Those of the noise: the transform is none that learning moves."""
        return self.likelihood.parameter_names

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        return self.likelihood.log_concave

    @property
    def conjugate(self) -> bool:  # type: ignore[override]
        return self.likelihood.conjugate

    def _inside(self, y: Floats) -> tuple[Floats, Floats]:
        """Transforms, and the logarithms of their slopes: none where a target is impossible."""
        y = np.asarray(y, dtype=np.float64)
        good = self.transform.admits(y)
        if good.all():
            return self.transform.of(y), self.transform.log_slope(y)
        safe = np.where(good, y, 1.0)
        return self.transform.of(safe), np.where(good, self.transform.log_slope(safe), -np.inf)

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        z, slope = self._inside(y)
        return self.likelihood.log_prob(z, f) + slope

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        z, slope = self._inside(y)
        log_z, g, nu = self.likelihood.tilted(z, mean, var)
        return Tilted(log_z + slope, g, nu)

    def tilted_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        z, slope = self._inside(y)
        log_z, g, nu = self.likelihood.tilted_power(z, mean, var, weight)
        return Tilted(log_z + weight * slope, g, nu)

    def site(self, y: Floats, mean: Floats, var: Floats, tilted: Tilted) -> Site:
        return self.likelihood.site(self._inside(y)[0], mean, var, tilted)

    def d_site(self, y: Floats) -> tuple[Floats, Floats]:
        return self.likelihood.d_site(self._inside(y)[0])

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.likelihood.d_log_z(self._inside(y)[0], mean, var)

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        z, slope = self._inside(y)
        return self.likelihood.expected_log_prob(z, mean, var) + slope

    def d_expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> tuple[Floats, Floats, Floats]:
        return self.likelihood.d_expected_log_prob(self._inside(y)[0], mean, var)

    def cdf(self, y: Floats, f: Floats) -> Floats:
        good = self.transform.admits(y)
        return np.where(good, self.likelihood.cdf(self._inside(y)[0], f), 0.0)

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        return self.transform.inverse(self.likelihood.sample(f, random))

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        r"""Mean and variance of y when f is N(mean, var): infinite where the integral is.

        .. math:: \mathrm{E} \, y^k = \int g^{-1}(f + b + \epsilon)^k \, N(f \mid \mu, \sigma^2) \, p_0(\epsilon) \,
                  df \, d\epsilon
        """
        mean, var = np.asarray(mean, dtype=np.float64), np.asarray(var, dtype=np.float64)
        if isinstance(self.likelihood, Gaussian):
            return self._with_gaussian(*self.likelihood.predict(mean, var))
        noise, weight = _noise(self.likelihood, self.transform.growth)
        found = np.empty((2, len(mean)))
        for at in pieces(len(mean), 8.0 * 4 * len(noise) * len(_FEW_NODES)):
            f = mean[at, None] + self.likelihood.bias + np.sqrt(var[at, None]) * _FEW_NODES  # type: ignore[attr-defined]
            found[:, at] = self._moments(f[:, :, None] + noise, _FEW_WEIGHTS[:, None] * weight)
        for power, part in enumerate(found, start=1):
            if not self.has_moment(power):
                part[:] = np.inf
        return Prediction(*found)

    def has_moment(self, power: int) -> bool:
        """Whether targets have a mean (1) and a variance (2); only tails of the noise decide."""
        return isinstance(self.likelihood, Gaussian) or _finite(self.likelihood, power * self.transform.growth, power)

    def covariance(self, mean: Floats, cov: Floats) -> Floats:
        if np.isfinite(self.predict(mean[:1], np.zeros(1))).all():
            return super().covariance(mean, cov)
        return np.full(cov.shape, np.inf)  # without variances there are none

    def _with_gaussian(self, mean: Floats, var: Floats) -> Prediction:
        if isinstance(self.transform, Log):
            with np.errstate(over="ignore"):
                middle = np.exp(mean + 0.5 * var)
                return Prediction(middle, middle**2 * np.expm1(var))
        found = np.empty((2, len(mean)))
        for at in pieces(len(mean), 8.0 * 4 * len(_NODES)):
            found[:, at] = self._moments(mean[at, None] + np.sqrt(var[at, None]) * _NODES, _WEIGHTS)
        return Prediction(*found)

    def _moments(self, z: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of targets whose transforms are these, weighted."""
        axes = tuple(range(1, z.ndim))
        with np.errstate(over="ignore", invalid="ignore"):
            y = self.transform.inverse(z)
            middle = np.sum(weight * y, axis=axes)
            spread = np.sum(weight * (y - middle.reshape(-1, *(1 for _ in axes))) ** 2, axis=axes)
        return middle, np.where(np.isfinite(middle), spread, np.inf)

    def take(self, rows: Rows) -> Any:
        return replace(self, likelihood=self.likelihood.take(rows))

    def for_new_rows(self) -> Any:
        return replace(self, likelihood=self.likelihood.for_new_rows())

    def check_targets(self, y: Floats) -> None:
        bad = ~self.transform.admits(y)
        if bad.any():
            row = int(np.argmax(bad))
            raise ParameterError(
                f"targets must be positive to have a logarithm, and row {row} has {float(np.asarray(y)[row]):g}; use "
                "target='yeo-johnson', which takes any number, or 'identity'"
            )
        self.likelihood.check_targets(self.transform.of(y))


def untransformed(likelihood: _L) -> Any:
    """Return the noise of the transforms, which knows as much of the function as that of the targets; or itself."""
    return likelihood.likelihood if isinstance(likelihood, Transformed) else likelihood


def _noise(likelihood: Likelihood, growth: float) -> tuple[Floats, Floats]:
    r"""Nodes of additive noise around zero, and their weights: a trapezoidal rule in log |noise| on either side.

    .. math:: \int p(\epsilon) h(\epsilon) \, d\epsilon
              = \int \bigl(h(s e^u) + h(-s e^u)\bigr) \, p(s e^u) \, s e^u \, du

    What is nearer than the first node counts for zero.
    """
    scale: float = likelihood.scale  # type: ignore[attr-defined]
    if isinstance(likelihood, StudentT):
        left = likelihood.df - (2.0 * growth if np.isfinite(growth) else 0.0)
        high = 0.5 * np.log(likelihood.df) + _NOTHING / max(left, _SPARE)
    elif np.isfinite(growth):
        high = np.log(_NOTHING + 4.0 * growth)
    else:
        high = np.log(_NOTHING / max(1.0 - 2.0 * scale, _LEAST))
    size = scale * np.exp(np.arange(-_NEAR, high + _STEP, _STEP))
    weight = _STEP * size * np.exp(likelihood.log_prob(size, np.full(len(size), -likelihood.bias)))  # type: ignore[attr-defined]
    size, weight = size[weight > 0.0], weight[weight > 0.0]
    return np.concatenate([-size, [0.0], size]), np.concatenate([weight, [1.0 - 2.0 * weight.sum()], weight])


def _finite(likelihood: Likelihood, degree: float, times: float) -> bool:
    """Whether noise has a moment of this degree, or of e to so many times it if the degree is infinite."""
    if isinstance(likelihood, StudentT):
        return bool(degree < likelihood.df)
    return bool(np.isfinite(degree)) or times * likelihood.scale < 1.0  # type: ignore[attr-defined]
