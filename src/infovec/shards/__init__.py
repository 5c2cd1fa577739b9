"""The rows of the training set in pieces, each with its stubs and marginals."""

from .cavity import Cavity
from .coupled import CoupledShard, solvers
from .cut import share
from .eligibility import break_ties, open_scores
from .gain import coupling_free_gain
from .index import IndexRule, Refill
from .local import LocalShard
from .messages import (
    Basis,
    Beliefs,
    Candidates,
    Facts,
    Gains,
    GivenRows,
    Inclusions,
    Marginals,
    Representation,
    Slopes,
    Steps,
    Sums,
    Swept,
    Traits,
)
from .places import HERE, Places
from .projected import ProjectedShard
from .projections import Projections
from .protocol import ClassShard, Shard, SiteShard, SweptShard, WithSites
from .refilled import RefilledShard
from .some_rows import SomeRows
from .stubs import Stubs, absorbed_at_once

__all__ = [
    "HERE",
    "Basis",
    "Beliefs",
    "Candidates",
    "Cavity",
    "ClassShard",
    "CoupledShard",
    "Facts",
    "Gains",
    "GivenRows",
    "Inclusions",
    "IndexRule",
    "LocalShard",
    "Marginals",
    "Places",
    "ProjectedShard",
    "Projections",
    "Refill",
    "RefilledShard",
    "Representation",
    "Shard",
    "SiteShard",
    "Slopes",
    "SomeRows",
    "Steps",
    "Stubs",
    "Sums",
    "Swept",
    "SweptShard",
    "Traits",
    "WithSites",
    "absorbed_at_once",
    "break_ties",
    "coupling_free_gain",
    "open_scores",
    "share",
    "solvers",
]
