"""Length scales by the variational importance sampler (GR06 4.3, 4.4)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats, Inputs, Rows
from ..errors import NotPositiveDefinite, ParameterError
from ..inference.bound import Optimum, Race, maximise_bound, project
from ..kernels import Kernel
from ..numerics.cholesky import beyond_identity, factorise
from ..numerics.roles import Role
from ..runtime import check

__all__ = ["HYPERPRIOR", "WEIGHTS", "Sampled", "precisions_of", "sample_precisions", "with_precisions"]

HYPERPRIOR = (1e-3, 1e-3)
"""Shape and rate of the gamma prior on the rates of the exponential ones: sigma and tau of GR06 6.1."""

WEIGHTS = ("auxiliary", "means")
"""What draws are weighted by: the marginal likelihood of the auxiliary variables, or the prior density of the means."""

_MEANS_JITTER = (1e-6, 1e-4)  # of the variance, for a density of means that are smooth
_SMALLEST = 1e-12  # precision, in the unit of its column
_TOLERANCE = 1e-3  # of the means


class Sampled(NamedTuple):
    r"""What the sampler found.

    Parameters
    ----------
    kernel : Kernel
        At the mean of the precisions.
    mean, std : array of shape (p,)
        Of the posterior of each precision, :math:`1 / (2 \ell^2)`.
    draws, weights : arrays of shape (S, p) and (S,)
        Of the last iteration.
    ess : array
        To how many equal weights the weights amount, in every iteration.
    bounds : array
        The variational bound at the precisions of every iteration, and
    path : array of shape (iterations, p)
        these precisions themselves.
    """

    kernel: Kernel
    mean: Floats
    std: Floats
    draws: Floats
    weights: Floats
    ess: Floats
    bounds: Floats
    path: Floats


def precisions_of(kernel: Kernel) -> Floats:
    r"""Precisions :math:`\varphi = 1 / (2 \ell^2)` of a kernel's length scales, one after the other."""
    return np.asarray(0.5 * np.exp(-2.0 * kernel.theta[_scales(kernel)]))


def with_precisions(kernel: Kernel, precisions: Floats) -> Kernel:
    """Return the kernel with other length scales."""
    theta = kernel.theta.copy()
    theta[_scales(kernel)] = -0.5 * np.log(2.0 * np.maximum(precisions, _SMALLEST))
    return kernel.with_theta(theta)


def _scales(kernel: Kernel) -> Rows:
    found = np.flatnonzero([role is Role.SCALE for role in kernel.free_roles])
    if not found.size:
        raise ParameterError(f"learn='importance' draws length scales, and {kernel!r} has none")
    return found


def sample_precisions(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: Race,
    rng: np.random.Generator,
    *,
    n_samples: int = 500,
    rise: float = 0.01,
    patience: int = 3,
    max_iterations: int = 50,
    weigh: str = "auxiliary",
    watch: Callable[[float, Floats], bool] | None = None,
) -> Sampled:
    r"""Iterate GR06 eq. 4.6 to 4.8: posterior means, weighted draws of the precisions, rates of their prior.

    .. math:: \varphi_d^s \sim \mathrm{Exp}(\psi_d), \qquad
              w_s \propto \prod_k N(\tilde y_k \mid 0, I + C_{\varphi^s}), \qquad
              \tilde\varphi = \sum_s w_s \varphi^s, \qquad \psi_d = \frac{\sigma + 1}{\tau + \tilde\varphi_d}

    These weights are those of a posterior :math:`Q(M, \varphi) Q(Y)`, with M integrated out. GR06 eq. 4.5 has
    :math:`N(\tilde m_k \mid 0, C_{\varphi^s})` (``weigh="means"``), from :math:`Q(M) Q(\varphi) Q(Y)` without the
    covariance of M: posterior means are smoother than what they are means of, and so are then the kernels.

    Parameters
    ----------
    X, labels
        Training rows.
    kernel : Kernel
        Whose length scales are drawn; they start as they are, and the rest stays.
    likelihood : MultivariateProbit or AgainstZero
    rng : Generator
    n_samples : int
    rise : float
        It ends when the bound has risen by less than this share of itself in ``patience`` iterations.
    max_iterations : int
    weigh : {"auxiliary", "means"}
    watch : callable, optional
        Told of the bound and the precisions in every iteration; a true answer ends it.
    """
    phi, rows = precisions_of(kernel), np.arange(len(labels))
    path, bounds, ess = list[Floats](), list[float](), list[float]()
    for _ in range(max_iterations):
        check()
        found = maximise_bound(
            project(with_precisions(kernel, phi), likelihood.n_classes, X, rows), labels, likelihood,
            tolerance=_TOLERANCE,
        )  # fmt: skip
        path.append(phi)
        bounds.append(found.bound)
        psi = (HYPERPRIOR[0] + 1.0) / (HYPERPRIOR[1] + phi)  # eq. 4.8
        draws = rng.exponential(1.0 / psi, (n_samples, len(phi)))
        weights = _weights(X, kernel, draws, found, weigh)
        ess.append(1.0 / float(np.sum(weights**2)))
        phi = weights @ draws  # eq. 4.5, 4.7
        if (watch is not None and watch(found.bound, phi)) or _settled(bounds, rise, patience):
            break
    std = np.sqrt(weights @ (draws - phi) ** 2)
    history = np.array(ess), np.array(bounds), np.array(path)
    return Sampled(with_precisions(kernel, phi), phi, std, draws, weights, *history)


def _settled(bounds: list[float], rise: float, patience: int) -> bool:
    if len(bounds) <= patience:
        return False
    before = max(bounds[:-patience])
    return max(bounds[-patience:]) < before + rise * abs(before)


def _weights(X: Inputs, kernel: Kernel, draws: Floats, found: Optimum, weigh: str) -> Floats:
    """Weights of draws of the precisions, which sum to one."""
    log = np.array([_log_density(with_precisions(kernel, one)(X), found, weigh) for one in draws])
    raised = np.exp(log - log.max())
    return np.asarray(raised / raised.sum())


def _log_density(K: Floats, found: Optimum, weigh: str) -> float:
    """Log density of the expected auxiliary variables, or of the means, of all functions, without a constant."""
    check()
    try:
        if weigh == "auxiliary":
            L, value = beyond_identity(K), found.mean + found.g
        else:
            L = factorise(K, "the kernel matrix is singular", _MEANS_JITTER, by=float(np.max(np.diagonal(K)))).L
            value = found.mean
    except NotPositiveDefinite:
        return -np.inf
    half = solve_triangular(L, value, lower=True)
    return -0.5 * float(np.sum(half**2)) - value.shape[1] * float(np.log(np.diagonal(L)).sum())
