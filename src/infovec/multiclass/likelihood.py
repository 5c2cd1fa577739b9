"""Likelihoods of a class label given one latent value for each class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from .._types import Floats, Rows
from ..numerics.parameters import Parametrised
from ..numerics.transforms import IDENTITY, Transform
from .race import ClassMoments, Noise, moments, win_log_proba

__all__ = ["ClassLikelihood", "RaceLikelihood"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassLikelihood(Parametrised, ABC):
    """Noise model P(y | f_1, ..., f_C) of labels 0, ..., C - 1. An immutable value.

    Parameters
    ----------
    bias : array of shape (C,)
        Added to the latent values.
    """

    bias: Floats = field(default_factory=lambda: np.zeros(3))
    couples: ClassVar[bool] = True
    """Whether a shift of the latent values of all classes changes nothing."""

    @property
    def transforms(self) -> Mapping[str, Transform]:
        return {"bias": IDENTITY}

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
    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        """Log probability of every class, shape (n, C), when the latent values are N(mean, var)."""

    def d_log_z(self, tilted: ClassMoments) -> Floats:
        """Gradient of log Z in theta, shape (q, n): a bias is added to a mean."""
        return self._gradient({"bias": tilted.g.T})

    def take(self, rows: Rows) -> Self:
        """Return the likelihood of some training rows: the same for all."""
        return self

    def check_targets(self, labels: Rows) -> None:
        """Labels are made by whoever uses this."""

    def for_new_rows(self) -> Self:
        """Return the likelihood of rows that are not training rows."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class RaceLikelihood(ClassLikelihood):
    """The class wins whose latent value plus bias plus noise is the largest."""

    noise: ClassVar[Noise]

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        return moments(self.noise, labels, mean + self.bias, var)

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        return win_log_proba(self.noise, mean + self.bias, var)
