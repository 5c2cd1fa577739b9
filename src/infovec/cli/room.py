"""Whether there is room for a model on the disk, seen to before it is fitted."""

from typing import Any

import numpy as np

from ..persistence import check_free
from .gather import Gathered

__all__ = ["check_room", "model_bytes"]

_HEAD = 100_000  # bytes of a model file beside its arrays
_COLUMNS = 40  # numbers of an active row beside its inputs: sites, history, weights
_NUMBER = 8  # bytes


def check_room(output: str, gathered: Gathered, options: dict[str, Any]) -> None:
    """Raise unless there is room for the model file, by an estimate from above."""
    check_free(output, model_bytes(gathered, options["active"]))


def model_bytes(gathered: Gathered, active: Any) -> int:
    """Return about how large a model file becomes: for each class two matrices of the active rows, and their inputs."""
    n, p = gathered.X.shape
    d = min(n, int(active) if isinstance(active, int) else int(np.ceil(active * n)) if active != "auto" else n)
    d = min(d, 5000) if active == "auto" else d
    classes = len(np.unique(gathered.target.y)) if gathered.target.task == "classify" else 1
    machines = classes if classes > 2 else 1
    inputs = p if machines == 1 else 2 * p  # those of every class, and all of them together
    return _HEAD + machines * d * (2 * d + inputs + _COLUMNS) * _NUMBER
