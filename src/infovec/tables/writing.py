"""Numbers and dates that are written in ways that only people read."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "are_amounts",
    "are_dates",
    "are_numbers",
    "are_with_commas",
    "first_amount",
    "has_decimal_comma",
    "is_amount",
    "odd_among_numbers",
]

HANDFUL: Final = 5
"""Different numbers among which a word may be one more code, such as "other" beside 1 to 5."""

_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+|[-+]?\d+")
_MARK = r"(?:[$£¥¢\u20a0-\u20cf]|EUR|USD|GBP|CHF)"
_THOUSANDS = r"\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+"
_DIGITS = rf"(?:{_THOUSANDS}|\d{{1,3}}(?:\.\d{{3}})+|\d+(?:[.,]\d+)?|[.,]\d+)"
_AMOUNT = re.compile(rf"[-+(]?(?:{_THOUSANDS}|{_MARK}\s?[-+]?{_DIGITS}|{_DIGITS}\s?{_MARK})\)?")


def first_amount(words: Iterable[str | None]) -> str | None:
    """Return the first number with a currency sign or thousands separators."""
    return next((word for word in words if word is not None and _AMOUNT.fullmatch(word)), None)


def are_amounts(words: Iterable[str]) -> bool:
    """Whether words are numbers, some of them with currency signs or thousands separators."""
    strange = [word for word in words if not _is_number(word)]
    return bool(strange) and all(_AMOUNT.fullmatch(word) for word in strange)


def are_numbers(words: Iterable[str]) -> bool:
    """Whether all words are numbers as programs write them."""
    return all(_is_number(word) for word in words)


def are_dates(words: Iterable[str]) -> bool:
    """Whether all words look like dates."""
    return all(_DATE.fullmatch(word) for word in words)


def has_decimal_comma(word: str) -> bool:
    """Whether a comma in the word may be a decimal one."""
    return _DECIMAL_COMMA.fullmatch(word) is not None


def are_with_commas(words: Iterable[str]) -> bool:
    """Whether words are numbers, some with a comma that may be a decimal one."""
    words = list(words)
    return any("," in word for word in words) and all(map(has_decimal_comma, words))


def is_amount(word: str) -> bool:
    """Whether people read a word as a number, with a currency sign, thousands separators or a decimal comma."""
    return _is_number(word) or _AMOUNT.fullmatch(word) is not None or has_decimal_comma(word)


def odd_among_numbers(words: Iterable[str]) -> list[str]:
    """Return those of different words that are no numbers, where most are: nothing where all are, or none belongs.

    A word among a handful of numbers may be one more code.
    """
    words = list(words)
    odd = [word for word in words if not is_amount(word)]
    return odd if len(words) - len(odd) > max(HANDFUL, len(odd)) else []


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
