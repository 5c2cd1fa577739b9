"""Columns of a table as they come, before anything is known of a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from .._types import Floats, Rows
from .iso import days_of

__all__ = ["Kind", "Raw", "coded", "word"]

Kind: TypeAlias = Literal["number", "text", "label", "rank", "date", "duration", "time", "nothing"]
"""What a column holds: a text is a category that is written as such, a label one of another type, a rank one of an
order; dates and the like are days. "nothing" is a column without any value."""


@dataclass(frozen=True)
class Raw:
    """A column: numbers, or categories by their words.

    Parameters
    ----------
    name : str
    kind : Kind
    values : array of shape (n,)
        Numbers, NaN where one is missing; of categories the place of each among the words, -1 where it is missing.
    words : tuple of str
        Of categories; of an order from lowest to highest.
    listed : bool
        Whether somebody said that they are categories, so that they are no dates.
    """

    name: str
    kind: Kind
    values: Floats | Rows
    words: tuple[str, ...] = ()
    listed: bool = False

    @property
    def missing(self) -> Any:
        """Which values are missing."""
        return np.isnan(self.values) if self.values.dtype.kind == "f" else self.values < 0

    def some(self, rows: Rows) -> "Raw":
        """Return the column of some rows."""
        found = replace(self, values=self.values[rows])
        return replace(found, kind="nothing") if found.missing.all() else found

    def counts(self) -> dict[str, int]:
        """Return how often each category is there, of those that are."""
        there = self.values[~self.missing]
        if there.dtype.kind == "f":
            values, numbers = np.unique(there, return_counts=True)
            return {word(v): n for v, n in zip(values.tolist(), numbers.tolist(), strict=True)}
        numbers = np.bincount(there, minlength=len(self.words))
        return {w: n for w, n in zip(self.words, numbers.tolist(), strict=True) if n}

    @classmethod
    def of_words(cls, name: str, words: Iterable[str | None]) -> Self:
        """Return a column of texts, None where one is missing."""
        known: dict[str, int] = {}
        codes = np.array([-1 if w is None else known.setdefault(w, len(known)) for w in words], dtype=np.intp)
        return cls(name, "text" if known else "nothing", codes, tuple(known))

    @classmethod
    def of_categories(cls, name: str, codes: Rows, categories: Sequence[Any], ordered: bool) -> Self:
        """Return a column whose categories are listed somewhere, in their order if they have one."""
        words = tuple(word(value) for value in categories)
        kind: Kind = "rank" if ordered else "text" if all(isinstance(v, str) for v in categories) else "label"
        codes = np.asarray(codes, dtype=np.intp)
        return cls(name, kind if np.any(codes >= 0) else "nothing", codes, words, listed=True)

    def as_dates(self) -> "Raw | None":
        """Return a column of texts as one of dates, if each of them is one."""
        days = days_of(self.words) if self.kind == "text" else None
        if days is None:
            return None
        return Raw(self.name, "date", np.where(self.missing, np.nan, days[self.values]))


def word(value: Any) -> str:
    """Return a category as a word: 1, 1.0 and "1" are the same."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value)


def coded(raw: Raw, words: Sequence[str]) -> Rows:
    """Return the place of every value among known words: -1 for one that is none of them, -2 where it is missing."""
    place = {w: k for k, w in enumerate(words)}
    if raw.values.dtype.kind == "f":
        found = [-2 if v != v else place.get(word(v), -1) for v in raw.values.tolist()]
        return np.array(found, dtype=np.intp)
    table = np.array([*(place.get(w, -1) for w in raw.words), -2], dtype=np.intp)
    return table[raw.values]
