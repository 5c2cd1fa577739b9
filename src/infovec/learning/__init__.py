"""Layer 4: hyperparameters from the evidence, with exact gradients."""

from .model import Model
from .objective import ProjectedEvidence
from .optimise import Step, find_scale, optimise

__all__ = ["Model", "ProjectedEvidence", "Step", "find_scale", "optimise"]
