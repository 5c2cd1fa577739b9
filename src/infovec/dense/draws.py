"""Simulation with given kernels: draws of the auxiliary variables as a posterior of new rows."""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Discrete
from ..likelihoods.classes import ClassLikelihood
from ..posterior import AuxiliaryPosterior
from .annealing import SimulatedEvidence, annealed_evidence, prior_evidence
from .sampler import GibbsDraws, OnSweep, gibbs
from .spectra import spectrum

__all__ = ["EVIDENCES", "Simulated", "fit_gibbs", "forces"]

EVIDENCES = ("annealing", "prior", None)
"""How the marginal likelihood is estimated: by annealed importance sampling, by draws of the prior (GR06), or not."""


class Simulated(NamedTuple):
    """A posterior of draws, and what is to be known of them."""

    posterior: AuxiliaryPosterior
    evidence: SimulatedEvidence
    ess: float  # the smallest among all latent values of the training rows
    r_hat: float  # the largest


def forces(draws: GibbsDraws, likelihood: Discrete | ClassLikelihood) -> Floats:
    """Weights of predictions of every draw, (I + K)^-1 y, shape (S, n, C): chain after chain.

    Two classes have one function, the difference of the two of a race over the root of two.
    """
    spec, Y = draws.spectrum, draws.auxiliary
    chains, S, n, C = Y.shape
    flat = Y.reshape(chains * S, n, C).transpose(1, 0, 2)
    found = spec.back(spec.turn(np.ascontiguousarray(flat)) / (1.0 + spec.values[:, None])).transpose(1, 0, 2)
    if isinstance(likelihood, ClassLikelihood):
        return np.ascontiguousarray(found)
    return np.ascontiguousarray((found[..., 1:] - found[..., :1]) / np.sqrt(2.0))


def fit_gibbs(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: Discrete | ClassLikelihood,
    rng: np.random.Generator,
    *,
    n_samples: int = 1000,
    n_chains: int = 4,
    burn_in: int = 500,
    evidence: str | None = "annealing",
    on_sweep: OnSweep | None = None,
) -> Simulated:
    """Draw from the posterior of a given kernel (GR06 appendix D), and estimate the marginal likelihood."""
    C = likelihood.n_classes if isinstance(likelihood, ClassLikelihood) else 2
    spec = spectrum(np.asarray(kernel(kernel.in_double(X)), dtype=np.float64))
    draws = gibbs(spec, labels, C, n_samples, rng, n_chains=n_chains, burn_in=burn_in, on_sweep=on_sweep)
    found = SimulatedEvidence(np.nan, np.nan, np.nan)
    if evidence == "annealing":
        found = annealed_evidence(spec, labels, C, rng, on_sweep=on_sweep)
    elif evidence == "prior":
        found = prior_evidence(spec, labels, C, n_samples, rng)
    posterior = AuxiliaryPosterior(kernel, X, forces(draws, likelihood))
    return Simulated(posterior, found, float(draws.ess.min()), float(draws.r_hat.max()))
