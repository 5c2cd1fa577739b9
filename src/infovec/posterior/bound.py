"""The fitted model: one latent function for each class, seen through the active rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._types import Floats, Inputs, Rows
from ..likelihoods.classes import MultivariateProbit
from .base import Posterior

__all__ = ["VariationalPosterior"]


@dataclass(frozen=True, eq=False, repr=False)
class VariationalPosterior:
    """Independent Gaussian processes, one for each class, and the probit race between them.

    Parameters
    ----------
    parts : tuple of Posterior
        One for each class.
    likelihood : MultivariateProbit
    active : array of int
        Training rows, in order of inclusion; the same for all classes.
    bound : float
        Lower bound on the log marginal likelihood: of all rows when they all have a say, else of the active ones.
    shared : bool
        Whether all parts have the same variance everywhere: one kernel, one active set, unit noise.
    converged : bool
    """

    parts: tuple[Posterior, ...]
    likelihood: MultivariateProbit
    active: Rows
    bound: float
    shared: bool
    converged: bool = True

    @cached_property
    def _weights(self) -> Floats:
        return np.column_stack([part.weights for part in self.parts])

    def predict_latent(self, X: Inputs) -> tuple[Floats, Floats]:
        """Means and variances of the latent functions, without biases, both of shape (n, C) (GR06 4.5)."""
        if self.shared:
            mean, var = self.parts[0].predict_several(X, self._weights)
            return mean, np.repeat(var[:, None], len(self.parts), axis=1)
        columns = [part.predict(X) for part in self.parts]
        return np.column_stack([m for m, _ in columns]), np.column_stack([v for _, v in columns])

    def predict_log_proba(self, X: Inputs) -> Floats:
        """Log probabilities of the classes, shape (n, C) (GR06 appendix B)."""
        return self.likelihood.log_proba(*self.predict_latent(X))

    def __repr__(self) -> str:
        return (
            f"VariationalPosterior({len(self.parts)} classes, {len(self.active)} active rows, bound={self.bound:.6g})"
        )
