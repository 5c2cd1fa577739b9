"""The posterior of Laplace's approximation for several classes, whose functions are not independent."""

from dataclasses import dataclass

import numpy as np

from .._types import Floats, Inputs
from .base import Posterior

__all__ = ["ModePosterior"]


@dataclass(frozen=True, repr=False)
class ModePosterior(Posterior):
    r"""A normal posterior around its mode, with covariances between the classes.

    .. math:: \mu_c(x) = k(x)^T a_c, \qquad V[f_c, f_{c'}] = \delta_{cc'} k(x, x) - k(x)^T M_{cc'} k(x), \qquad
              M_{cc'} = \delta_{cc'} E_c + s \, G_c^T G_{c'}

    Parameters
    ----------
    kernel : Kernel
    X : inputs of all training rows
    slopes : array of shape (n, C)
        a, the slope of the log likelihood at the mode.
    E : array of shape (C, n, n), or (0, n, n) if there is none
    G : array of shape (C, r, n)
    sign : float
        s.
    """

    slopes: Floats
    E: Floats
    G: Floats
    sign: float

    @property
    def weights(self) -> Floats:
        """Weights of the means, shape (n, C)."""
        return self.slopes

    @property
    def reduction(self) -> Floats:
        """Matrices of what is known beside the classes themselves, shape (C, r, n)."""
        return self.G

    def mean(self, X: Inputs) -> Floats:
        """Latent means at new inputs, shape (n, C)."""
        found = np.zeros((X.shape[0], self.slopes.shape[1]))
        for part, K in self.blocks(X):
            found[part] = K @ self.slopes
        return found

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means and variances at new inputs, both of shape (n, C)."""
        mean, cov = self.predict_cov(X)
        return mean, np.maximum(np.einsum("ncc->nc", cov), 0.0)

    def predict_cov(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent means, shape (n, C), and covariances of the classes, shape (n, C, C), at new inputs."""
        C = len(self.G)
        mean, cov = np.zeros((X.shape[0], C)), np.zeros((X.shape[0], C, C))
        at = np.arange(C)
        for part, K in self.blocks(X):
            mean[part] = K @ self.slopes
            H = self.G @ K.T  # (C, r, b)
            cov[part] = -self.sign * np.einsum("crm,drm->mcd", H, H, optimize=True)
            for c, E in enumerate(self.E):
                cov[part, c, c] -= np.einsum("mn,mn->m", K @ E, K)
        cov[:, at, at] += np.asarray(self.kernel.diag(X), dtype=np.float64)[:, None]
        return mean, cov
