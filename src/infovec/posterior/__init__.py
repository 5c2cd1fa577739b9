"""Layer 2: sparse posteriors. They know the active inputs, and nothing of the other training rows."""

from .base import Posterior
from .factorised import ActiveMarginals, FactorisedPosterior
from .projected import ProjectedPosterior

__all__ = ["ActiveMarginals", "FactorisedPosterior", "Posterior", "ProjectedPosterior"]
