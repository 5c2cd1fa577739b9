"""Cells of tables that stand for a missing value or a truth value, and what a column may hold."""

from collections.abc import Iterable, Set
from typing import Any, Literal, TypeAlias

__all__ = ["GAPS", "MISSING", "Kind", "is_gap", "taken", "truth", "word"]

Kind: TypeAlias = Literal["number", "word", "truth", "duration", "time"]
"""What a column holds: of these truth values, durations and times of day are numbers, 0 and 1 or days."""

MISSING = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
"""Cells of a column of words that stand for a missing value: those that ``pandas.read_csv`` takes for one."""
GAPS = frozenset({*(text.lower() for text in MISSING), "?"})
"""Cells that stand for a missing value among numbers, in small letters."""

_TRUTHS = {"true": True, "false": False}


def word(cell: Any) -> str | None:
    """Return a cell as a word, None where it stands for a missing value."""
    text = str(cell).strip()
    return None if cell is None or text in MISSING else text


def truth(cell: Any) -> bool | None:
    """Return a cell as a truth value, as ``pandas.read_csv`` has it; None where it is none."""
    return _TRUTHS.get(str(cell).strip().lower())


def is_gap(cell: Any) -> bool:
    """Whether a cell among numbers stands for a missing value."""
    return cell is None or str(cell).strip().lower() in GAPS


def taken(cells: Iterable[Any], known: Set[str] = MISSING) -> frozenset[str]:
    """Return the words in a column that were taken for missing values."""
    found = {str(cell).strip() for cell in set(cells)}
    return frozenset(text for text in found if text and (text in known or (known is GAPS and is_gap(text))))
