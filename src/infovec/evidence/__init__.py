"""Layer 3: approximations to the log marginal likelihood."""

from .ep import log_evidence

__all__ = ["log_evidence"]
