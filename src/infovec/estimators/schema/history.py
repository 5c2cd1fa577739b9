"""The history of a fit: columns of numbers, each group of them of one length."""

from typing import Final

import numpy as np

from ..._types import Rows
from ...errors import ModelFileError
from ...persistence.values import array, number, refuse

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
}
"""What there is one of each of, and its kind."""


def check_history(value: object, where: str, active: Rows) -> None:
    """Raise unless it is a dict of known columns, those of the active rows in their order."""
    if not isinstance(value, dict):
        refuse(where, "a dict of columns", value)
    lengths = {"active row": len(active)}
    for name, column in value.items():
        if name == "learning_seconds":
            number(column, f"{where}[{name!r}]", 0.0)
            continue
        if name not in HISTORY:
            raise ModelFileError(f"{where} has a column {name[:40]!r}, which no fit leaves")
        each, kind = HISTORY[name]
        shape = (lengths.get(each), None) if name == "theta" else (lengths.get(each),)
        lengths[each] = len(array(column, f"{where}[{name!r}]", kind, shape))
    missing = [name for name in ("row", "score", "seconds") if name not in value]
    if missing:
        raise ModelFileError(f"{where} has no column {missing[0]!r}")
    if not np.array_equal(value["row"], active):
        raise ModelFileError(f"{where}['row'] must be active_, and is something else")
