"""What every likelihood can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import factorial
from numbers import Real
from typing import ClassVar, NamedTuple, Self

import numpy as np

from .._types import Floats, Mask, Rows
from ..errors import ParameterError
from ..numerics.parameters import Parametrised
from ..numerics.quadrature import TiltedMoments as Tilted
from ..numerics.quadrature import tilted_moments

__all__ = ["Discrete", "Likelihood", "Prediction", "Site", "Tilted"]


_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(32)
_WEIGHTS = _WEIGHTS / np.sqrt(np.pi)
_TERMS = 24  # of Mehler's formula, to a hundredth of a per cent for an exponential of variance four
_DOUBLINGS, _HALVINGS = 60, 60
_STEP = 6e-6  # of central differences: near eps^(1/3)


class Prediction(NamedTuple):
    """Mean and variance of the target under the predictive distribution."""

    mean: Floats
    var: Floats


class Site(NamedTuple):
    """Gaussian stand-in for a likelihood factor, exp(b u - precision u^2 / 2)."""

    precision: Floats
    b: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Likelihood(Parametrised, ABC):
    r"""Noise model p(y | f) with one latent value f for each target. An immutable value.

    A likelihood of your own needs ``log_prob`` and ``predict``; everything else has a default, by quadrature or by
    differences. Write it for arrays of any shape that broadcast. Make it a frozen dataclass, so that its parameters
    are compared and shown; set ``log_concave = False`` if log p(y | f) is not concave in f. Where ``log_prob`` is NaN
    the target is taken to be impossible. For classes derive from ``Discrete`` and name the ``labels``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from infovec.likelihoods import Likelihood
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Waiting(Likelihood):
    ...     shape: float = 2.0
    ...     def log_prob(self, y, f):
    ...         return (self.shape - 1) * np.log(y) - self.shape * f - y * np.exp(-f)
    ...     def predict(self, mean, var):
    ...         rate = self.shape * np.exp(mean + var / 2)
    ...         return rate, rate**2 * ((1 + 1 / self.shape) * np.exp(var) - 1)
    >>> Waiting(shape=3.0)
    Waiting(shape=3)
    """

    log_concave: ClassVar[bool] = True
    """Whether log p(y | f) is concave in f, which makes every site precision positive."""

    counts: ClassVar[bool] = False
    """Whether targets are counts, and the logarithm of their mean is linear in the latent value."""
    conjugate: ClassVar[bool] = False
    """Whether p(y | f) is Gaussian in f, which makes every site exact, whatever the cavity."""
    spare: ClassVar[str] = ""
    """A parameter, the last, that is zero unless it is given, or found to be needed: zero stays zero in a search."""
    waits: ClassVar[bool] = False
    """Whether a row whose site would have a negative precision has none, until others tell it which side to take."""

    @abstractmethod
    def log_prob(self, y: Floats, f: Floats) -> Floats:
        """Log p(y | f), elementwise."""

    @abstractmethod
    def predict(self, mean: Floats, var: Floats) -> Prediction | tuple[Floats, Floats]:
        """Mean and variance of y when f is N(mean, var)."""

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        r"""Log normaliser of p(y | f) N(f | mean, var), its slope and curvature in the mean.

        .. math:: \log Z, \qquad g = \frac{\partial \log Z}{\partial \mu}, \qquad
                  \nu = -\frac{\partial^2 \log Z}{\partial \mu^2}
        """
        log_z, g, nu = tilted_moments(self.log_prob, y, mean, var, take=lambda rows: self.take(rows).log_prob)
        return Tilted(log_z, g, np.maximum(nu, 0.0) if self.log_concave else nu)

    def log_predictive(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        """Log probability of targets of new rows when f is N(mean, var)."""
        return self.tilted(y, mean, var).log_z

    def tilted_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        """Return ``tilted`` of p(y | f) to the power of each row's positive weight; by quadrature unless overridden."""

        def power(rows: Rows) -> Callable[[Floats, Floats], Floats]:
            some, exponent = self.take(rows), weight[rows, None]
            return lambda y, f: exponent * some.log_prob(y, f)

        log_z, g, nu = tilted_moments(power(np.arange(len(mean))), y, mean, var, take=power)
        return Tilted(log_z, g, np.maximum(nu, 0.0) if self.log_concave else nu)

    def site(self, y: Floats, mean: Floats, var: Floats, tilted: Tilted) -> Site:
        r"""Gaussian site that matches the tilted moments (SLH B.1).

        .. math:: \pi = \frac{\nu}{1 - a \nu}, \qquad b = \frac{g + h \nu}{1 - a \nu}
        """
        rest = np.maximum(1.0 - var * tilted.nu, 1e-15)
        return Site(tilted.nu / rest, (tilted.g + mean * tilted.nu) / rest)

    def cdf(self, y: Floats, f: Floats) -> Floats:
        """Probability of a target up to y given f; of whole numbers up to half of y itself, smooth between them."""
        raise ParameterError(f"{type(self).__name__} has no cdf, which quantiles need; give it a method cdf(y, f)")

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        """Draw a target for every latent value, of any shape; from ``cdf`` unless overridden."""
        u, low, high = random.uniform(size=f.shape), *(np.array(f) + side for side in (-1.0, 1.0))
        for _ in range(_DOUBLINGS):
            short, far = self.cdf(low, f) > u, self.cdf(high, f) < u
            if not (short.any() or far.any()):
                break
            low, high = np.where(short, low - 2.0 * (high - low), low), np.where(far, high + 2.0 * (high - low), high)
        for _ in range(_HALVINGS):
            centre = 0.5 * (low + high)
            below = self.cdf(centre, f) < u
            low, high = np.where(below, centre, low), np.where(below, high, centre)
        return np.rint(high) if self.counts else high

    def covariance(self, mean: Floats, cov: Floats) -> Floats:
        r"""Covariance of the targets of several new rows when their latent values are N(mean, cov).

        .. math:: \mathrm{Cov}(y_i, y_j) = \mathrm{Cov}(m(f_i), m(f_j))
                  = \sum_{k \ge 1} k! \, c_{ik} c_{jk} \rho_{ij}^k, \qquad
                  c_{ik} = \frac{1}{k!} \mathrm{E} \, m(\mu_i + \sigma_i z) \, \mathrm{He}_k(z)

        with m(f) the mean of y given f and the correlations of the latent values (Mehler's formula): one term where m
        is linear. A target with itself has the variance of ``predict``.
        """
        likelihood, sd = self.for_new_rows(), np.sqrt(np.maximum(np.diagonal(cov), 0.0))
        z = np.sqrt(2.0) * _NODES
        nodes = mean[:, None] + sd[:, None] * z
        given = np.asarray(likelihood.predict(nodes.ravel(), np.full(nodes.size, 1e-12))[0]).reshape(nodes.shape)
        rho = np.clip(cov / np.maximum(np.outer(sd, sd), 1e-300), -1.0, 1.0)
        total, power, before, he = np.zeros(cov.shape), np.ones(cov.shape), np.zeros(len(z)), np.ones(len(z))
        largest = 0.0
        for k in range(1, _TERMS):
            before, he = he, z * he - (k - 1) * before
            c = given @ (_WEIGHTS * he) / np.sqrt(float(factorial(k)))
            power = power * rho
            largest = max(largest, float(np.max(np.abs(c), initial=0.0)))
            if np.max(np.abs(c), initial=0.0) > 1e-9 * largest:
                total += np.outer(c, c) * power
        total[np.diag_indices(len(total))] = likelihood.predict(mean, np.diagonal(cov))[1]
        return total

    def label_noise(self, mean: Floats, var: Floats) -> Floats:
        """Mean variance of y given f when f is N(mean, var): what is left when the function is known."""
        nodes = mean[:, None] + np.sqrt(2.0 * var)[:, None] * _NODES
        given = self.for_new_rows().predict(nodes.ravel(), np.full(nodes.size, 1e-12))[1]
        return np.asarray(given).reshape(nodes.shape) @ _WEIGHTS

    def expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        """Mean of log p(y | f) when f is N(mean, var), by Gauss-Hermite quadrature."""
        nodes = mean[:, None] + np.sqrt(2.0 * var)[:, None] * _NODES
        return self.log_prob(y[:, None], nodes) @ _WEIGHTS

    def d_expected_log_prob(self, y: Floats, mean: Floats, var: Floats) -> tuple[Floats, Floats, Floats]:
        """Derivatives of ``expected_log_prob`` in mean, variance and theta (q, n), by central differences of it."""
        h, k = _STEP * np.maximum(1.0, np.abs(mean)), 1e-4 * var  # it bends little within a variance
        ahead, behind = (self.expected_log_prob(y, mean + s * h, var) for s in (1.0, -1.0))
        wide, narrow = (self.expected_log_prob(y, mean, var + s * k) for s in (1.0, -1.0))
        theta = self.theta
        rows = []
        for step in _STEP * np.maximum(1.0, np.abs(theta)) * np.eye(theta.size):
            up, down = (self.with_theta(theta + s * step).expected_log_prob(y, mean, var) for s in (1.0, -1.0))
            rows.append((up - down) / (2.0 * step.sum()))
        return (ahead - behind) / (2.0 * h), (wide - narrow) / (2.0 * k), np.array(rows).reshape(theta.size, len(y))

    def d_site(self, y: Floats) -> tuple[Floats, Floats]:
        """Derivatives of 1 / precision and mean of the sites in theta, each (q, n), where ``conjugate`` holds."""
        nothing, one = np.zeros(len(y)), np.ones(len(y))

        def site(theta: Floats) -> Floats:
            there = self.with_theta(theta)
            found = there.site(y, nothing, one, there.tilted(y, nothing, one))
            return np.stack([1.0 / found.precision, found.b / found.precision])

        theta = self.theta
        steps = _STEP * np.maximum(1.0, np.abs(theta)) * np.eye(theta.size)
        slopes = [(site(theta + h) - site(theta - h)) / (2.0 * h.sum()) for h in steps]
        both = np.array(slopes).reshape(theta.size, 2, len(y))
        return both[:, 0], both[:, 1]

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        """Gradient of log Z in theta, shape (q, n); by central differences unless overridden."""
        theta = self.theta
        rows = []
        for k in range(theta.size):
            step = np.zeros(theta.size)
            step[k] = _STEP * max(1.0, abs(theta[k]))
            ahead, behind = (self.with_theta(theta + s * step) for s in (1.0, -1.0))
            difference = ahead.tilted(y, mean, var).log_z - behind.tilted(y, mean, var).log_z
            rows.append(difference / (2.0 * step[k]))
        return np.array(rows).reshape(theta.size, len(y))

    def take(self, rows: Rows) -> Self:
        """Return the likelihood of some training rows; differs from self when rows have own parameters."""
        return self

    def in_unit(self, centre: float, scale: float) -> Self | None:
        """Return the noise of (y - centre) / scale around f / scale, or None if y has no unit to choose."""
        return None

    def for_new_rows(self) -> Self:
        """Return the likelihood of rows that are not training rows."""
        return self

    def for_selection(self) -> Self:
        """Return the likelihood that rows are selected by, where the projected posterior is fitted afterwards."""
        return self

    def told(self, y: Floats) -> Mask:
        """Return which targets are known: the others can have no loss."""
        return np.ones(np.shape(y), dtype=bool)

    def check_targets(self, y: Floats) -> None:
        """Raise ParameterError when some target is impossible under this likelihood."""


@dataclass(frozen=True, eq=False, repr=False)
class Discrete(Likelihood):
    """A likelihood whose targets take finitely many values.

    Parameters
    ----------
    spread : float
        Share of the latent variance that counts for the probabilities of new rows. The posterior does not know it: it
        makes up for what the approximation gets wrong about the certainty of predictions.
    """

    spread: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.spread, Real) and 0.0 < self.spread < 1e100):
            raise ParameterError(
                f"{type(self).__name__}: spread must be a positive number below 1e100, got {self.spread!r}"
            )

    @property
    @abstractmethod
    def labels(self) -> Floats:
        """The values a target can take, ascending."""

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        """Log probability of every label when f is N(mean, var), shape (n, number of labels)."""
        mean = np.asarray(mean)
        return np.stack([self.log_predictive(np.full(mean.shape, v), mean, var) for v in self.labels], axis=-1)

    def log_predictive(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        return self.tilted(y, mean, self.spread * np.asarray(var)).log_z

    def sample(self, f: Floats, random: np.random.RandomState) -> Floats:
        """Draw a label for every latent value."""
        total = np.cumsum(np.exp(self.log_proba(np.ravel(f), np.full(np.size(f), 1e-12))), axis=1)
        at = np.sum(random.uniform(size=len(total))[:, None] * total[:, -1:] > total[:, :-1], axis=1)
        return np.asarray(self.labels[at].reshape(np.shape(f)))

    def with_spread(self, spread: float) -> Self:
        """Return the same with another spread."""
        return replace(self, spread=float(spread))

    def predict(self, mean: Floats, var: Floats) -> Prediction:
        """Mean and variance of the label."""
        proba = np.exp(self.log_proba(mean, var))
        expected = proba @ self.labels
        return Prediction(expected, np.maximum(proba @ self.labels**2 - expected**2, 0.0))

    def check_targets(self, y: Floats) -> None:
        strange = ~np.isin(y, self.labels)
        if strange.any():
            raise ParameterError(
                f"{type(self).__name__}: targets must be among {self.labels.tolist()}, "
                f"row {int(np.argmax(strange))} has {float(y[np.argmax(strange)])}"
            )
