"""Cells of a table as they are, to be written beside what is said of their rows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..datasets import Block
from ..datasets.gaps import Kind
from ..datasets.source import Wanted

__all__ = ["cells", "text", "with_cells"]

_WHOLE = 1e15  # below which whole numbers are written as such


def with_cells(wanted: Wanted, columns: Sequence[str], kinds: Mapping[str, Kind], dates: Collection[str]) -> Wanted:
    """Return what is wanted, and all these columns as well: as they are written where they are no numbers.

    Parameters
    ----------
    wanted : Wanted
    columns : sequence of str
    kinds : mapping from column to Kind
    dates : collection of str
        Columns that are read as numbers, and are none.
    """
    as_written = [name for name in columns if name in dates or kinds[name] not in ("number", "word")]
    read = [name for name in wanted.names() if name in wanted.words or name not in as_written]
    others = tuple(name for name in columns if name not in read)
    return Wanted(wanted.numbers, (*wanted.words, *others), wanted.target, wanted.target_kind)


def cells(columns: Sequence[str], wanted: Wanted, block: Block) -> Array:
    """Return the cells of rows, in the order of these columns."""
    found = np.empty((len(block), len(columns)), dtype=object)
    place = {name: j for j, name in enumerate(columns)}
    numbers = block.numbers.toarray() if columns and sparse.issparse(block.numbers) else block.numbers
    for k, name in enumerate(wanted.numbers if columns else ()):
        if name in place:
            found[:, place[name]] = [None if v != v else v for v in numbers[:, k].tolist()]
    for words, name in zip(block.words, wanted.words, strict=True):
        if name in place:
            found[:, place[name]] = words
    return found


def text(value: Any) -> str:
    """A cell as it is written: numbers as short as they can be read back, nothing if it is missing."""
    if isinstance(value, float):
        return f"{value:.0f}" if value == round(value) and abs(value) < _WHOLE else repr(value)
    return "" if value is None else str(value)
