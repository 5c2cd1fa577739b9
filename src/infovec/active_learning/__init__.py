"""Which label to ask for next: what each would tell, and batches that do not tell the same twice."""

from .batch import Batch, Pool, choose_batch, pool_size
from .expected import CANDIDATE_SCORES, Expected, expected_precision, in_blocks, information

__all__ = [
    "CANDIDATE_SCORES",
    "Batch",
    "Expected",
    "Pool",
    "choose_batch",
    "expected_precision",
    "in_blocks",
    "information",
    "pool_size",
]
