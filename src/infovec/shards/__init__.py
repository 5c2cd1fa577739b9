"""Layer 2: the rows of the training set in pieces, each with its stubs and marginals."""

from .eligibility import selection_keys
from .index import IndexRule
from .local import LocalShard
from .messages import Candidates, Inclusions, Representation
from .refilled import RefilledShard

__all__ = [
    "Candidates",
    "Inclusions",
    "IndexRule",
    "LocalShard",
    "RefilledShard",
    "Representation",
    "selection_keys",
]
