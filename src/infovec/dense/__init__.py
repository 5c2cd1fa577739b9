"""Dense models with all rows active: simulation and Laplace's approximation (GR06 appendices D and E)."""

from .annealing import SimulatedEvidence, annealed_evidence, prior_evidence
from .cone import draw_in_cone
from .diagnostics import effective_sample_size, split_r_hat
from .kernel_sampler import KernelDraws, gibbs_kernel, gibbs_kernel_proba
from .laplace_fit import (
    LaplaceEvidence,
    LaplaceFit,
    LaplaceLatent,
    laplace,
    laplace_adjoint,
    laplace_evidence,
    laplace_latent,
)
from .noises import Logit, Probit
from .probabilities import class_proba
from .sampler import GibbsDraws, GibbsProba, gibbs, gibbs_proba
from .spectra import Spectrum, spectrum

__all__ = [
    "GibbsDraws",
    "GibbsProba",
    "KernelDraws",
    "LaplaceEvidence",
    "LaplaceFit",
    "LaplaceLatent",
    "Logit",
    "Probit",
    "SimulatedEvidence",
    "Spectrum",
    "annealed_evidence",
    "class_proba",
    "draw_in_cone",
    "effective_sample_size",
    "gibbs",
    "gibbs_kernel",
    "gibbs_kernel_proba",
    "gibbs_proba",
    "laplace",
    "laplace_adjoint",
    "laplace_evidence",
    "laplace_latent",
    "prior_evidence",
    "spectrum",
    "split_r_hat",
]
