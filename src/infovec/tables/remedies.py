"""How texts become the numbers or dates that they are written for, as a line to paste, and what that would lose."""

import re

from ..plain import printable
from .raw import Raw
from .writing import are_amounts, are_dates, are_numbers, are_with_commas, first_amount, has_decimal_comma

__all__ = ["as_written", "recovered"]


def as_written(raw: Raw, mixed: bool = False) -> str:
    """How to make texts into the numbers or dates that all are written for; nothing where some are words.

    Parameters
    ----------
    raw : Raw
    mixed : bool
        Whether there are numbers among the texts.
    """
    words, name = raw.counts(), f"X[{raw.name!r}]"
    if are_dates(words):
        return f"As dates: {name} = pandas.to_datetime({name}, dayfirst=True), or without dayfirst"
    if are_numbers(words):
        return f"As numbers: {name} = pandas.to_numeric({_texts(raw)})"
    powers = any("e" in word.lower() for word in words if are_numbers([word]))
    marks = "[^0-9eE.+-]" if powers else "[^0-9.-]"
    if are_amounts(words) or are_with_commas(words):
        return f"As numbers, should commas stand between thousands: {name} = {_without(raw, marks, mixed)}"
    return ""


def recovered(raw: Raw, mixed: bool = False) -> str:
    """How to make texts into numbers where numbers belong, with what that loses; nothing where none or no way is seen.

    Where some texts are words, they are missing after it, and nothing else may become a number.
    """
    counts = raw.counts()
    if are_dates(counts):
        return ""
    if said := as_written(raw, mixed):
        return said
    marks = "[^0-9A-Za-z.-]" if first_amount(counts) is not None or any(map(has_decimal_comma, counts)) else ""
    lost = [word for word in counts if not are_numbers([re.sub(marks, "", word) if marks else word])]
    invented = [word for word in counts if word not in lost and not _is_amount(word)]
    if len(lost) == len(counts) or invented:
        return ""
    cells, example = sum(counts[word] for word in lost), max(lost, key=lambda word: counts[word])
    series = _without(raw, marks, mixed) if marks else f"pandas.to_numeric({_texts(raw)})"
    return (
        f"{cells} of its {sum(counts.values())} cells {'is' if cells == 1 else 'are'} no number (such as "
        f"{printable(repr(example))}), and will be missing after X[{raw.name!r}] = {series[:-1]}, "
        'errors="coerce"), which makes numbers of the others' + ", should commas stand between thousands" * bool(marks)
    )


def _is_amount(word: str) -> bool:
    return are_numbers([word]) or are_amounts([word]) or has_decimal_comma(word)


def _without(raw: Raw, marks: str, mixed: bool) -> str:
    texts = _texts(raw) if raw.listed or not mixed else f"X[{raw.name!r}].astype(str)"
    return f'pandas.to_numeric({texts}.str.replace(r"{marks}", "", regex=True))'


def _texts(raw: Raw) -> str:
    return f"X[{raw.name!r}]" + ".astype(str)" * raw.listed
