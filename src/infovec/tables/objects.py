"""Columns of Python objects: what they hold is seen from their values."""

import datetime
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..plain import printable
from .iso import since_start
from .raw import Raw
from .remedies import recovered

__all__ = ["is_missing", "nested", "of_objects"]

_DAY = 86400.0
_MISSING = ("NAType", "NaTType")
_NAMES = {"number": "numbers", "text": "text", "date": "dates", "duration": "durations", "time": "times of day"}


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NaN, or what pandas has for it."""
    return value is None or type(value).__name__ in _MISSING or (isinstance(value, Real) and value != value)


def of_objects(name: str, values: Sequence[Any]) -> Raw:
    """Return a column of objects as one of numbers, texts, dates and so on; refuse what is mixed or none of these."""
    first: dict[str, tuple[int, Any]] = {}
    for row, value in enumerate(values):
        if not is_missing(value):
            first.setdefault(_kind(name, row, value), (row, value))
    if not first:
        return Raw(name, "nothing", np.full(len(values), np.nan))
    if len(first) > 1:
        (a, (i, x)), (b, (j, y)) = list(first.items())[:2]
        raise ParameterError(
            f"column {name!r} holds {_NAMES[a]} and {_NAMES[b]}: row {i} has {_shown(x)}, row {j} has {_shown(y)}. "
            f"Make it one of both, as categories with X[{name!r}].astype(str){_numbers(name, values, first)}"
        )
    kind = next(iter(first))
    if kind == "text":
        return Raw.of_words(name, [None if is_missing(v) else v for v in values])
    readers: dict[str, Callable[[Any], float]] = {"number": float, "date": _days, "duration": _long, "time": _time}
    number = readers[kind]
    found: Floats = np.array([np.nan if is_missing(v) else number(v) for v in values], dtype=np.float64)
    return Raw(name, kind, found)  # type: ignore[arg-type]


def nested(name: str, row: int, value: Any) -> ParameterError:
    """Return the error for a cell that holds more than one value."""
    return ParameterError(
        f"column {name!r} holds a {type(value).__name__} in row {row}, and a cell must be a number, a text, a truth "
        "value or a date. Spread it over columns of its own, or leave the column out"
    )


def _numbers(name: str, values: Sequence[Any], found: Collection[str]) -> str:
    """Say how texts among numbers become numbers, and what that loses."""
    if set(found) != {"number", "text"}:
        return ""
    said = recovered(Raw.of_words(name, [None if is_missing(v) else str(v) for v in values]), mixed=True)
    return f". {said}" if said else ""


def _kind(name: str, row: int, value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, Real | Decimal | np.bool_):
        return "number"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "duration"
    if isinstance(value, datetime.time):
        return "time"
    raise nested(name, row, value)


def _days(value: Any) -> float:
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64)) / (1e6 * _DAY)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return since_start(value)


def _long(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return float(value.astype("timedelta64[us]").astype(np.int64)) / (1e6 * _DAY)
    return float(value.total_seconds()) / _DAY


def _time(value: datetime.time) -> float:
    return (value.hour * 3600 + value.minute * 60 + value.second + 1e-6 * value.microsecond) / _DAY


def _shown(value: Any) -> str:
    return printable(repr(value))[:60]
