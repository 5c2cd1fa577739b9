"""Columns of dates as columns of numbers: days since the beginning of 1970, with the time of day as a fraction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from .._types import Floats
from ..errors import DataError
from ..tables.forms import ISO, parser, readings
from .gaps import Kind, is_gap
from .source import Block, Source, Wanted
from .through import Through

__all__ = ["ISO", "Dated", "days", "find_form"]

_LOOKED_AT = 1000  # different dates by which the form is found


class Dated(Through):
    """A table some columns of which hold dates, which are read as numbers.

    Parameters
    ----------
    inner : Source
    forms : mapping from column to str or None
        How dates are written, as ``strptime`` has it, or ``ISO``; None finds it from the first rows.
    of_model : bool
        Whether these are the forms that a model knows.

    Attributes
    ----------
    forms : dict
        As they were found, once a block was read.
    """

    def __init__(self, inner: Source, forms: Mapping[str, str | None], of_model: bool = False) -> None:
        super().__init__(inner)
        self.forms, self.of_model = dict(forms), of_model

    def kinds(self) -> dict[str, Kind]:
        return {name: "number" if name in self.forms else kind for name, kind in self._inner.kinds().items()}

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        dates = [name for name in wanted.numbers if name in self.forms]
        if wanted.target in self.forms and wanted.target_kind == "number":
            raise DataError(f"{self.name}: the target {wanted.target!r} cannot be a date; turn it into numbers first")
        others = tuple(name for name in wanted.numbers if name not in self.forms)
        for block in self._inner.blocks(replace(wanted, numbers=others, words=(*wanted.words, *dates))):
            first = len(wanted.words)
            found = {name: self._numbers(block, name, block.words[first + k]) for k, name in enumerate(dates)}
            yield replace(block, numbers=_together(block, others, found, wanted), words=block.words[:first])

    def _numbers(self, block: Block, name: str, words: Sequence[str | None]) -> Floats:
        words = [None if is_gap(word) else word for word in words]
        form = self.forms[name]
        if form is None:
            form = self.forms[name] = find_form(self.name, name, words)
        try:
            return days(words, form)
        except _NoDate as error:
            raise DataError(
                f"{self.name}, {block.place(error.row)}, column {name!r}: {words[error.row]!r} is no date like the "
                f"others ({form}); mend the cell, or empty it if it is not known{self._another(name, words)}"
            ) from error

    def _another(self, name: str, words: Sequence[str | None]) -> str:
        """What to say where dates are written in another way: a model keeps that of its fit."""
        if self.of_model:
            return ". The model reads dates as they were in its fit: write them so"
        ways = [form for form in readings([word for word in words if word is not None]) if form != ISO]
        return f"; where the column is written in another way: --date-format '{name}={ways[0] if ways else '%Y-%m-%d'}'"


def _together(block: Block, others: Sequence[str], dates: Mapping[str, Floats], wanted: Wanted) -> Floats:
    numbers = block.numbers.toarray() if sparse.issparse(block.numbers) else block.numbers
    column = {name: k for k, name in enumerate(others)}
    X = np.empty((len(block), len(wanted.numbers)))
    for j, name in enumerate(wanted.numbers):
        X[:, j] = dates[name] if name in dates else numbers[:, column[name]]
    return X


class _NoDate(ValueError):
    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def days(words: Sequence[str | None], form: str) -> Floats:
    """Return dates as days since the beginning of 1970, NaN where there is none; times without a zone are taken as UTC.

    Parameters
    ----------
    words : sequence of str or None
    form : str
        As ``strptime`` has it, or ``ISO``.
    """
    parse, known, found = parser(form), dict[str, float](), np.full(len(words), np.nan)
    for i, word in enumerate(words):
        if word is None:
            continue
        try:
            if word not in known:
                known[word] = parse(word)
        except ValueError:
            raise _NoDate(i) from None
        found[i] = known[word]
    return found


def find_form(file: str, column: str, words: Sequence[str | None]) -> str:
    """Return how dates are written; raise where they are none, or the order of day and month is not clear."""
    some = list(dict.fromkeys(word for word in words if word is not None))[:_LOOKED_AT]
    if not some:
        raise DataError(f"{file}, column {column!r} has no dates in its first {len(words)} rows; leave it out: --drop")
    found = readings(some)
    if not found:
        raise DataError(
            f"{file}, column {column!r}: dates such as {some[0]!r} are not all written in one of the ways that "
            f"are known; if the column mixes several, make them alike, else say how: --date-format '{column}=%d.%m.%Y'"
        )
    if len(found) > 1:
        raise DataError(
            f"{file}, column {column!r}: dates such as {some[0]!r} can be read in two ways, as {found[0]} and as "
            f"{found[1]}; say which: --date-format '{column}={found[0]}'"
        )
    return found[0]
