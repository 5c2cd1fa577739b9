"""Which label to ask for next: what each would tell, and batches that do not tell the same twice."""

from .assimilate import Assimilated, assimilate, include, stacked
from .batch import Batch, Pool, best_batch, choose_batch, choose_to_predict, pool_size, share_at_random
from .expected import CANDIDATE_SCORES, Expected, expected_precision, in_blocks, information
from .functions import functions
from .prediction import MOST_PREDICTED, PREDICTION, Predicted, predicted_information, some_to_predict
from .uncertainty import Uncertainty, label_uncertainty

__all__ = [
    "CANDIDATE_SCORES",
    "MOST_PREDICTED",
    "PREDICTION",
    "Assimilated",
    "Batch",
    "Expected",
    "Pool",
    "Predicted",
    "Uncertainty",
    "assimilate",
    "best_batch",
    "choose_batch",
    "choose_to_predict",
    "expected_precision",
    "functions",
    "in_blocks",
    "include",
    "information",
    "label_uncertainty",
    "pool_size",
    "predicted_information",
    "share_at_random",
    "some_to_predict",
    "stacked",
]
