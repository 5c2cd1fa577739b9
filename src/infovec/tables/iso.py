"""Dates that are written as ISO 8601 has it: 2024-05-31, 2024-05-31T12:30:00+02:00."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from .._types import Floats

__all__ = ["days_of", "iso_days", "share_of_dates", "since_start"]

_FORM = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_START = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86400.0  # seconds


def iso_days(word: str) -> float:
    """Return a date as days since the beginning of 1970, as UTC if there is no zone; a ValueError if it is none."""
    if not _FORM.fullmatch(word):
        raise ValueError(word)
    return since_start(datetime.fromisoformat(word))


def since_start(moment: datetime) -> float:
    """Return the days from the beginning of 1970 to a moment, in UTC if it has no zone."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _START).total_seconds() / _DAY


def days_of(words: Sequence[str]) -> Floats | None:
    """Return texts as days if each of them is a date."""
    try:
        return np.array([iso_days(word) for word in words])
    except ValueError:
        return None


def share_of_dates(words: Sequence[str]) -> float:
    """Return how many of some texts look like dates, as a share."""
    return sum(_FORM.fullmatch(word) is not None for word in words) / max(1, len(words))
