"""Layer 3: approximations to the log marginal likelihood."""

from .active_set import active_set_criterion, partition_criterion
from .ep import ep_criterion, log_evidence
from .given import Criterion, Given
from .variational import variational_criterion

__all__ = [
    "Criterion",
    "Given",
    "active_set_criterion",
    "ep_criterion",
    "log_evidence",
    "partition_criterion",
    "variational_criterion",
]
