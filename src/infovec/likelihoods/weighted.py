"""Rows that count more or less than others."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from .._types import Floats, Mask, Rows
from ..errors import ParameterError
from ..numerics.parameters import Parametrised
from .base import Discrete, Likelihood, Prediction, Site, Tilted
from .gaussian import Gaussian
from .laplace import Laplace
from .logit import Logit
from .probit import Probit

__all__ = ["Weighted", "WeightedDiscrete", "plain", "total_weight", "weighted", "with_spare"]

_W = TypeVar("_W", bound="Weighted")


def weighted(likelihood: Likelihood, weight: float | Floats) -> "Weighted":
    r"""Return a likelihood raised to a weight, one for each training row.

    .. math:: p(y_i \mid f_i)^{w_i}

    A row of weight 2 says what two equal rows of the same latent value would say, one of weight 0 says nothing. With
    Gaussian noise that is a noise variance divided by the weight. New rows have the likelihood itself, so predicted
    probabilities and noise are those of a single row.

    To the evidence a row of weight 5 is five observations that agree, so learning may take for structure what is
    noise: where weights are no counts, learn without them, and fit the kernel found with ``learn=None``. Weights other
    than 0 and 1 need quadrature unless noise is Gaussian or double exponential, which takes time: up to fifty it is
    quick for the probit.

    Parameters
    ----------
    likelihood : Likelihood
    weight : float or array of shape (n_rows,)
        Not negative, some of them positive. An array refers to the rows of one ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from infovec import IVMRegressor
    >>> from infovec.kernels import RBF
    >>> from infovec.likelihoods import Gaussian, weighted
    >>> x = np.linspace(-1, 1, 30)[:, None]
    >>> y = np.sin(3 * x[:, 0])
    >>> y[7] = 50.0  # known to be wrong
    >>> without = weighted(Gaussian(0.01), np.where(y < 10, 1.0, 0.0))
    >>> model = IVMRegressor(kernel=RBF(), likelihood=without, learn=None, random_state=0).fit(x, y)
    >>> bool(abs(model.predict(x[7:8])[0] - np.sin(3 * x[7, 0])) < 0.1)
    True
    """
    return WeightedDiscrete(likelihood, weight) if isinstance(likelihood, Discrete) else Weighted(likelihood, weight)


@dataclass(frozen=True, eq=False, repr=False)
class Weighted(Likelihood):
    """A likelihood raised to a weight. Use ``weighted``, which takes the right class.

    Parameters
    ----------
    likelihood : Likelihood
    weight : float or array of shape (n_rows,)
    """

    _parts: ClassVar[tuple[str, ...]] = ("likelihood",)

    likelihood: Likelihood = field(default_factory=Gaussian)
    weight: float | Floats = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.likelihood, Likelihood) or isinstance(self.likelihood, Weighted):
            raise ParameterError(f"weighted: likelihood must be a plain Likelihood, got {self.likelihood!r}")
        weight = np.array(self.weight, dtype=np.float64)
        if weight.ndim > 1 or not np.all(np.isfinite(weight)) or np.any(weight < 0.0) or not np.any(weight > 0.0):
            raise ParameterError(
                "weighted: weight must be one number, or one for each row, finite, not negative, some positive"
            )
        weight.setflags(write=False)
        object.__setattr__(self, "weight", weight if weight.ndim else float(weight))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Those of the likelihood itself: weights have none."""
        return self.likelihood.parameter_names

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        return self.likelihood.log_concave

    @property
    def conjugate(self) -> bool:  # type: ignore[override]
        return self.likelihood.conjugate

    @property
    def waits(self) -> bool:  # type: ignore[override]
        return self.likelihood.waits

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        weight = np.asarray(self.weight)
        if weight.ndim and np.ndim(f) == 2:
            weight = weight[:, None]
        return weight * self.likelihood.log_prob(y, f)

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        if isinstance(self.likelihood, Gaussian):
            return self._gaussian(y, mean, var)
        weight = np.broadcast_to(self.weight, np.shape(mean))
        other = np.flatnonzero((weight != 1.0) & (weight != 0.0))
        once = self.likelihood.tilted(y, mean, var)
        parts = [np.where(weight == 0.0, 0.0, np.array(part)) for part in once]
        if other.size:
            some = self.likelihood.take(other).tilted_power(
                y[other], mean[other], np.asarray(var)[other], weight[other]
            )  # fmt: skip
            for part, new in zip(parts, some, strict=True):
                part[other] = new
        return Tilted(*parts)

    def _gaussian(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        r"""With noise variance s and residual r.

        .. math:: \log Z = -\tfrac{w}{2} \log 2 \pi s - \tfrac12 \log\frac{s + w a}{s} - \frac{w r^2}{2 (s + w a)}
        """
        assert isinstance(self.likelihood, Gaussian)
        w, s = np.asarray(self.weight), np.asarray(self.likelihood.variance)
        residual, total = y - mean - self.likelihood.bias, s + w * var
        g = w * residual / total
        log_z = -0.5 * (w * np.log(2.0 * np.pi * s) + np.log(total / s) + residual * g)
        return Tilted(log_z, g, w / total)

    def site(self, y: Floats, mean: Floats, var: Floats, tilted: Tilted) -> Site:
        if not isinstance(self.likelihood, Gaussian):
            return super().site(y, mean, var, tilted)
        once = self.likelihood.site(y, mean, var, tilted)
        return Site(self.weight * once.precision, self.weight * once.b)

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.weight * self.likelihood.expected_log_prob(y, mean, var)

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        r"""Gradient in theta; exact for double exponential noise, and where p depends on :math:`\lambda (f + b)` only.

        .. math:: \frac{\partial \log Z}{\partial b} = g, \qquad \lambda \frac{\partial \log Z}{\partial \lambda}
                  = (\mu + b) g + \sigma^2 (g^2 - \nu)
        """
        if isinstance(self.likelihood, Laplace):
            return self.likelihood.d_log_z_power(y, mean, var, np.asarray(self.weight), self.tilted(y, mean, var))
        if not isinstance(self.likelihood, Probit | Logit) or self.likelihood.lapse:
            weight = np.broadcast_to(self.weight, np.shape(mean))
            other = np.flatnonzero((weight != 1.0) & (weight != 0.0))
            slopes = np.where(weight == 0.0, 0.0, self.likelihood.d_log_z(y, mean, var))
            slopes[:, other] = Likelihood.d_log_z(self.take(other), y[other], mean[other], np.asarray(var)[other])
            return slopes
        _, g, nu = self.tilted(y, mean, var)
        by_slope = ((mean + self.likelihood.bias) * g + var * (g**2 - nu)) / self.likelihood.slope
        return self.likelihood._gradient({"bias": g, "slope": by_slope})

    def predict(self, mean: Floats, var: Floats) -> Prediction | tuple[Floats, Floats]:
        return self.likelihood.predict(mean, var)

    def log_predictive(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.likelihood.for_new_rows().log_predictive(y, mean, var)

    def take(self, rows: Rows) -> Any:
        weight = self.weight[rows] if np.ndim(self.weight) else self.weight  # type: ignore[index]
        return _unchecked(replace(self, likelihood=self.likelihood.take(rows), weight=1.0), weight)

    def cdf(self, y: Floats, f: Floats) -> Floats:
        return self.likelihood.cdf(y, f)

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        return self.likelihood.sample(f, random)

    def covariance(self, mean: Floats, cov: Floats) -> Floats:
        return self.likelihood.covariance(mean, cov)

    def in_unit(self, centre: float, scale: float) -> Any:
        inside = self.likelihood.in_unit(centre, scale)
        return None if inside is None else _unchecked(replace(self, likelihood=inside, weight=1.0), self.weight)

    def for_new_rows(self) -> Any:
        return self.likelihood.for_new_rows()

    def for_selection(self) -> Any:
        inside = self.likelihood.for_selection()
        return (
            self if inside == self.likelihood else _unchecked(replace(self, likelihood=inside, weight=1.0), self.weight)
        )

    def told(self, y: Floats) -> Mask:
        return self.likelihood.told(y)

    def check_targets(self, y: Floats) -> None:
        self.likelihood.check_targets(y)
        if np.ndim(self.weight) and np.size(self.weight) != len(y):
            raise ParameterError(
                f"weighted: {np.size(self.weight)} weights for {len(y)} rows; give one for each row, or a single number"
            )


def plain(likelihood: Any) -> Any:
    """Return a likelihood without its weights."""
    return likelihood.likelihood if isinstance(likelihood, Weighted) else likelihood


def with_spare(likelihood: Any, value: float) -> Any:
    """Return a likelihood, weighted or not, with another value of its ``spare`` parameter."""
    inside = plain(likelihood)
    changed = replace(inside, **{inside.spare: value})
    if not isinstance(likelihood, Weighted):
        return changed
    return _unchecked(replace(likelihood, likelihood=changed, weight=1.0), likelihood.weight)


def total_weight(likelihood: Parametrised, n: int) -> float:
    """Sum of the weights of n rows: how many observations they count for."""
    return float(np.sum(np.broadcast_to(likelihood.weight, n))) if isinstance(likelihood, Weighted) else float(n)


def _unchecked(likelihood: _W, weight: Any) -> _W:
    """Set weights that may all be zero, since they are those of some rows only."""
    object.__setattr__(likelihood, "weight", weight)
    return likelihood


@dataclass(frozen=True, eq=False, repr=False)
class WeightedDiscrete(Weighted, Discrete):
    """The same for targets that take finitely many values."""

    likelihood: Discrete = field(default_factory=Probit)

    @property
    def labels(self) -> Floats:
        return self.likelihood.labels

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        return self.likelihood.for_new_rows().log_proba(mean, var)

    def with_spread(self, spread: float) -> Self:
        return _unchecked(replace(self, likelihood=self.likelihood.with_spread(spread), weight=1.0), self.weight)

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        return self.likelihood.predict(mean, var)
