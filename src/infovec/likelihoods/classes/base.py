"""Likelihoods of a class label given one latent value for each class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import log_softmax

from ..._types import Floats, Rows
from ...errors import ParameterError
from ...numerics.parameters import Parametrised
from ...numerics.roles import Role
from ...numerics.transforms import IDENTITY, Rate, Transform
from ..base import Tilted
from ..lapse import checked_lapse, mixed, most_lapse, shares_of
from .winner import ClassMoments, Noise, moments, win_log_proba

__all__ = ["ClassLikelihood", "RaceLikelihood"]

_KNOWN = 1e-12  # variance of a function that is known


@dataclass(frozen=True, eq=False, repr=False)
class ClassLikelihood(Parametrised, ABC):
    r"""Noise model P(y | f_1, ..., f_C) of labels 0, ..., C - 1. An immutable value.

    Labels may be wrong; then each of the others is as likely. With :math:`P_0` what the functions say of a label that
    is right,

    .. math:: P(y) = \frac{\epsilon}{C - 1} + \Bigl(1 - \frac{C \epsilon}{C - 1}\Bigr) P_0(y)

    Parameters
    ----------
    bias : array of shape (C,)
        Added to the latent values.
    power : float
        Probabilities of new rows are raised to it, and normalised. The posterior does not know it: it makes up for what
        the approximation gets wrong about the certainty of predictions (see ``calibrated``).
    spread : float
        Share of the latent variances that counts for the probabilities of new rows; one unless calibrated too.
    weight : array of shape (n_rows,), optional
        How many times each training row counts: the power to which its likelihood is raised.
    lapse : float
        epsilon, the probability that a label is wrong. Zero stays zero, any other is learned too. The power and the
        spread are those of labels that are right.
    """

    bias: Floats = field(default_factory=lambda: np.zeros(3))
    power: float = 1.0
    spread: float = 1.0
    weight: Floats | None = None
    lapse: float = field(default=0.0, kw_only=True)
    spreads: ClassVar[bool] = False
    """Whether ``spread`` is calibrated as well as ``power``, for which predictions must cost little."""
    spare: ClassVar[str] = "lapse"
    """A parameter, the last, that is zero unless it is given, or found to be needed; none if empty."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        if np.ndim(self.bias) != 1 or len(self.bias) < 2:
            raise ParameterError(f"{name}: bias must be an array of one number for each of two classes or more")
        object.__setattr__(self, "lapse", checked_lapse(name, self.lapse, len(self.bias)))
        super().__post_init__()
        if self.lapse and self.spare != "lapse":
            raise ParameterError(f"{name} has no lapse; classes whose labels are all known have one")
        for field_name in ("power", "spread"):
            value = getattr(self, field_name)
            if not (isinstance(value, int | float) and 0.0 < value < 1e100):  # times a logarithm it must be finite
                raise ParameterError(f"{name}: {field_name} must be a positive number below 1e100, got {value!r}")
        if self.weight is not None:
            weight = np.asarray(self.weight, dtype=np.float64)
            if weight.ndim != 1 or not np.all((weight >= 0.0) & (weight < np.inf)):
                raise ParameterError(f"{name}: weight must be one finite number from 0 for each training row")

    roles: ClassVar[Mapping[str, Role]] = {"bias": Role.BIAS, "lapse": Role.FREE}

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """That of the biases, and of the lapse where there is one."""
        lapse = {"lapse": Rate(most_lapse(self.n_classes))} if self.lapse else {}
        return {"bias": IDENTITY, **lapse}

    @property
    def shares(self) -> tuple[float, float]:
        """What the probability of a class is made of: a constant, and a multiple of that of a label that is right."""
        return shares_of(self.lapse, self.n_classes)

    def with_lapse(self, lapse: float) -> Self:
        """Return the same with another probability that a label is wrong."""
        return replace(self, lapse=float(lapse))

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.bias)

    @abstractmethod
    def log_prob(self, labels: Rows, f: Floats) -> Floats:
        """Log P(y | f) of labels of shape (n,) and latent values of shape (n, C)."""

    @abstractmethod
    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        r"""Log normaliser of P(y | f) times independent N(f_c | mean_c, var_c), row by row, with derivatives.

        .. math:: \log Z, \qquad g_c = \frac{\partial \log Z}{\partial \mu_c}, \qquad
                  \nu_c = -\frac{\partial^2 \log Z}{\partial \mu_c^2}
        """

    @abstractmethod
    def log_weights(self, mean: Floats, var: Floats) -> Floats:
        """Log probability up to a constant of the row that a class is the right one, shape (n, C), before powers."""

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        """Log probability of every class, shape (n, C), when the latent values are N(mean, var)."""
        return self.of_weights(self.log_weights(mean, self.spread * var))

    def of_weights(self, log_weights: Floats) -> Floats:
        """Log probability of every class from what ``log_weights`` returns: raised to the power, some labels wrong."""
        right = np.asarray(log_softmax(self.power * log_weights, axis=1))
        if not self.lapse:
            return right
        each, rest = self.shares
        return np.logaddexp(np.log(each), np.log(rest) + right)

    def when_known(self, f: Floats) -> Floats:
        """Log probability of every class, shape (n, C), when the functions are known."""
        return self.log_proba(f, np.full(f.shape, _KNOWN))

    def log_predictive(self, labels: Rows, mean: Floats, var: Floats) -> Floats:
        """Log probability of the labels of new rows when the latent values are N(mean, var)."""
        return self.log_proba(mean, var)[np.arange(len(labels)), np.asarray(labels, dtype=np.intp)]

    def d_log_z(self, labels: Rows, mean: Floats, var: Floats, tilted: ClassMoments) -> Floats:
        r"""Gradient of log Z in theta, shape (q, n), where ``tilted`` is known: a bias is added to a mean.

        With :math:`a = \epsilon / (C - 1)`, :math:`k = 1 - C a` and :math:`Z_0 = (Z - a) / k`,

        .. math:: \frac{\partial \log Z}{\partial \epsilon} = \frac{1 - C Z_0}{(C - 1) Z}.
        """
        slopes = {"bias": tilted.g.T}
        if self.lapse:
            (each, rest), one = self.shares, np.exp(-tilted.log_z)
            slopes["lapse"] = (one - self.n_classes * (1.0 - each * one) / rest) / (self.n_classes - 1)
        return self._gradient(slopes)

    def take(self, rows: Rows) -> Self:
        """Return the likelihood of some training rows, which differ by their weights."""
        return self if self.weight is None else replace(self, weight=self.weight[rows])

    def weigh(self, weight: Floats | None) -> Self:
        """Return the likelihood whose rows have weights."""
        return replace(self, weight=weight)

    @property
    def copies(self) -> float | Floats:
        """Of how many equal sites the one of each training row is made, when ``tilted`` is about one of them."""
        return 1.0

    def label_noise(self, mean: Floats, var: Floats) -> Floats:
        """Raise: labels without an order have no standard deviation."""
        raise ParameterError(
            "classes without an order have no standard deviation of the label; see predict_proba for what is uncertain"
        )

    def check_targets(self, labels: Rows) -> None:
        """Labels are made by whoever uses this."""

    def for_new_rows(self) -> Self:
        """Return the likelihood of rows that are not training rows."""
        return self if self.weight is None else replace(self, weight=None)


@dataclass(frozen=True, eq=False, repr=False)
class RaceLikelihood(ClassLikelihood):
    """The class wins whose latent value plus bias plus noise is the largest."""

    noise: ClassVar[Noise]

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        right = moments(self.noise, labels, mean + self.bias, var)
        if not self.lapse:
            return right
        log_z, *each = (np.asarray(part).T for part in right)
        found, _ = mixed(Tilted(log_z, *each), *self.shares)
        return ClassMoments(found.log_z, found.g.T, found.nu.T)

    def log_prob(self, labels: Rows, f: Floats) -> Floats:
        right = self.log_prob_of_right(labels, f)
        if self.lapse:
            each, rest = self.shares
            right = np.logaddexp(np.log(each), np.log(rest) + right)
        return self.copies * right

    def when_known(self, f: Floats) -> Floats:
        each = [self.log_prob_of_right(np.full(len(f), c), f) for c in range(self.n_classes)]
        return self.of_weights(np.stack(each, axis=1))

    @abstractmethod
    def log_prob_of_right(self, labels: Rows, f: Floats) -> Floats:
        """Log P(y | f) of labels that are right, once whatever the weights."""

    @property
    def copies(self) -> float | Floats:
        return 1.0 if self.weight is None else self.weight

    def log_weights(self, mean: Floats, var: Floats) -> Floats:
        return win_log_proba(self.noise, mean + self.bias, var)
