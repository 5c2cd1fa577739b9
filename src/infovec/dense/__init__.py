"""Dense models with all rows active: simulation and Laplace's approximation (GR06 appendices D and E)."""

from .annealing import SimulatedEvidence, annealed_evidence, prior_evidence
from .cone import draw_in_cone
from .diagnostics import effective_sample_size, split_r_hat
from .sampler import GibbsDraws, GibbsProba, gibbs, gibbs_proba
from .spectrum import Spectrum, spectrum

__all__ = [
    "GibbsDraws",
    "GibbsProba",
    "SimulatedEvidence",
    "Spectrum",
    "annealed_evidence",
    "draw_in_cone",
    "effective_sample_size",
    "gibbs",
    "gibbs_proba",
    "prior_evidence",
    "spectrum",
    "split_r_hat",
]
