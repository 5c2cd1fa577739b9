"""Which fit a checkpoint is of, and when it is removed."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

import joblib
import numpy as np

from .._types import Foreign
from ..errors import ParameterError
from ..machines.checkpoint import Checkpoint
from ..machines.machine import Machine

__all__ = ["checkpointed"]

_FREE = {"max_memory", "callback", "verbose", "n_jobs"}  # settings that may change when a fit goes on
_SEEN = 100  # rows of the inputs that are compared


@contextmanager
def checkpointed(estimator: Foreign, path: str | PathLike[str] | None, machine: Machine) -> Iterator[Checkpoint | None]:
    """Have a checkpoint of a fit, if one was asked for; it is removed when the fit is done."""
    if path is None:
        yield None
        return
    if not isinstance(estimator.random_state, int | np.integer):
        raise ParameterError("checkpoint needs a whole number as random_state: else the same fit is never made twice")
    data = machine.data
    settings = {name: repr(value) for name, value in estimator.get_params().items() if name not in _FREE}
    seen = data.given.X[np.arange(min(_SEEN, data.n))]
    told = [settings, data.X.shape, seen, data.y, data.given.weight, type(machine).__name__]
    told += [] if data.folds is None else [data.folds]
    checkpoint = Checkpoint(path, str(joblib.hash(told)))
    try:
        yield checkpoint
    except BaseException:
        checkpoint.close()
        raise
    checkpoint.done()
