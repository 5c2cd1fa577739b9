"""Layer 2: what is known of the latent function after training."""

from .factorised import ActiveMarginals, FactorisedPosterior

__all__ = ["ActiveMarginals", "FactorisedPosterior"]
