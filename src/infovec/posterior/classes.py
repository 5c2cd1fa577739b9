"""The projected posterior of many classes: functions that share a kernel and an active set."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._types import Floats, Inputs
from .base import Posterior
from .factorised import FactorisedPosterior
from .projected import ProjectedPosterior

__all__ = ["ClassPosterior", "SeparatePosterior"]


@dataclass(frozen=True, repr=False)
class ClassPosterior(Posterior):
    """C posterior processes with one kernel and one active set, independent given the sites.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of the active rows, in order of inclusion
    L : array of shape (d, d)
        Factor of their prior covariance.
    Q : array of shape (C, d, d)
    beta : array of shape (C, d)
        As in ProjectedPosterior, for every class.
    """

    L: Floats
    Q: Floats
    beta: Floats

    @cached_property
    def parts(self) -> tuple[ProjectedPosterior, ...]:
        """The posterior of every class."""
        return tuple(
            ProjectedPosterior(self.kernel, self.X, self.L, Q, beta) for Q, beta in zip(self.Q, self.beta, strict=True)
        )

    @cached_property
    def weights(self) -> Floats:
        """Weights of the means, shape (d, C)."""
        return np.stack([part.weights for part in self.parts], axis=1)

    @cached_property
    def reduction(self) -> Floats:
        """Matrices of the reductions of variance, shape (C, d, d)."""
        return np.stack([part.reduction for part in self.parts])

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, shape (n, C)."""
        mean = np.zeros((X.shape[0], len(self.Q)))
        for part, K in self.blocks(X):
            mean[part] = K @ self.weights
        return mean

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and variances at new inputs, both of shape (n, C)."""
        mean = np.zeros((X.shape[0], len(self.Q)))
        var = np.tile(np.asarray(self.kernel.diag(X), dtype=np.float64)[:, None], (1, len(self.Q)))
        for part, K in self.blocks(X):
            mean[part] = K @ self.weights
            for c, one in enumerate(self.parts):
                var[part, c] = one.variance(K, var[part, c])
        return mean, var

    def relative_entropy(self) -> float:
        """Relative entropy to the prior, in nats, of all classes together."""
        return sum(part.relative_entropy() for part in self.parts)


@dataclass(frozen=True, repr=False)
class SeparatePosterior(Posterior):
    """C independent posterior processes, each with an active set of its own.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of all rows that are active for some class
    parts : tuple of FactorisedPosterior or ProjectedPosterior
        One for each class.
    """

    parts: tuple[FactorisedPosterior | ProjectedPosterior, ...]

    @property
    def weights(self) -> list[Floats]:  # type: ignore[override]
        """Weights of the means, one array for each class."""
        return [part.weights for part in self.parts]

    @property
    def reduction(self) -> list[Floats]:  # type: ignore[override]
        """Matrices of the reductions of variance, one for each class."""
        return [part.reduction for part in self.parts]

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, shape (n, C)."""
        return np.column_stack([part.mean(X) for part in self.parts])

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and variances at new inputs, both of shape (n, C)."""
        mean, var = zip(*(part.predict(X) for part in self.parts), strict=True)
        return np.column_stack(mean), np.column_stack(var)

    def relative_entropy(self) -> float:
        """Relative entropy to the prior, in nats, of all classes together."""
        return sum(part.relative_entropy() for part in self.parts)
