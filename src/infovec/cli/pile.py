"""Rows that are collected block by block, in little more memory than they take in the end."""

import tempfile
from array import array
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from .._types import Array, Floats, Mask, Rows
from ..numerics.moments import Moments
from ..runtime import reserve
from ..tables.writing import is_amount

__all__ = ["Codes", "Pile", "counts_rows", "offset_of", "on_disk", "some_columns"]

_DISK_GROWTH = 1.5
_FAR = 64.0  # standard deviations from zero, from which single precision tells rows apart too coarsely
_AT_ONCE = 4096  # rows
_FEWEST, _STEP = 20, 4.0  # rows, fewer of which a column may count by chance; mean step where some are held back
_PLACES = 3  # of words that are no numbers
_COPIED = 1 << 16  # rows at a time
_GROWTH = 1.1  # a block of memory of this size is moved by the system without a copy


class Pile:
    """A matrix in single precision that grows by rows.

    A constant is taken from every column first, so that single precision tells the rows apart wherever zero is.

    Parameters
    ----------
    offset : array
        That constant.
    room : float
        Bytes; a larger matrix is in a file without a name, which is gone with the process.
    """

    def __init__(self, offset: Floats, room: float = float("inf")) -> None:
        self.offset, self.rows, self.room = offset, 0, room
        self._array = np.empty((0, len(offset)), dtype=np.float32)

    def add(self, block: Floats) -> None:
        """Append rows of double precision."""
        end = self.rows + len(block)
        if 4 * end * len(self.offset) > self.room:
            self._to_disk(end)
        elif end > len(self._array):
            self._array.resize((max(end, int(_GROWTH * len(self._array))), len(self.offset)), refcheck=False)
        np.subtract(block, self.offset, out=self._array[self.rows : end], casting="same_kind")
        self.rows = end

    def _to_disk(self, rows: int) -> None:
        """Have room for so many rows on disk."""
        if rows <= len(self._array) and isinstance(self._array, np.memmap):
            return
        before, self._array = self._array, on_disk((max(rows, int(_DISK_GROWTH * rows)), len(self.offset)))
        for start in range(0, self.rows, _COPIED):
            end = min(start + _COPIED, self.rows)
            self._array[start:end] = before[start:end]

    def column(self, j: int) -> Array:
        """Return the numbers of a column, less the offset."""
        return self._array[: self.rows, j]

    def matrix(self) -> Array:
        """Return all rows, less the offset; the pile is empty then."""
        if isinstance(self._array, np.memmap):
            found, self._array = self._array[: self.rows], np.empty((0, len(self.offset)), dtype=np.float32)
            return found
        X, self._array = self._array, np.empty((0, len(self.offset)), dtype=np.float32)
        X.resize((self.rows, len(self.offset)), refcheck=False)
        self.rows = 0
        return X


def on_disk(shape: tuple[int, int], dtype: type[np.floating[Any]] = np.float32) -> Array:
    """Return a matrix in a file without a name."""
    with tempfile.TemporaryFile(prefix="infovec-") as file:
        reserve(file, np.dtype(dtype).itemsize * shape[0] * shape[1])
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


class Codes:
    """Words that are collected as numbers; -1 where one is missing.

    Attributes
    ----------
    places : mapping from word to str
        Where the first few are that nobody reads as numbers.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._codes = array("i")
        self.places: dict[str, str] = {}

    def add(self, words: list[str | None], place: Callable[[int], str] = str) -> None:
        """Append words, which stand in these places."""
        known, before = self._known, len(self._known)
        self._codes.extend(-1 if word is None else known.setdefault(word, len(known)) for word in words)
        for word in islice(known, before, None):
            if len(self.places) == _PLACES:
                break
            if not is_amount(word):
                self.places[word] = place(words.index(word))

    def counts(self) -> dict[str, int]:
        """Return how often each word occurs, sorted."""
        words, own = self.sorted()
        found = np.bincount(own[own >= 0], minlength=len(words))
        return dict(zip(words, found.tolist(), strict=True))

    def sorted(self) -> tuple[tuple[str, ...], Rows]:
        """Return all words that occur, sorted, and the place of every row's word among them."""
        words = tuple(sorted(self._known))
        place = np.empty(len(words) + 1, dtype=np.intp)
        place[-1] = -1
        place[[self._known[word] for word in words]] = np.arange(len(words))
        return words, place[np.frombuffer(self._codes, dtype=np.intc) if self._codes else np.empty(0, dtype=np.intp)]


def counts_rows(values: Array) -> bool:
    """Whether values are whole numbers that rise from row to row, by one where no rows are left out."""
    if len(values) < _FEWEST or not values[-1] - values[0] < _STEP * len(values):
        return False
    steps = (np.diff(values[start : start + _AT_ONCE + 1]) for start in range(0, len(values), _AT_ONCE))
    return all(bool(np.all((step >= 1.0) & (step == np.round(step)))) for step in steps)


def offset_of(moments: Moments) -> Floats:
    """Return what is to be taken from columns that are far from zero, for single precision to tell their rows apart.

    It is a multiple of a power of two about as large as the deviation, so that whole numbers stay whole.
    """
    mean, deviation = moments.mean, moments.deviation
    far = (np.abs(mean) > _FAR * deviation) & ((deviation > 0.0) | (mean.astype(np.float32) != mean))
    step = 2.0 ** np.floor(np.log2(np.where(deviation > 0.0, deviation, 1.0)))
    return np.where(far, np.where(deviation > 0.0, np.round(mean / step) * step, mean), 0.0)


def some_columns(X: Array, kept: Mask, offset: Floats) -> Array:
    """Some columns of a matrix with their offsets, in double precision if there are any, on disk if it is there."""
    shape, dtype = (len(X), int(np.sum(kept))), np.float64 if offset.any() else np.float32
    found = on_disk(shape, dtype) if isinstance(X, np.memmap) else np.empty(shape, dtype=dtype)
    for start in range(0, len(X), _AT_ONCE):
        found[start : start + _AT_ONCE] = X[start : start + _AT_ONCE][:, kept] + offset.astype(dtype)
    return found
