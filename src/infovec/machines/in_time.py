"""As many rows as there is time for: of a training set that is too large for ``max_time`` those first in line."""

import numpy as np

from .._types import Rows
from ..runtime import Deadline
from .one_function import Training

__all__ = ["in_time"]

_FEWEST = 200  # rows to learn from, whatever the time
_ACTIVE = 200  # active rows that there should be time for, if as many are asked for
_SURE = 1.3  # times the seconds that were measured: moments of sites elsewhere take longer than those of the prior


def in_time(training: Training, deadline: Deadline, share: float = 1.0) -> Training:
    """Return the same with as many rows as a share of the time left suffices for, at least to a modest active set.

    A look at all rows that takes all the time would leave an active set of a single row, which explains nothing; of
    some of the rows there is a model.

    Parameters
    ----------
    training : Training
    deadline : Deadline
    share : float
        Of the time left.
    """
    n = len(training.y)
    if np.isinf(deadline.end) or n <= _FEWEST:
        return training
    d = min(training.wanted, _ACTIVE)
    a_row = _SURE * training.model_seconds(d)
    most = max(int(share * deadline.left / max(a_row, 1e-12)), _FEWEST, len(training.initial))
    return training if most >= n else training.only(_first_in_line(training, most))


def _first_in_line(training: Training, size: int) -> Rows:
    """So many rows of the highest priority in order, and the initial ones; of those held back the same share."""
    line = np.argsort(-training.priority, kind="stable")
    free = ~training.held_back[line]
    share = size / len(line)
    first = [line[part][: max(round(share * int(np.sum(part))), 1)] for part in (free, ~free)]
    return np.unique(np.concatenate([*first, training.initial]))
