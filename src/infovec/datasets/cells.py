"""Cells of text as numbers, with a decimal point or a decimal comma."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np

from .._types import Floats
from .gaps import MISSING, Kind, is_gap, truth

__all__ = ["THOUSANDS", "Marks", "NoNumber", "commas_are_decimal", "is_number", "kind_of", "numbers_of"]

_FRACTION = re.compile(r"\s*[-+]?(\d+|(\d*),(\d+))([eE][-+]?\d+)?\s*")
_POINT = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*")


THOUSANDS: Final[Mapping[str, str]] = {",": ",", ".": ".", "'": "'’", "space": " \u00a0\u202f"}
"""Marks that may stand between thousands, by the names that options have for them."""


class Marks(NamedTuple):
    """How numbers are written: the mark before decimals, and those that may stand between thousands."""

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, decimal: str | None, thousands: str | None, columns: Sequence[Sequence[str]]) -> Self:
        """Return what was asked for; the mark before decimals is found in columns where nobody says it."""
        signs = THOUSANDS[thousands] if thousands else ""
        if decimal is None and signs and signs in ",.":
            decimal = "." if signs == "," else ","
        if decimal is None:
            plain = [[_without(cell, signs) for cell in cells] for cells in columns] if signs else columns
            decimal = "," if commas_are_decimal(plain) else "."
        return cls(decimal, signs)

    def value(self, cell: str) -> float:
        """Return the number in a cell; raise ValueError where there is none."""
        if self.thousands and any(sign in cell for sign in self.thousands):
            sign, decimal = f"[{re.escape(self.thousands)}]", re.escape(self.decimal)
            if not re.fullmatch(rf"\s*[-+]?\d{{1,3}}({sign}\d{{3}})+({decimal}\d*)?\s*", cell):
                raise ValueError(cell)
            cell = _without(cell.strip(), self.thousands)
        if self.decimal == ".":
            return float(cell)
        if "." in cell:
            raise ValueError(cell)
        return float(cell.replace(",", "."))


_PLAIN = Marks()


class NoNumber(ValueError):
    """A cell is no number.

    Parameters
    ----------
    row : int
    cell : str
    beside : str
        What other cells of the column are, if they are no numbers either.
    """

    def __init__(self, row: int, cell: str, beside: str = "") -> None:
        super().__init__(cell)
        self.row, self.cell, self.beside = row, cell, beside


def is_number(cell: str, marks: Marks = _PLAIN) -> bool:
    """Whether a cell is a number, or stands for a missing one."""
    try:
        marks.value(cell)
    except ValueError:
        return is_gap(cell)
    return True


def kind_of(cells: Sequence[str], marks: Marks) -> Kind:
    """Return what a column is of: numbers or truth values where there are no other words, nor only gaps of words."""
    if all(is_number(cell, marks) for cell in cells):
        return "number" if not all(map(is_gap, cells)) or all(cell.strip() in MISSING for cell in cells) else "word"
    return "truth" if _are_truths(cells) else "word"


def _are_truths(cells: Sequence[str]) -> bool:
    return all(truth(cell) is not None or cell.strip() in MISSING for cell in cells)


def numbers_of(cells: Sequence[str], marks: Marks = _PLAIN) -> Floats:
    """Return cells as numbers, NaN where they stand for a missing value.

    Truth values are 1 and 0, which may be beside them; beside other numbers they are none.
    """
    try:
        if marks == _PLAIN:
            return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        pass
    values, truths, words = np.full(len(cells), np.nan), list[int](), list[int]()
    for i, cell in enumerate(cells):
        if (found := truth(cell)) is not None:
            values[i] = found
            truths.append(i)
        elif not is_number(cell, marks):
            words.append(i)
        elif not is_gap(cell):
            values[i] = marks.value(cell)
    others = np.flatnonzero(~np.isnan(values) & (values != 0.0) & (values != 1.0)).tolist()
    of_truths = len(truths) > len(others)
    if of_truths:
        words += others
    elif others:
        words += truths
    if words:
        wrong = min(words)
        raise NoNumber(wrong, cells[wrong].strip(), ", nor True or False as others are" if of_truths else "")
    return values


def commas_are_decimal(columns: Sequence[Sequence[str]]) -> bool:
    """Whether some column can only be read with decimal commas, and none has decimal points.

    Commas between thousands are none, so that 1,234 alone decides nothing.
    """
    found = False
    for cells in columns:
        some = [cell for cell in cells if not is_gap(cell)]
        if any(_POINT.fullmatch(cell) for cell in some):
            return False
        commas = [cell for cell in some if "," in cell]
        if commas and all(_FRACTION.fullmatch(cell) for cell in some):
            found = found or not all(_THOUSANDS.fullmatch(cell) for cell in commas)
    return found


def _without(cell: str, signs: str) -> str:
    return cell.translate(dict.fromkeys(map(ord, signs)))
