"""As many rows as there is time for: of a training set that is too large for ``max_time`` those first in line."""

from dataclasses import replace

import numpy as np

from .._types import Rows
from ..errors import ParameterError
from ..runtime import Deadline
from .machine import Machine

__all__ = ["in_time"]

_FEWEST = 200  # rows to learn from, whatever the time
_ACTIVE = 200  # active rows that there should be time for, if as many are asked for
_SURE = 1.3  # times the seconds that were measured: moments of sites elsewhere take longer than those of the prior


def in_time(machine: Machine, deadline: Deadline, share: float = 1.0) -> Machine:
    """Return the same with as many rows as a share of the time left suffices for, at least to a modest active set.

    A look at all rows that takes all the time would leave an active set of a single row, which explains nothing; of
    some of the rows there is a model.

    Parameters
    ----------
    machine : Machine
    deadline : Deadline
    share : float
        Of the time left.
    """
    n = machine.data.n
    if np.isinf(deadline.end) or n <= _FEWEST:
        return machine
    d = min(machine.work.wanted, _ACTIVE)
    a_row = _SURE * machine.row_seconds(d)
    most = max(int(share * deadline.left / max(a_row, 1e-12)), _FEWEST, len(machine.work.initial))
    return machine if most >= n else _smaller(machine, most)


def _smaller(machine: Machine, size: int) -> Machine:
    """So many rows, fewer where memory is too scarce for them beside all rows, which whoever asks for this has."""
    while True:
        some = machine.only(_first_in_line(machine, size))
        try:
            return replace(some, work=some.within_limit(some.work.wanted, some.work.itemsize))
        except ParameterError:
            if size == (size := max(size // 2, min(size, _FEWEST))):
                return some


def _first_in_line(machine: Machine, size: int) -> Rows:
    """So many rows of the highest priority in order, and the initial ones; of those held back the same share."""
    line = np.argsort(-machine.data.priority, kind="stable")
    free = ~machine.data.held_back[line]
    share = size / len(line)
    first = [line[part][: max(round(share * int(np.sum(part))), 1)] for part in (free, ~free)]
    return np.unique(np.concatenate([*first, machine.work.initial]))
