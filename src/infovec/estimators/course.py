"""What is told of the course of a fit: ``history_``."""

from typing import Any

import numpy as np

from ..machines.fit import Ended
from ..machines.result import Result

__all__ = ["history_of"]


def history_of(ended: Ended, result: Result) -> dict[str, Any]:
    """Return what happened in each step of a fit, in arrays by name.

    Parameters
    ----------
    ended : Ended
    result : Result
        What it came to, in the units of the user.
    """
    rows, selector = ended.machine.data.given.rows, ended.selector
    d = len(result.active)
    told: dict[str, Any] = {
        "row": rows[result.active],
        "score": selector.scores[:d].copy(),
        "seconds": selector.seconds[:d].copy(),
        **result.history(),
    }
    if result.moves:
        told["exchange_out"] = rows[[move.out for move in result.moves]]
        told["exchange_in"] = rows[[move.into for move in result.moves]]
        told["exchange_gain"] = np.array([move.gain for move in result.moves])
    if result.moved is not None:
        told |= {"move_criterion": result.moved.criterion, "move_loss": result.moved.loss}
    if ended.steps:
        told["criterion"] = np.array([step.criterion for step in ended.steps])
        told["theta"] = np.array([step.theta for step in ended.steps])
        told["form"] = np.array([step.form for step in ended.steps])
        told["major"] = np.array([step.major for step in ended.steps])
        told["learning_seconds"] = ended.learning_seconds
    return told
