"""Precisions of the kernel by GR06's variational importance sampler (section 4.4)."""

import numpy as np
from scipy.linalg import solve_triangular

from infovec.inference.bound import maximise_bound, project
from infovec.kernels import RBF
from infovec.likelihoods.classes import MultivariateProbit

from .classes import from_precision

__all__ = ["sample_precisions"]

_VAGUE = 1e-3  # sigma and tau of the prior on the rates
_JITTER = 1e-6


def sample_precisions(
    X: np.ndarray, y: np.ndarray, each: bool, samples: int, rng: np.random.Generator, rise: float = 0.01, most: int = 20
) -> RBF:
    """Iterate GR06 eq. 4.6 to 4.8 until the bound rises by less than the share ``rise``.

    Precisions are drawn from exponential distributions and weighted by the prior density of the posterior means; their
    weighted mean is the next estimate. ``each`` has one for every column.
    """
    phi = np.ones(X.shape[1] if each else 1)
    likelihood, rows = MultivariateProbit(np.zeros(y.max() + 1)), np.arange(len(y))
    best, kernel = -np.inf, from_precision(phi if each else float(phi[0]))
    for _ in range(most):
        found = maximise_bound(project(kernel, likelihood.n_classes, X, rows), y, likelihood, tolerance=1e-3)
        if found.bound < best + rise * abs(best):
            break
        best = found.bound
        psi = (_VAGUE + 1.0) / (_VAGUE + phi)  # eq. 4.8
        drawn = rng.exponential(1.0 / psi, (samples, len(phi)))
        log_weights = np.array([_log_density(found.mean, X, one if each else float(one[0])) for one in drawn])
        weights = np.exp(log_weights - log_weights.max())
        phi = weights @ drawn / weights.sum()  # eq. 4.5, 4.7
        kernel = from_precision(phi if each else float(phi[0]))
    return kernel


def _log_density(mean: np.ndarray, X: np.ndarray, phi: float | np.ndarray) -> float:
    """Log density of the means of all classes under the prior."""
    K = from_precision(phi)(X)
    K[np.diag_indices(len(K))] += _JITTER
    L = np.linalg.cholesky(K)
    half = solve_triangular(L, mean, lower=True)
    return -0.5 * float(np.sum(half**2)) - mean.shape[1] * float(np.log(np.diagonal(L)).sum())
