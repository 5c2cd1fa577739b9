"""Which label to ask for next: what each would tell, and batches that do not tell the same twice."""

from .assimilate import Assimilated, assimilate, include, stacked
from .batch import Batch, Pool, choose_batch, functions, pool_size
from .expected import CANDIDATE_SCORES, Expected, expected_precision, in_blocks, information
from .uncertainty import Uncertainty, label_uncertainty

__all__ = [
    "CANDIDATE_SCORES",
    "Assimilated",
    "Batch",
    "Expected",
    "Pool",
    "Uncertainty",
    "assimilate",
    "choose_batch",
    "expected_precision",
    "functions",
    "in_blocks",
    "include",
    "information",
    "label_uncertainty",
    "pool_size",
    "stacked",
]
