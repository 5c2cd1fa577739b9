"""The rows of the training set in pieces, each with its stubs and marginals."""

from .cavity import Cavity
from .coupled import CoupledShard, solvers
from .cut import share
from .eligibility import break_ties, open_scores
from .far import FarInputs, Store, View
from .gain import coupling_free_gain
from .group import Exchanges, Group, InProcess, noted, together
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
from .on_disk import disk_places
from .places import HERE, Places
from .projected import ProjectedShard
from .projections import Projections
from .protocol import ClassShard, Shard, SiteShard, SweptShard, WithSites
from .refilled import RefilledShard
from .some_rows import SomeRows
from .stored import Stored
from .stubs import Stubs, absorbed_at_once

__all__ = [
    "HERE",
    "Basis",
    "Beliefs",
    "Candidates",
    "Cavity",
    "ClassShard",
    "CoupledShard",
    "Exchanges",
    "Facts",
    "FarInputs",
    "Gains",
    "GivenRows",
    "Group",
    "InProcess",
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
    "Store",
    "Stored",
    "Stubs",
    "Sums",
    "Swept",
    "SweptShard",
    "Traits",
    "View",
    "WithSites",
    "absorbed_at_once",
    "break_ties",
    "coupling_free_gain",
    "disk_places",
    "noted",
    "open_scores",
    "share",
    "solvers",
    "together",
]
