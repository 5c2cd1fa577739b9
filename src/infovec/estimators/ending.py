"""Why a fit ended, and what falls short of what was asked for."""

import warnings
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from ..machines.run import Result, not_converged
from ..selection import StopReason
from .callbacks import outside

__all__ = ["Ending", "ended"]


class Ending(NamedTuple):
    """What selection and inference came to."""

    stop: StopReason
    result: Result
    wanted: int
    learning_interrupted: bool


def ended(ending: Ending, interrupted: bool) -> StopReason:
    """Return why the fit ended; warn the caller where it ended early or did not settle."""
    stop, result, wanted, learning_interrupted = ending
    stop = StopReason.INTERRUPTED if interrupted else stop
    rows = f"{len(result.active)} of {wanted} active rows and is usable"
    if learning_interrupted:
        warnings.warn(
            f"interrupted while learning: the model has the parameters found so far, {rows}", stacklevel=outside()
        )
        return StopReason.INTERRUPTED
    if stop is StopReason.INTERRUPTED:
        warnings.warn(f"interrupted: the model has {rows}", stacklevel=outside())
    elif not result.converged and stop not in (StopReason.TIME, StopReason.CALLBACK):
        warnings.warn(not_converged(result), ConvergenceWarning, stacklevel=outside())
    return stop
