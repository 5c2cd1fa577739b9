"""Layer 2: the rows of the training set in pieces, each with its stubs and marginals."""

from .eligibility import selection_keys
from .index import IndexRule
from .local import LocalShard
from .messages import Basis, Beliefs, Candidates, Inclusions, Representation, Steps, Sums, Swept
from .projected import Cavity, ProjectedShard
from .projections import Projections
from .refilled import RefilledShard

__all__ = [
    "Basis",
    "Beliefs",
    "Candidates",
    "Cavity",
    "Inclusions",
    "IndexRule",
    "LocalShard",
    "ProjectedShard",
    "Projections",
    "RefilledShard",
    "Representation",
    "Steps",
    "Sums",
    "Swept",
    "selection_keys",
]
