"""Likelihoods of a class label given one latent value for each class."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._types import Floats, Rows
from ..numerics.parameters import Parametrised
from ..numerics.transforms import IDENTITY, Transform
from .race import ClassMoments, Noise, moments, win_log_proba

__all__ = ["ClassLikelihood"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassLikelihood(Parametrised, ABC):
    """Noise model P(y | f_1, ..., f_C): the largest of f_c + bias_c + noise wins. An immutable value.

    Parameters
    ----------
    bias : array of shape (C,)
        A constant added to all of them changes nothing.
    """

    bias: Floats = field(default_factory=lambda: np.zeros(3))
    noise: ClassVar[Noise]

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

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        r"""Log normaliser of P(y | f) times independent N(f_c | mean_c, var_c), row by row, with derivatives.

        .. math:: \log Z, \qquad g_c = \frac{\partial \log Z}{\partial \mu_c}, \qquad
                  \nu_c = -\frac{\partial^2 \log Z}{\partial \mu_c^2}
        """
        return moments(self.noise, labels, mean + self.bias, var)

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        """Log probability of every class, shape (n, C), when the latent values are N(mean, var)."""
        return win_log_proba(self.noise, mean + self.bias, var)

    def d_log_z(self, tilted: ClassMoments) -> Floats:
        """Gradient of log Z in theta, shape (q, n): a bias is added to a mean."""
        return self._gradient({"bias": tilted.g.T})
