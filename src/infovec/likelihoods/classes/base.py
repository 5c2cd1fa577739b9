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
from ...numerics.transforms import IDENTITY, Transform
from .winner import ClassMoments, Noise, moments, win_log_proba

__all__ = ["ClassLikelihood", "RaceLikelihood"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassLikelihood(Parametrised, ABC):
    """Noise model P(y | f_1, ..., f_C) of labels 0, ..., C - 1. An immutable value.

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
    """

    bias: Floats = field(default_factory=lambda: np.zeros(3))
    power: float = 1.0
    spread: float = 1.0
    weight: Floats | None = None
    spreads: ClassVar[bool] = False
    """Whether ``spread`` is calibrated as well as ``power``, for which predictions must cost little."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if np.ndim(self.bias) != 1 or len(self.bias) < 2:
            raise ParameterError(f"{name}: bias must be an array of one number for each of two classes or more")
        for field_name in ("power", "spread"):
            value = getattr(self, field_name)
            if not (isinstance(value, int | float) and 0.0 < value < 1e100):  # times a logarithm it must be finite
                raise ParameterError(f"{name}: {field_name} must be a positive number below 1e100, got {value!r}")
        if self.weight is not None:
            weight = np.asarray(self.weight, dtype=np.float64)
            if weight.ndim != 1 or not np.all((weight >= 0.0) & (weight < np.inf)):
                raise ParameterError(f"{name}: weight must be one finite number from 0 for each training row")

    transforms: ClassVar[Mapping[str, Transform]] = {"bias": IDENTITY}
    roles: ClassVar[Mapping[str, Role]] = {"bias": Role.BIAS}

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
        """Log probability of every class up to a constant of the row, shape (n, C), whatever the power."""

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        """Log probability of every class, shape (n, C), when the latent values are N(mean, var)."""
        return np.asarray(log_softmax(self.power * self.log_weights(mean, self.spread * var), axis=1))

    def log_predictive(self, labels: Rows, mean: Floats, var: Floats) -> Floats:
        """Log probability of the labels of new rows when the latent values are N(mean, var)."""
        return self.log_proba(mean, var)[np.arange(len(labels)), np.asarray(labels, dtype=np.intp)]

    def d_log_z(self, labels: Rows, mean: Floats, var: Floats, tilted: ClassMoments) -> Floats:
        """Gradient of log Z in theta, shape (q, n), where ``tilted`` is known: a bias is added to a mean."""
        return self._gradient({"bias": tilted.g.T})

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
        return moments(self.noise, labels, mean + self.bias, var)

    @property
    def copies(self) -> float | Floats:
        return 1.0 if self.weight is None else self.weight

    def log_weights(self, mean: Floats, var: Floats) -> Floats:
        return win_log_proba(self.noise, mean + self.bias, var)
