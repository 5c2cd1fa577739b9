"""Mean, variance and range of columns, from rows that come in blocks."""

from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

from .._types import Array, Floats
from ..runtime import at_once

__all__ = ["Moments"]

_BLOCK = 1 << 19  # numbers in a block
_BYTES = 48  # for each of them: differences and what is left out, in double precision


@dataclass(frozen=True)
class Moments:
    """Moments of every column, NaN left out.

    Parameters
    ----------
    count : array
        Numbers that are not NaN.
    mean : array
    square : array
        Sum of squared differences from the mean.
    low, high : array
        Smallest and largest number; infinite where there is none.
    """

    count: Floats
    mean: Floats
    square: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, X: Array) -> Self:
        """Return the moments of one block of rows."""
        X = np.asarray(X, dtype=np.float64)
        there = ~np.isnan(X)
        count = there.sum(axis=0).astype(np.float64)
        filled = X if there.all() else np.where(there, X, 0.0)
        mean = filled.sum(axis=0) / np.maximum(count, 1.0)
        difference = np.where(there, X - mean, 0.0)
        square = np.einsum("ij,ij->j", difference, difference)
        low = np.min(X, axis=0, initial=np.inf, where=there)
        high = np.max(X, axis=0, initial=-np.inf, where=there)
        return cls(count, mean, square, low, high)

    @classmethod
    def of_rows(cls, X: Array, centre: Floats | float = 0.0, reach: Floats | float = np.inf) -> Self:
        """Return the moments of all rows, a block of them in double precision at a time.

        Numbers farther from the centre than they reach are left out.
        """
        step = max(1, at_once(_BLOCK, _BYTES) // max(1, X.shape[1]))
        blocks = (X[start : start + step] for start in range(0, max(len(X), 1), step))
        parts = (cls.of(np.where(np.abs(block - centre) <= reach, block, np.nan)) for block in blocks)
        return reduce(cls.merged, parts)

    def merged(self, other: "Moments") -> Self:
        """Return the moments of both together (Chan, Golub, LeVeque 1979)."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1.0)
        shift = other.mean - self.mean
        return type(self)(
            count,
            self.mean + share * shift,
            self.square + other.square + shift**2 * self.count * share,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def deviation(self) -> Floats:
        """Standard deviation; zero where there are no numbers."""
        return np.sqrt(self.square / np.maximum(self.count, 1.0))

    @property
    def extent(self) -> Floats:
        """Range; zero where there are no numbers."""
        return np.where(self.count > 0, self.high - self.low, 0.0)
