"""Rows that are collected block by block, in little more memory than they take in the end."""

from array import array

import numpy as np

from .._types import Array, Floats, Rows

__all__ = ["Codes", "Pile"]

_GROWTH = 1.1  # a block of memory of this size is moved by the system without a copy


class Pile:
    """A matrix in single precision that grows by rows.

    A constant is taken from every column first, so that single precision tells the rows apart wherever zero is.
    """

    def __init__(self, offset: Floats) -> None:
        self.offset, self.rows = offset, 0
        self._array = np.empty((0, len(offset)), dtype=np.float32)

    def add(self, block: Floats) -> None:
        """Append rows of double precision."""
        end = self.rows + len(block)
        if end > len(self._array):
            self._array.resize((max(end, int(_GROWTH * len(self._array))), len(self.offset)), refcheck=False)
        np.subtract(block, self.offset, out=self._array[self.rows : end], casting="same_kind")
        self.rows = end

    def matrix(self) -> Array:
        """Return all rows, less the offset; the pile is empty then."""
        X, self._array = self._array, np.empty((0, len(self.offset)), dtype=np.float32)
        X.resize((self.rows, len(self.offset)), refcheck=False)
        self.rows = 0
        return X


class Codes:
    """Words that are collected as numbers; -1 where one is missing."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._codes = array("i")

    def add(self, words: list[str | None]) -> None:
        """Append words."""
        known = self._known
        self._codes.extend(-1 if word is None else known.setdefault(word, len(known)) for word in words)

    def sorted(self) -> tuple[tuple[str, ...], Rows]:
        """Return all words that occur, sorted, and the place of every row's word among them."""
        words = tuple(sorted(self._known))
        place = np.empty(len(words) + 1, dtype=np.intp)
        place[-1] = -1
        place[[self._known[word] for word in words]] = np.arange(len(words))
        return words, place[np.frombuffer(self._codes, dtype=np.intc) if self._codes else np.empty(0, dtype=np.intp)]
