"""Cells of text as numbers, with a decimal point or a decimal comma."""

import re
from collections.abc import Sequence

import numpy as np

from .._types import Floats
from .source import MISSING, word

__all__ = ["NoNumber", "commas_are_decimal", "is_number", "numbers_of"]

_FRACTION = re.compile(r"\s*[-+]?(\d+|(\d*),(\d+))([eE][-+]?\d+)?\s*")
_POINT = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*")


class NoNumber(ValueError):
    """A cell is no number."""

    def __init__(self, row: int, cell: str) -> None:
        super().__init__(cell)
        self.row, self.cell = row, cell


def is_number(cell: str, comma: bool = False) -> bool:
    """Whether a cell is a number, or stands for a missing one."""
    try:
        _number(cell, comma)
    except ValueError:
        return word(cell) is None
    return True


def numbers_of(cells: Sequence[str], comma: bool = False) -> Floats:
    """Return cells as numbers, NaN where they stand for a missing value."""
    try:
        if not comma:
            return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        pass
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if not is_number(cell, comma):
            raise NoNumber(i, cell.strip())
        values[i] = np.nan if cell.strip().lower() in MISSING else _number(cell, comma)
    return values


def commas_are_decimal(columns: Sequence[Sequence[str]]) -> bool:
    """Whether some column can only be read with decimal commas, and none has decimal points.

    Commas between thousands are none, so that 1,234 alone decides nothing.
    """
    found = False
    for cells in columns:
        some = [cell for cell in cells if word(cell) is not None]
        if any(_POINT.fullmatch(cell) for cell in some):
            return False
        commas = [cell for cell in some if "," in cell]
        if commas and all(_FRACTION.fullmatch(cell) for cell in some):
            found = found or not all(_THOUSANDS.fullmatch(cell) for cell in commas)
    return found


def _number(cell: str, comma: bool) -> float:
    if comma and "." in cell:
        raise ValueError(cell)
    return float(cell.replace(",", ".")) if comma else float(cell)
