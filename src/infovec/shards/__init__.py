"""Layer 2: the rows of the training set in pieces, each with its stubs and marginals."""

from .eligibility import selection_keys
from .local import LocalShard
from .messages import Candidates, Inclusions

__all__ = ["Candidates", "Inclusions", "LocalShard", "selection_keys"]
