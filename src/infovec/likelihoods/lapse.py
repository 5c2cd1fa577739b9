"""Labels some of which are wrong: what every likelihood of classes has in common when it knows of them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import comb

from .._types import Floats
from ..errors import ParameterError
from ..numerics.transforms import Rate, Transform
from ..numerics.two_modes import two_mode_moments
from .base import Discrete, Tilted

__all__ = ["Lapsing", "mixed"]

_FEW = 4  # times that a row is there, up to which powers of labels that are right cost less than quadrature


@dataclass(frozen=True, eq=False, repr=False)
class Lapsing(Discrete):
    r"""A likelihood of C labels that may be wrong: then each of the others is as likely.

    .. math:: p(y \mid f) = \frac{\epsilon}{C - 1} + \Bigl(1 - \frac{C \epsilon}{C - 1}\Bigr) p_0(y \mid f)

    A subclass says what :math:`p_0` is, by its methods that begin with ``clean``.

    Parameters
    ----------
    lapse : float
        epsilon, the probability that a label is wrong. Zero stays zero; any other is learned with the other parameters.
        With it the likelihood is not log-concave: a row far on the other side says nothing.
    """

    lapse: float = field(default=0.0, kw_only=True)

    spare: ClassVar[str] = "lapse"
    _clean: ClassVar[Mapping[str, Transform]] = {}
    """The transforms of the other parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lapse", checked_lapse(type(self).__name__, self.lapse, self.n_labels))
        super().__post_init__()

    @property
    def n_labels(self) -> int:
        """C, of how many a wrong label is any."""
        return len(self.labels)

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Those of the likelihood, and of the lapse where there is one."""
        return {**self._clean, "lapse": Rate(most_lapse(self.n_labels))} if self.lapse else self._clean

    @property
    def log_concave(self) -> bool:  # type: ignore[override]
        return not self.lapse

    @abstractmethod
    def clean_log_prob(self, y: Floats, f: Floats) -> Floats:
        """Log p(y | f) of labels that are right."""

    @abstractmethod
    def clean_tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        """Return ``tilted`` of labels that are right."""

    def clean_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        """Return ``tilted_power`` of labels that are right."""
        return super().tilted_power(y, mean, var, weight)

    @abstractmethod
    def clean_slopes(self, y: Floats, mean: Floats, var: Floats) -> dict[str, Any]:
        """Gradients of log Z in the other parameters, for labels that are right."""

    @abstractmethod
    def in_noise(self) -> tuple["Lapsing", float, float, float]:
        r"""Return the same likelihood of :math:`z = \lambda (f - c)`, with lambda, c, and how wide it changes in z."""

    @property
    def shares(self) -> tuple[float, float]:
        """What the probability of a label is made of: a constant, and a multiple of that of a label that is right."""
        return shares_of(self.lapse, self.n_labels)

    def constant(self, y: Floats) -> float | Floats:
        """Return the constant for given labels."""
        return self.shares[0]

    def log_prob(self, y: Floats, f: Floats) -> Floats:
        clean = self.clean_log_prob(y, f)
        if not self.lapse:
            return clean
        return np.logaddexp(np.log(self.constant(y)), np.log(self.shares[1]) + clean)

    def tilted(self, y: Floats, mean: Floats, var: Floats) -> Tilted:
        clean = self.clean_tilted(y, mean, var)
        return mixed(clean, self.constant(y), self.shares[1])[0] if self.lapse else clean

    def tilted_power(self, y: Floats, mean: Floats, var: Floats, weight: Floats) -> Tilted:
        if not self.lapse:
            return self.clean_power(y, mean, var, weight)
        found, var, plain = np.empty((3, len(mean))), np.asarray(var), self.in_noise()
        weight = np.broadcast_to(weight, mean.shape)
        few = np.where((weight <= _FEW) & (weight == np.rint(weight)), weight, 0.0)
        for times in np.unique(few).tolist():
            at = np.flatnonzero(few == times)
            rows = self.take(at), y[at], mean[at], var[at]
            found[:, at] = _repeated(*rows, int(times)) if times else _two_modes(plain, *rows[1:], weight[at])
        return Tilted(*found)

    def d_log_z(self, y: Floats, mean: Floats, var: Floats) -> Floats:
        r"""Gradient of log Z in theta, in the lapse the last.

        With a the constant of the label,

        .. math:: \frac{\partial \log Z}{\partial \epsilon}
                  = \frac{1}{Z} \Bigl(\frac{a}{\epsilon} - \frac{C}{C - 1} Z_0\Bigr).
        """
        slopes = self.clean_slopes(y, mean, var)
        if self.lapse:
            clean, each = self.clean_tilted(y, mean, var), self.constant(y)
            tilted, share = mixed(clean, each, self.shares[1])
            slopes = {name: share * slope for name, slope in slopes.items()}
            falls = (1.0 - self.shares[1]) / self.lapse * np.exp(clean.log_z - tilted.log_z)
            slopes["lapse"] = each / self.lapse * np.exp(-tilted.log_z) - falls
        return self._gradient(slopes)


def _two_modes(
    in_noise: tuple[Lapsing, float, float, float], y: Floats, mean: Floats, var: Floats, weight: Floats
) -> Tilted:
    """Moments of any power, by quadrature."""
    plain, slope, centre, width = in_noise
    log_z, g, nu = two_mode_moments(plain.log_prob, y, slope * (mean - centre), slope**2 * var, weight, width)
    return Tilted(log_z, slope * g, slope**2 * nu)


def _repeated(likelihood: Lapsing, y: Floats, mean: Floats, var: Floats, times: int) -> Tilted:
    r"""Moments of a row that is there k times, by powers of labels that are right.

    .. math:: (a + b p_0)^k = \sum_j \binom{k}{j} a^{k - j} b^j p_0^j, \qquad
              g = \sum_j r_j g_j, \qquad \nu = \sum_j r_j \nu_j - \sum_j r_j (g_j - g)^2

    with the share :math:`r_j` of each term in Z.
    """
    nothing, log_each, log_rest = np.zeros(len(y)), np.log(likelihood.constant(y)), np.log(likelihood.shares[1])
    clean = replace(likelihood, lapse=0.0)
    parts = [Tilted(nothing, nothing, nothing), clean.tilted(y, mean, var)]
    parts += [clean.tilted_power(y, mean, var, np.full(len(y), float(j))) for j in range(2, times + 1)]
    log_z, g, nu = (np.array(each) for each in zip(*parts, strict=True))
    j = np.arange(times + 1)[:, None]
    terms = np.log(comb(times, j)) + (times - j) * log_each + j * log_rest + log_z
    total = np.logaddexp.reduce(terms, axis=0)
    with np.errstate(under="ignore"):
        share = np.exp(terms - total)
        mean_g = (share * g).sum(axis=0)
        return Tilted(total, mean_g, (share * (nu - (g - mean_g) ** 2)).sum(axis=0))


def most_lapse(n_labels: int) -> float:
    """Share of wrong labels with which labels say nothing."""
    return 1.0 - 1.0 / n_labels


def checked_lapse(name: str, lapse: object, n_labels: int) -> float:
    """Return a lapse that can be one; refuse any other."""
    most = most_lapse(n_labels)
    if not (isinstance(lapse, Real) and 0.0 <= float(lapse) < most):
        raise ParameterError(
            f"{name}: lapse must be a number from 0 to below {most:g}, where labels say nothing, got {lapse!r}"
        )
    return float(lapse)


def shares_of(lapse: float, n_labels: int) -> tuple[float, float]:
    """Return the constant of a label, and what the probability of one that is right is multiplied with."""
    each = lapse / (n_labels - 1)
    return each, 1.0 - each * n_labels


def mixed(clean: Tilted, each: float | Floats, rest: float) -> tuple[Tilted, Floats]:
    r"""Moments where a constant is added to a multiple of a likelihood, and the share r that the latter has in Z.

    .. math:: Z = a + k Z_0, \qquad r = \frac{k Z_0}{Z}, \qquad g = r g_0, \qquad \nu = r \nu_0 - r (1 - r) g_0^2
    """
    log_rest = np.log(rest) + clean.log_z
    log_z = np.logaddexp(np.log(each), log_rest)
    with np.errstate(under="ignore"):
        share, constant = np.exp(log_rest - log_z), np.exp(np.log(each) - log_z)
        g = share * clean.g
        return Tilted(log_z, g, share * clean.nu - constant * g * clean.g), share
