"""Covariances of the latent functions of a posterior between rows."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Inputs
from ..posterior import ClassPosterior, Posterior, SeparatePosterior

__all__ = ["Covariances", "functions"]


def functions(posterior: Posterior) -> Sequence[Posterior]:
    """Return the posterior of every latent function."""
    return posterior.parts if isinstance(posterior, ClassPosterior | SeparatePosterior) else (posterior,)


class Covariances:
    """Covariances of one function between some rows and others.

    Parameters
    ----------
    posterior : Posterior
        Of one function.
    X : inputs
    """

    def __init__(self, posterior: Posterior, X: Inputs) -> None:
        self.posterior, self.X = posterior, X
        self.A, self.B = self._features(X)

    def _features(self, X: Inputs) -> tuple[Floats, Floats]:
        blocks = [self.posterior.features(K) for _, K in self.posterior.blocks(X)]
        if not blocks:
            return np.zeros((X.shape[0], 0)), np.zeros((X.shape[0], 0))
        return np.concatenate([A for A, _ in blocks]), np.concatenate([B for _, B in blocks])

    def with_rows(self, X: Inputs) -> Floats:
        """Covariances between other rows and these, shape (n, m)."""
        A, B = self._features(X)
        K = np.asarray(self.posterior.kernel(X, self.X), dtype=np.float64)
        return np.asarray(K - A @ self.A.T + B @ self.B.T)

    def with_row(self, row: int) -> Floats:
        """Covariances between these rows and one of them, shape (m,)."""
        kernel, X = self.posterior.kernel, self.X
        K = np.asarray(kernel(X, X[row : row + 1]), dtype=np.float64)[:, 0]
        K[row] = float(np.asarray(kernel.diag(X[row : row + 1]))[0])  # a row with itself: white noise counts
        return np.asarray(K - self.A @ self.A[row] + self.B @ self.B[row])
