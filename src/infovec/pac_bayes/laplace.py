"""Laplace's approximation to Gaussian process classification with all rows active, and its certificate."""

import numpy as np
from scipy.linalg import cholesky
from scipy.special import expit

from .._types import Array, Floats
from ..errors import NotConverged, ParameterError
from ..kernels import Kernel
from ..numerics.cholesky import solve_lower
from ..posterior import FactorisedPosterior
from .certificate import Certificate, Observed, certificate
from .priors import latent
from .rules import votes_of_two

__all__ = ["certified_laplace", "laplace_posterior"]

_STEPS, _TOLERANCE = 100, 1e-10  # of Newton's method; gain of the objective for each row


def laplace_posterior(kernel: Kernel, X: Floats, y: Floats) -> FactorisedPosterior:
    r"""Gaussian at the mode of the posterior, with logistic noise (Thesis 3.3.2, 2.15); O(n^3).

    .. math:: \pi_i = s_i (1 - s_i), \qquad m_i = u_i + \frac{y_i s(-y_i u_i)}{\pi_i}, \qquad s_i = s(u_i)

    are the sites that give this Gaussian, where s is the logistic function and u the mode.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, p)
    y : array of shape (n,)
        -1 and 1.
    """
    K = np.asarray(kernel(kernel.in_double(X)), dtype=np.float64)
    a, u, value = np.zeros(len(y)), np.zeros(len(y)), -len(y) * np.log(2.0)
    for _ in range(_STEPS):
        share, root, L = _curvature(K, u)
        b = root**2 * u + 0.5 * (y + 1.0) - share
        step = b - root * solve_lower(L, solve_lower(L, root * (K @ b)), transposed=True) - a
        length, along = 1.0, K @ step
        while (after := _objective(a + length * step, u + length * along, y)) < value and length > 1e-6:
            length *= 0.5
        a, u = a + length * step, u + length * along
        if after - value < _TOLERANCE * len(y):
            return _posterior(kernel, X, K, u, y)
        value = after
    raise NotConverged(f"the mode of the posterior was not found in {_STEPS} steps; look at the kernel {kernel!r}")


def certified_laplace(kernel: Kernel, X: Array, y: Array, delta: float = 0.01) -> Certificate:
    """Return the certificate of Laplace's approximation to a Gaussian process classifier (Thesis 3.3.2).

    It is there for comparison: time grows with the third power of the rows, memory with the second.

    Parameters
    ----------
    kernel : Kernel
        Chosen without these rows.
    X : array of shape (n, p)
    y : array of shape (n,)
        Labels of two classes.
    delta : float
    """
    classes, own = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise ParameterError(f"y has {len(classes)} classes; Laplace's approximation is for two")
    X = np.asarray(X, dtype=np.float64)
    posterior = laplace_posterior(kernel, X, 2.0 * own - 1.0)
    mean, var = latent(posterior, X)
    observed = Observed(votes_of_two(mean[:, 0], var[:, 0]), own, posterior.relative_entropy())
    return certificate(observed, delta, classes)


def _objective(a: Floats, u: Floats, y: Floats) -> float:
    return float(-0.5 * a @ u - np.sum(np.logaddexp(0.0, -y * u)))


def _curvature(K: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
    """Return s, the roots of the precisions, and the factor of B."""
    share = np.clip(expit(u), 1e-15, 1.0 - 1e-15)
    root = np.sqrt(share * (1.0 - share))
    B = root[:, None] * K
    B *= root
    B[np.diag_indices(len(u))] += 1.0
    return share, root, cholesky(B, lower=True, overwrite_a=True, check_finite=False)


def _posterior(kernel: Kernel, X: Floats, K: Floats, u: Floats, y: Floats) -> FactorisedPosterior:
    share, root, L = _curvature(K, u)
    site_mean = u + (0.5 * (y + 1.0) - share) / root**2
    return FactorisedPosterior(kernel, X, root**2, site_mean, L, solve_lower(L, root * site_mean))
