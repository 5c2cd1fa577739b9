"""The posterior of Laplace's approximation for several classes, whose functions are not independent."""

from dataclasses import dataclass

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
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
    kernels : tuple of Kernel
        One for each class, where these differ.
    """

    slopes: Floats
    E: Floats
    G: Floats
    sign: float
    kernels: tuple[Kernel, ...] = ()

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
            for c, own in enumerate(self._each(X[part], K)):
                found[part, c] = own @ self.slopes[:, c]
        return found

    def _each(self, X: Inputs, K: Floats) -> list[Floats]:
        """Covariances of new inputs with the training rows in every class; K are those of the first one."""
        more = [kernel(X, self.X) for kernel in self.kernels[1:]]
        return [K, *more] if more else [K] * len(self.G)

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
            each = self._each(X[part], K)
            mean[part] = np.column_stack([own @ a for own, a in zip(each, self.slopes.T, strict=True)])
            H = np.stack([G @ own.T for G, own in zip(self.G, each, strict=True)])  # (C, r, b)
            cov[part] = -self.sign * np.einsum("crm,drm->mcd", H, H, optimize=True)
            for c, E in enumerate(self.E):
                cov[part, c, c] -= np.einsum("mn,mn->m", each[c] @ E, each[c])
        own_var = [np.asarray(kernel.diag(X), dtype=np.float64) for kernel in self.kernels or (self.kernel,)]
        cov[:, at, at] += np.stack(own_var, axis=1)
        return mean, cov
