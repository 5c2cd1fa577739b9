"""What every table offers: names of columns, what they hold, and its rows in blocks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import DataError
from .cells import Marks
from .gaps import Kind

__all__ = ["Block", "Source", "Wanted", "block_rows"]

_NUMBERS, _ROWS = 2**19, 8192  # in a block at most


def block_rows(columns: int) -> int:
    """Return how many rows make a block: few of a wide table, since there are several copies of a block."""
    return max(min(_NUMBERS // max(columns, 1), _ROWS), 64)


@dataclass(frozen=True)
class Wanted:
    """Which columns are read, and as what."""

    numbers: tuple[str, ...]
    words: tuple[str, ...] = ()
    target: str | None = None
    target_kind: Literal["number", "word"] = "number"

    def names(self) -> tuple[str, ...]:
        """Return all of them."""
        return (*self.numbers, *self.words, *(() if self.target is None else (self.target,)))


@dataclass(frozen=True)
class Block:
    """Some consecutive rows.

    Parameters
    ----------
    first : int
        Rows before these.
    numbers : array or CSR matrix of shape (n, len(wanted.numbers))
        Double precision, NaN where a value is missing.
    words : list for each wanted column of words
        None where a value is missing.
    target : array, list of words, or None
    lines : sequence of int, optional
        Line of the file where each row begins.
    at : array of int, optional
        How many rows each is after ``first``, where they do not follow each other.
    taken : mapping from column to set of words
        Words that were taken for missing values.
    """

    first: int
    numbers: Inputs
    words: Sequence[list[str | None]] = ()
    target: Floats | list[str | None] | None = None
    lines: Sequence[int] | None = None
    at: Rows | None = None
    taken: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    def place(self, row: int) -> str:
        """Say where a row of this block stands."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"row {1 + self.rows()[row]}"

    def rows(self) -> Rows:
        """Return the number of each row in the table, from 0."""
        return self.first + (np.arange(len(self)) if self.at is None else self.at)

    def some(self, rows: Rows) -> Self:
        """Return some of these rows, by their numbers in this block."""
        words = [[column[i] for i in rows] for column in self.words]
        target = [self.target[i] for i in rows] if isinstance(self.target, list) else self.target
        if isinstance(target, np.ndarray):
            target = target[rows]
        lines = None if self.lines is None else [self.lines[i] for i in rows]
        at = rows if self.at is None else self.at[rows]
        return replace(self, numbers=self.numbers[rows], words=words, target=target, lines=lines, at=at)


class Source(ABC):
    """A table whose rows are read once, in blocks.

    Attributes
    ----------
    name : str
        For messages.
    target : str, optional
        The target's name, where the table itself says which it is.
    task : str, optional
        "classify" or "regress", where the table itself says so.
    """

    name: str
    target: str | None = None
    task: str | None = None
    _notes: Sequence[str] = ()

    @property
    def marks(self) -> Marks | None:
        """How numbers are written, where all cells are text."""
        return None

    @property
    def ordered(self) -> Sequence[str]:
        """Names of columns of categories that the table has in an order."""
        return ()

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""

    @abstractmethod
    def kinds(self) -> dict[str, Kind]:
        """Return what every column holds, judged by the first rows."""

    @abstractmethod
    def _blocks(self, wanted: Wanted) -> Iterator[Block]: ...

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Return the rows; raises at once where a wanted column is not there."""
        self.require(wanted.names())
        return self._blocks(wanted)

    @property
    def notes(self) -> Sequence[str]:
        """What is to be said of how it was read, once it was."""
        return self._notes

    def close(self) -> None:  # noqa: B027
        """Close the file, if there is one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def share_read(self) -> float | None:
        """Return how much of the table was read, from 0 to 1; None where nobody knows."""
        return None

    def require(self, names: Sequence[str]) -> None:
        """Raise unless all these columns are there."""
        have = set(self.columns)
        absent = [name for name in names if name not in have]
        if absent:
            raise DataError(
                f"{self.name} has no column {_listed(absent)}; it has {_listed(self.columns)}{self._no_header_hint()}"
            )

    def _no_header_hint(self) -> str:
        return ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(map(repr, names[:8])) + more
