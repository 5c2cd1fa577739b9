"""Whether a column of words can be used as categories, and what else it may be."""

import re

from ..errors import DataError

__all__ = ["MOST", "check_words"]

MOST = 100
"""Categories that a column may have without being named as categorical."""

_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+|[-+]?\d+")


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
    if all(_DATE.fullmatch(word) for word in words):
        raise DataError(
            f"{file}, column {column!r} holds dates (such as {words[0]!r}). Say --dates {column!r} to take them as "
            f"numbers, or {remedy}"
        )
    if any("," in word for word in words) and all(_DECIMAL_COMMA.fullmatch(word) for word in words):
        raise DataError(
            f"{file}, column {column!r} has numbers with a comma ({words[0]!r}): if it is a decimal comma say "
            "--decimal ,; if it stands between thousands, leave it out of the file"
        )
    if len(words) > MOST:
        raise DataError(
            f"{file}, column {column!r} holds {len(words)} different words in {rows} rows (such as {words[0]!r} and "
            f"{words[1]!r}), too many for categories. If they are names or numbers of rows, {remedy}"
        )
