"""Layer 4: approximations to the log marginal likelihood of the factorised posterior, with their gradients."""

from .active_set import active_set_criterion, partition_criterion
from .chain import Chain
from .evidence import ep_criterion, log_evidence
from .held_fixed import Criterion, Given
from .lower_bound import variational_criterion
from .pairs import pair_evidence, refine_pairs

__all__ = [
    "Chain",
    "Criterion",
    "Given",
    "active_set_criterion",
    "ep_criterion",
    "log_evidence",
    "pair_evidence",
    "partition_criterion",
    "refine_pairs",
    "variational_criterion",
]
