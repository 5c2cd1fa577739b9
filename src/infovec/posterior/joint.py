"""The posterior of several new inputs together: means and covariances."""

from collections.abc import Iterable

import numpy as np

from .._types import Floats, Inputs
from .auxiliary import AuxiliaryPosterior, DrawnPosterior
from .base import Posterior
from .classes import ClassPosterior, SeparatePosterior
from .mode import ModePosterior

__all__ = ["draw_normal", "joint"]

_ROUNDING = 1e-10  # of the mean variance, that may be added to it


def joint(posterior: Posterior, X: Inputs) -> tuple[Floats, Floats]:
    r"""Mean of the latent function at new inputs, (n,), and their covariance, (n, n); of C functions (n, C), (C, n, n).

    .. math:: \mathrm{Cov}(f(x), f(z)) = k(x, z) - A_x^T A_z + B_x^T B_z

    with the features A and B of ``Posterior.features``. Its diagonal is the variance of ``Posterior.predict``.

    Parameters
    ----------
    posterior : Posterior
    X : inputs
    """
    if isinstance(posterior, ClassPosterior | SeparatePosterior):
        found = [joint(part, X) for part in posterior.parts]
        return np.stack([mean for mean, _ in found], axis=1), np.stack([cov for _, cov in found])
    if isinstance(posterior, DrawnPosterior):
        return _mixed(joint(part, X) for part in posterior.parts)
    if isinstance(posterior, AuxiliaryPosterior):
        return _auxiliary(posterior, X)
    if isinstance(posterior, ModePosterior):
        return _mode(posterior, X)
    K = _to_active(posterior, X)
    A, B = posterior.features(K)
    return K @ posterior.weights, _itself(posterior, X) - A @ A.T + B @ B.T


def _itself(posterior: Posterior, X: Inputs) -> Floats:
    return np.array(posterior.kernel(posterior.kernel.in_double(X)), dtype=np.float64)


def _to_active(posterior: Posterior, X: Inputs) -> Floats:
    blocks = [K for _, K in posterior.blocks(X)]
    return np.concatenate(blocks) if blocks else np.zeros((X.shape[0], posterior.X.shape[0]))


def _auxiliary(posterior: AuxiliaryPosterior, X: Inputs) -> tuple[Floats, Floats]:
    K = _to_active(posterior, X)
    stubs = K @ posterior.reduction.T
    means = np.einsum("nd,sdc->scn", K, posterior.force, optimize=True)
    shared = _itself(posterior, X) - stubs @ stubs.T
    mean, apart = means.mean(axis=0), means - means.mean(axis=0)
    cov = shared + np.einsum("scn,scm->cnm", apart, apart, optimize=True) / len(means)
    return (mean[0], cov[0]) if len(mean) == 1 else (mean.T, cov)


def _mode(posterior: ModePosterior, X: Inputs) -> tuple[Floats, Floats]:
    K, own = _to_active(posterior, X), _itself(posterior, X)
    H = posterior.G @ K.T
    cov = own - posterior.sign * np.einsum("crn,crm->cnm", H, H, optimize=True)
    for c, E in enumerate(posterior.E):
        cov[c] -= K @ E @ K.T
    return K @ posterior.slopes, cov


def _mixed(parts: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Mean and covariance of a mixture of equal parts."""
    means, covs = (np.stack(column) for column in zip(*parts, strict=True))
    mean, apart = means.mean(axis=0), means - means.mean(axis=0)
    shape = "sn,sm->nm" if means.ndim == 2 else "snc,smc->cnm"
    return mean, covs.mean(axis=0) + np.einsum(shape, apart, apart, optimize=True) / len(means)


def draw_normal(mean: Floats, cov: Floats, standard: Floats) -> Floats:
    r"""Draws of a normal distribution from standard normal numbers of shape (n, S); shape (n, S).

    .. math:: f = \mu + L z, \qquad L L^T = \Sigma
    """
    size = _ROUNDING * float(np.mean(np.diagonal(cov))) if len(cov) else 0.0
    try:
        root = np.linalg.cholesky(cov + size * np.eye(len(cov)))
    except np.linalg.LinAlgError:  # rounding has made some eigenvalue negative
        values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean[:, None] + root @ standard)
