"""How texts become the numbers or dates that they are written for, as a line to paste, and what that would lose."""

import re

import numpy as np

from ..plain import printable
from .forms import ISO, readings
from .raw import Raw
from .writing import (
    are_amounts,
    are_dates,
    are_numbers,
    are_with_commas,
    first_amount,
    has_decimal_comma,
    is_amount,
    odd_among_numbers,
)

__all__ = ["as_dates", "as_written", "mostly_numbers", "recovered"]

_LOOKED_AT = 1000  # different dates by which the form is found


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


def as_dates(raw: Raw) -> str:
    """How to make texts into dates, with the form that they are written in: pandas takes the month first where it may.

    Both forms are named where the texts can be read in two ways.
    """
    words = list(raw.counts())
    forms = [form for form in readings(words[:_LOOKED_AT]) if form != ISO]
    line = f"X[{raw.name!r}] = pandas.to_datetime(X[{raw.name!r}], format={{}})"
    if not forms:
        return (
            "Say by format= how dates are written: "
            + line.format('"%d/%m/%Y"')
            + " where they are like 31/12/2024, and empty cells that are none"
        )
    said = line.format(f'"{forms[0]}"')
    if len(forms) == 1:
        return f"As dates: {said}"
    return (
        f'As dates: {said}, or with format="{forms[1]}": {printable(repr(words[0]))} can be read in both ways, and '
        "pandas alone may take the wrong one"
    )


def recovered(raw: Raw, mixed: bool = False) -> str:
    """How to make texts into numbers where numbers belong, with what that loses; nothing where none or no way is seen.

    Where some texts are words, they are missing after it, and nothing else may become a number.
    """
    counts = raw.counts()
    if are_dates(counts):
        return ""
    if said := as_written(raw, mixed):
        return said
    lost, line = _coerced(raw, mixed)
    if not line:
        return ""
    cells, example = sum(counts[word] for word in lost), max(lost, key=lambda word: counts[word])
    return (
        f"{cells} of its {sum(counts.values())} cells {'is' if cells == 1 else 'are'} no number (such as "
        f"{printable(repr(example))}), and will be missing after {line}"
    )


def mostly_numbers(raw: Raw) -> str:
    """Say of texts most of which are written as numbers where the first is that is not; nothing of other texts."""
    counts = raw.counts()
    odd = odd_among_numbers(counts)
    if not odd:
        return ""
    row = int(np.argmax(np.isin(raw.values, [raw.words.index(word) for word in odd])))
    total, cells = sum(counts.values()), sum(counts[word] for word in odd)
    lost, line = _coerced(raw, mixed=False)
    missing = sum(counts[word] for word in lost)
    return (
        f"{total - cells} of {total} cells are written as numbers, and {cells} {'is' if cells == 1 else 'are'} not: "
        f"row {row} has {printable(repr(raw.words[int(raw.values[row])]))}"
        + (f". {missing} will be missing after {line}" if line else "")
    )


def _coerced(raw: Raw, mixed: bool) -> tuple[list[str], str]:
    """Texts that are no numbers, and the line that makes numbers of all others; none where none or no way is seen."""
    counts = raw.counts()
    marked = first_amount(counts) is not None or any("," in word and has_decimal_comma(word) for word in counts)
    marks = "[^0-9A-Za-z.-]" if marked else ""
    lost = [word for word in counts if not are_numbers([re.sub(marks, "", word) if marks else word])]
    invented = [word for word in counts if word not in lost and not is_amount(word)]
    if len(lost) == len(counts) or invented:
        return lost, ""
    series = _without(raw, marks, mixed) if marks else f"pandas.to_numeric({_texts(raw)})"
    return lost, (
        f'X[{raw.name!r}] = {series[:-1]}, errors="coerce"), which makes numbers of the others'
        + ", should commas stand between thousands" * bool(marks)
    )


def _without(raw: Raw, marks: str, mixed: bool) -> str:
    texts = _texts(raw) if raw.listed or not mixed else f"X[{raw.name!r}].astype(str)"
    return f'pandas.to_numeric({texts}.str.replace(r"{marks}", "", regex=True))'


def _texts(raw: Raw) -> str:
    return f"X[{raw.name!r}]" + ".astype(str)" * raw.listed
