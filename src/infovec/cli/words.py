"""Whether a column of words can be used as categories, and what else it may be."""

import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..datasets.cells import THOUSANDS, Marks, is_number
from ..errors import CellError, DataError, UndecidedError
from ..tables.writing import are_amounts as amounts
from ..tables.writing import are_dates, are_with_commas, first_amount, has_decimal_comma

__all__ = ["MOST", "Obstacle", "are_amounts", "no_number", "obstacle", "spelling", "undecided"]

MOST = 100
"""Categories that a column may have without being named as categorical."""


def spelling(words: Iterable[str | None]) -> str:
    """Say of the first number with a currency sign or thousands separators how it is read; nothing of other words."""
    found = first_amount(words)
    if found is None:
        return ""
    if has_decimal_comma(found):
        return (
            f"{found!r} has a comma: if it is a decimal comma say --decimal ,; if it stands between thousands, "
            "--thousands ,"
        )
    mark = next((mark for mark in THOUSANDS if _is_marked(found, mark)), None)
    if mark is not None:
        return f"{found!r} has marks between thousands: say --thousands {shlex.quote(mark)}"
    return f"{found!r} has a currency sign or thousands separators: write 104300.00 for $104,300.00 in the file"


def no_number(error: CellError) -> DataError:
    """Say of a cell that cannot be read that the model wants a number there, and how it is read."""
    cause = "" if "--thousands" in str(error) else spelling((error.cell,))
    return DataError(f"{error}; the model takes numbers in this column" + (f". {cause}" if cause else ""))


def are_amounts(words: Iterable[str]) -> bool:
    """Whether words are numbers, some of them with currency signs or thousands separators."""
    return amounts(word for word in words if not is_number(word))


class Obstacle(NamedTuple):
    """A column of words that may be something else, and the option that would say so."""

    column: str
    what: str
    remedy: str
    option: str  # nothing where the file has to be mended
    value: str


def obstacle(column: str, words: tuple[str, ...], rows: int) -> Obstacle | None:
    """Return what is to be decided where words are dates, numbers with marks, or too many to be categories.

    Parameters
    ----------
    column : str
    words : tuple of str
        All that occur.
    rows : int
    """
    remedy = f"leave the column out with --drop {column!r}, or say --categorical {column!r} to take them as categories"
    if are_dates(words):
        said = f"Say --dates {column!r} to take them as numbers, or {remedy}"
        return Obstacle(column, f"holds dates (such as {words[0]!r})", said, "--dates", column)
    if are_with_commas(words):
        said = "if it is a decimal comma say --decimal ,; if it stands between thousands, --thousands ,"
        between = all(_is_marked(word, ",") for word in words)
        what = f"has numbers with a comma ({words[0]!r})"
        return Obstacle(column, what, said, "--thousands" if between else "--decimal", ",")
    if are_amounts(words):
        what = f"holds numbers that cannot be read: {spelling(words)}"
        mark = next((mark for mark in THOUSANDS if all(_is_marked(word, mark) for word in words)), "")
        said = f"If they are categories, say --categorical {column!r}"
        return Obstacle(column, what, said, "--thousands" if mark else "", mark)
    if len(words) > MOST:
        what = f"holds {len(words)} different words in {rows} rows (such as {words[0]!r} and {words[1]!r})"
        said = f"If they are names or numbers of rows, {remedy}"
        return Obstacle(column, f"{what}, too many for categories", said, "--drop", column)
    return None


def undecided(file: str, found: Sequence[Obstacle]) -> UndecidedError:
    """Return the error of columns that need a decision: all of them at once."""
    options = dict[str, list[str]]()
    for one in found:
        if one.option:
            options.setdefault(one.option, []).append(one.value)
    if len(found) == 1:
        one = found[0]
        joined = ": " if one.option in ("--thousands", "--decimal") and not one.remedy.startswith("If") else ". "
        return UndecidedError(f"{file}, column {one.column!r} {one.what}{joined}{one.remedy}", options)
    listed = "; ".join(f"{one.column!r} {one.what}" for one in found)
    return UndecidedError(
        f"{file}: {len(found)} columns need a decision. {listed}. --drop leaves a column out, --categorical takes its "
        "words as categories, --dates takes dates as numbers, --thousands and --decimal say what marks in numbers are",
        options,
    )


def _is_marked(word: str, mark: str) -> bool:
    return is_number(word, Marks.of(None, mark, [[word]]))
