"""Layer 2: the rows of the training set in pieces, each with its stubs and marginals."""

from .coupled import CoupledShard, solvers
from .eligibility import break_ties, open_scores
from .index import IndexRule
from .local import LocalShard, absorbed_at_once
from .messages import Basis, Beliefs, Candidates, Inclusions, Representation, Steps, Sums, Swept
from .projected import Cavity, ProjectedShard
from .projections import Projections
from .refilled import RefilledShard
from .stubs import Stubs

__all__ = [
    "Basis",
    "Beliefs",
    "Candidates",
    "Cavity",
    "CoupledShard",
    "Inclusions",
    "IndexRule",
    "LocalShard",
    "ProjectedShard",
    "Projections",
    "RefilledShard",
    "Representation",
    "Steps",
    "Stubs",
    "Sums",
    "Swept",
    "absorbed_at_once",
    "break_ties",
    "open_scores",
    "solvers",
]
