"""The history of a fit: columns of numbers, each group of them of one length."""

from typing import Final

import numpy as np

from ..._types import Rows
from ...errors import ModelFileError
from ...persistence.values import array, array_of_floats, number, refuse

__all__ = ["HISTORY", "check_history"]

HISTORY: Final[dict[str, tuple[str, str]]] = {
    "row": ("active row", "i"),
    "score": ("active row", "f"),
    "seconds": ("active row", "f"),
    "sweep_log_evidence": ("sweep", "f"),
    "sweep_change": ("sweep", "f"),
    "sweep_damping": ("sweep", "f"),
    "sweep_rows": ("sweep", "i"),
    "exchange_out": ("exchange", "i"),
    "exchange_in": ("exchange", "i"),
    "exchange_gain": ("exchange", "f"),
    "criterion": ("step of learning", "f"),
    "theta": ("step of learning", "f"),
    "major": ("step of learning", "b"),
    "form": ("step of learning", "i"),
    "move_criterion": ("evaluation of moving", "f"),
    "move_loss": ("side of moving", "f"),
    "bound": ("iteration", "f"),
    "precision": ("iteration", "f"),
    "ess": ("iteration", "f"),
}
"""What there is one of each of, and its kind."""


_OF_ROWS: Final = ("row", "score", "seconds")
_TABLES: Final = ("theta", "precision")


def check_history(value: object, where: str, active: Rows | None) -> None:
    """Raise unless it is a dict of known columns, those of the active rows, if there are such, in their order."""
    if not isinstance(value, dict):
        refuse(where, "a dict of columns", value)
    lengths = {} if active is None else {"active row": len(active)}
    for name, column in value.items():
        if name == "learning_seconds":
            number(column, f"{where}[{name!r}]", 0.0)
            continue
        if name not in HISTORY or (active is None and name in _OF_ROWS):
            raise ModelFileError(f"{where} has a column {name[:40]!r}, which no fit leaves")
        each, kind = HISTORY[name]
        shape = (lengths.get(each), None) if name in _TABLES else (lengths.get(each),)
        lengths[each] = len(array(column, f"{where}[{name!r}]", kind, shape))
    if active is None:
        return
    missing = [name for name in _OF_ROWS if name not in value]
    if missing:
        raise ModelFileError(f"{where} has no column {missing[0]!r}")
    if not np.array_equal(value["row"], active):
        raise ModelFileError(f"{where}['row'] must be active_, and is something else")


def check_diagnostics(value: object, where: str, n_parameters: int) -> None:
    """Raise unless it is a dict of what is known of draws: numbers, and draws of the parameters with their weights."""
    if not isinstance(value, dict):
        refuse(where, "a dict of numbers and draws", value)
    for name, entry in value.items():
        if name in ("ess", "r_hat", "evidence_error"):
            number(entry, f"{where}[{name!r}]", finite=False)
        elif name == "theta":
            array_of_floats(entry, f"{where}[{name!r}]", (None, n_parameters))
        elif name == "weights":
            length = len(value["theta"]) if isinstance(value.get("theta"), np.ndarray) else None
            weights = array_of_floats(entry, f"{where}[{name!r}]", (length,))
            if np.any(weights < 0.0) or not weights.any():
                raise ModelFileError(f"{where}[{name!r}] must not be negative, nor all zero")
        else:
            raise ModelFileError(f"{where} has {name[:40]!r}, which no fit leaves")
