"""How dates are written, as ``strptime`` has it, found from texts."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias

from .iso import iso_days, since_start

__all__ = ["ISO", "parser", "readings"]

ISO = "ISO 8601"
"""The form of dates that is read whatever their precision is: 2024-05-31, 2024-05-31T12:30:00+02:00."""

_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y",
    "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")

_Parser: TypeAlias = Callable[[str], float]


def readings(words: Sequence[str]) -> list[str]:
    """Return the forms that dates may be written in, one for each of the ways in which they mean different days."""
    found, values = list[str](), list[list[float]]()
    for form in _forms():
        days = _all_days(words, form)
        if days is not None and days not in values:
            found.append(form)
            values.append(days)
    return found


def _forms() -> Iterator[str]:
    yield ISO
    for time in _TIMES:
        for day in _DAYS:
            yield day + time


def _all_days(words: Sequence[str], form: str) -> list[float] | None:
    parse = parser(form)
    try:
        return [parse(word) for word in words]
    except ValueError:
        return None


def parser(form: str) -> _Parser:
    """Return what makes days since the beginning of 1970 of a text of this form; it raises ValueError of another."""
    return iso_days if form == ISO else lambda word: since_start(datetime.strptime(word, form))
