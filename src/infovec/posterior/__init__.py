"""Sparse posteriors. They know the active inputs, and nothing of the other training rows."""

from .auxiliary import AuxiliaryPosterior, DrawnPosterior, SeparateAuxiliaryPosterior
from .base import Posterior
from .bound import VariationalPosterior
from .classes import ClassPosterior, SeparatePosterior
from .factorised import ActiveMarginals, FactorisedPosterior
from .joint import draw_normal, joint
from .mode import ModePosterior
from .pair_sites import Cavities, ClassSites, Dense, PairSites, cavities, kernel_of_each, positions, spread
from .projected import ProjectedPosterior

__all__ = [
    "ActiveMarginals",
    "AuxiliaryPosterior",
    "Cavities",
    "ClassPosterior",
    "ClassSites",
    "Dense",
    "DrawnPosterior",
    "FactorisedPosterior",
    "ModePosterior",
    "PairSites",
    "Posterior",
    "ProjectedPosterior",
    "SeparateAuxiliaryPosterior",
    "SeparatePosterior",
    "VariationalPosterior",
    "cavities",
    "draw_normal",
    "joint",
    "kernel_of_each",
    "positions",
    "spread",
]
