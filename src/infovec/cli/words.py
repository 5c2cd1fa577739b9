"""Whether a column of words can be used as categories, and what else it may be."""

import shlex
from collections.abc import Iterable

from ..datasets.cells import THOUSANDS, Marks, is_number
from ..errors import DataError
from ..tables.writing import are_amounts as amounts
from ..tables.writing import are_dates, are_with_commas, first_amount, has_decimal_comma

__all__ = ["MOST", "are_amounts", "check_words", "spelling"]

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
    mark = next((mark for mark in THOUSANDS if is_number(found, Marks.of(None, mark, [[found]]))), None)
    if mark is not None:
        return f"{found!r} has marks between thousands: say --thousands {shlex.quote(mark)}"
    return f"{found!r} has a currency sign or thousands separators: write 104300.00 for $104,300.00 in the file"


def are_amounts(words: Iterable[str]) -> bool:
    """Whether words are numbers, some of them with currency signs or thousands separators."""
    return amounts(word for word in words if not is_number(word))


def check_words(file: str, column: str, words: tuple[str, ...], rows: int, asked: bool) -> None:
    """Raise where words are dates, numbers with a comma, or too many to be categories.

    Parameters
    ----------
    file, column : str
    words : tuple of str
        All that occur.
    rows : int
    asked : bool
        Whether the user named the column as categorical: then it is one.
    """
    if asked:
        return
    remedy = f"leave the column out with --drop {column!r}, or say --categorical {column!r} to take them as categories"
    if are_dates(words):
        raise DataError(
            f"{file}, column {column!r} holds dates (such as {words[0]!r}). Say --dates {column!r} to take them as "
            f"numbers, or {remedy}"
        )
    if are_with_commas(words):
        raise DataError(
            f"{file}, column {column!r} has numbers with a comma ({words[0]!r}): if it is a decimal comma say "
            "--decimal ,; if it stands between thousands, --thousands ,"
        )
    if are_amounts(words):
        raise DataError(
            f"{file}, column {column!r} holds numbers that cannot be read: {spelling(words)}. If they are categories, "
            f"say --categorical {column!r}"
        )
    if len(words) > MOST:
        raise DataError(
            f"{file}, column {column!r} holds {len(words)} different words in {rows} rows (such as {words[0]!r} and "
            f"{words[1]!r}), too many for categories. If they are names or numbers of rows, {remedy}"
        )
