"""Simulation with given kernels: draws of the auxiliary variables as a posterior of new rows."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..learning import Learning, Model
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import beyond_identity, solve_lower
from ..posterior import AuxiliaryPosterior, DrawnPosterior
from .annealing import SimulatedEvidence, annealed_evidence, prior_evidence
from .fits import Kernels, auxiliary, of_all
from .kernel_sampler import KernelDraws, gibbs_kernel
from .sampler import GibbsDraws, OnSweep, gibbs
from .spectra import Spectrum, spectrum

__all__ = ["DrawnKernels", "MakeEvidence", "Simulated", "draw_kernels", "draws_of_prior", "fit_gibbs", "forces"]

MakeEvidence: TypeAlias = Callable[[Spectrum, Rows, int, np.random.Generator], SimulatedEvidence]
"""From the kernel matrix, labels and the number of classes to an estimate of the marginal likelihood."""

_MOST_DRAWS = 400  # that predictions are averaged over
_MOST_KERNELS = 100  # that predictions are averaged over: each needs a factorisation


_UNKNOWN = SimulatedEvidence(np.nan, np.nan, np.nan)


def draws_of_prior(
    spec: Spectrum, labels: Rows, n_classes: int, rng: np.random.Generator, n_samples: int = 1000
) -> SimulatedEvidence:
    """Return the estimate of GR06 6.2, by as many draws of the prior as there."""
    return prior_evidence(spec, labels, n_classes, n_samples, rng)


class Simulated(NamedTuple):
    """A posterior of draws, and what is to be known of them."""

    posterior: AuxiliaryPosterior
    evidence: SimulatedEvidence
    ess: float  # the smallest among all latent values of the training rows
    r_hat: float  # the largest


def forces(draws: GibbsDraws, likelihood: Discrete | ClassLikelihood) -> Floats:
    """Weights of predictions of every draw, (I + K)^-1 y, shape (S, n, C): chain after chain, equally spaced.

    Two classes have one function, the difference of the two of a race over the root of two.
    """
    spec, Y = draws.spectrum, draws.auxiliary
    chains, S, n, C = Y.shape
    some = np.unique(np.linspace(0, S - 1, max(_MOST_DRAWS // chains, 1)).astype(np.intp))
    flat = Y[:, some].reshape(-1, n, C).transpose(1, 0, 2)
    found = spec.back(spec.turn(np.ascontiguousarray(flat)) / (1.0 + spec.values[:, None])).transpose(1, 0, 2)
    if isinstance(likelihood, ClassLikelihood):
        return np.ascontiguousarray(found)
    return np.ascontiguousarray((found[..., 1:] - found[..., :1]) / np.sqrt(2.0))


def fit_gibbs(
    X: Inputs,
    labels: Rows,
    kernel: Kernels,
    likelihood: Discrete | ClassLikelihood,
    rng: np.random.Generator,
    *,
    n_samples: int = 1000,
    n_chains: int = 4,
    burn_in: int = 500,
    evidence: MakeEvidence | None = annealed_evidence,
    on_sweep: OnSweep | None = None,
) -> Simulated:
    """Draw from the posterior of given kernels (GR06 appendix D), and estimate the marginal likelihood."""
    C = likelihood.n_classes if isinstance(likelihood, ClassLikelihood) else 2
    spec = spectrum(of_all(kernel, X))
    draws = gibbs(spec, labels, C, n_samples, rng, n_chains=n_chains, burn_in=burn_in, on_sweep=on_sweep)
    found = _UNKNOWN if evidence is None else evidence(spec, labels, C, rng)
    posterior = auxiliary(kernel, X, forces(draws, likelihood))
    return Simulated(posterior, found, float(draws.ess.min()), float(draws.r_hat.max()))


class DrawnKernels(NamedTuple):
    """A posterior of draws of the kernel too, and what is to be known of them."""

    posterior: DrawnPosterior
    draws: KernelDraws


def draw_kernels(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: Discrete | ClassLikelihood,
    rng: np.random.Generator,
    *,
    n_samples: int = 1000,
    n_chains: int = 4,
    burn_in: int = 500,
    on_sweep: OnSweep | None = None,
) -> DrawnKernels:
    """Draw the parameters of the kernel with the functions (GR06 appendix D, end).

    Free numbers have the weak normal prior of learning, around those of the kernel that is given.
    """
    model = Model.begin(kernel, cast(Likelihood, likelihood), learning=Learning(fixed=["likelihood.*"]))
    C = likelihood.n_classes if isinstance(likelihood, ClassLikelihood) else 2

    def log_prior(theta: Floats) -> float:
        return model.with_theta(
            model.pull(np.append(theta - kernel.theta, np.zeros(likelihood.theta.size)))
        ).log_prior()[0]

    draws = gibbs_kernel(
        kernel, X, labels, C, log_prior, n_samples, rng, n_chains=n_chains, burn_in=burn_in, on_sweep=on_sweep
    )
    some = np.unique(np.linspace(0, draws.theta.shape[1] - 1, max(_MOST_KERNELS // n_chains, 1)).astype(np.intp))
    thetas = draws.theta[:, some].reshape(-1, kernel.theta.size)
    auxiliary = draws.auxiliary[:, some].reshape(len(thetas), len(labels), C)
    kernels = tuple(kernel.with_theta(theta) for theta in thetas)
    each = [_force(one(one.in_double(X)), Y) for one, Y in zip(kernels, auxiliary, strict=True)]
    force = np.ascontiguousarray(np.stack(each))
    if not isinstance(likelihood, ClassLikelihood):
        force = np.ascontiguousarray((force[..., 1:] - force[..., :1]) / np.sqrt(2.0))
    middle = kernel.with_theta(draws.theta.mean(axis=(0, 1)))
    return DrawnKernels(DrawnPosterior(middle, X, kernels, force[:, None]), draws)


def _force(K: Floats, Y: Floats) -> Floats:
    """(I + K)^-1 Y."""
    L = beyond_identity(K)
    return solve_lower(L, solve_lower(L, Y), transposed=True)
