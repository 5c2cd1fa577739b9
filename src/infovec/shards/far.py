"""Inputs of rows that are not in the memory of this process: looked at some at a time, where they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Array, Floats, Message, Rows

__all__ = ["FarInputs", "Store", "View"]


class Store(ABC):
    """Where inputs are: rows 0 to n - 1 in pieces, which follow each other.

    Parameters
    ----------
    lengths : sequence of int
        Rows of each piece.
    p : int
        Columns.
    dtype : {"float32", "float64"}
        Of the inputs as they are.
    """

    def __init__(self, lengths: Sequence[int], p: int, dtype: str) -> None:
        self.ends: Rows = np.cumsum(np.asarray(lengths, dtype=np.intp))
        self.n, self.p = int(self.ends[-1]) if len(self.ends) else 0, p
        self.dtype = dtype

    @abstractmethod
    def map(
        self, function: Callable[..., Message], pieces: Sequence[int], args: Sequence[tuple[Message, ...]]
    ) -> list[Message]:
        """Return what a function makes of the inputs of some pieces, each with arguments of its own.

        The function is called where the piece is.
        """

    @abstractmethod
    def places(self, within: float) -> Message:
        """Return the Places of these inputs, whose shards have so many bytes."""

    def where(self, row: int) -> str:
        """Say where a row comes from, for people to find it."""
        return f"row {row}"

    def pieces_of(self, rows: Rows) -> list[tuple[int, Rows]]:
        """Return the pieces that some rows are in, with the positions of these among the rows given."""
        piece = np.searchsorted(self.ends, rows, side="right")
        order = np.argsort(piece, kind="stable")
        found, first = np.unique(piece[order], return_index=True)
        return list(zip(found.tolist(), np.split(order, first[1:]) if len(found) else [], strict=True))

    def start(self, piece: int) -> int:
        """Return the first row of a piece."""
        return int(self.ends[piece - 1]) if piece else 0

    def take(self, rows: Rows, view: "View") -> Array:
        """Return the inputs of some rows, in the order given."""
        parts = self.pieces_of(rows)
        asked = [(rows[at] - self.start(piece), view) for piece, at in parts]
        found = np.empty((len(rows), self.p), dtype=view.dtype)
        for (_, at), values in zip(parts, self.map(_taken, [piece for piece, _ in parts], asked), strict=True):
            found[at] = values
        return found


@dataclass(frozen=True)
class View:
    """How a fit has inputs: around a centre, in units (see ``Columns``), in a precision."""

    dtype: str = "float64"
    centre: Floats | None = None
    scale: Floats | None = None
    grid: float | None = None  # steps in a unit that are told apart
    narrow: bool = False  # whether the centre is taken off in the precision of the inputs

    def __call__(self, X: Array) -> Array:
        """Return inputs as the fit has them."""
        if self.centre is not None:
            X = X - self.centre.astype(X.dtype) if self.narrow else X - self.centre
        if self.scale is not None:
            X = X / self.scale
        if self.grid is not None:
            X = np.round(X * self.grid) / self.grid
        return X.astype(self.dtype, copy=False)


class FarInputs:
    """Some rows of a store, as a fit has them. To be asked for some rows at a time, as arrays are.

    Parameters
    ----------
    store : Store
    view : View
    index : array of int, optional
        Which rows of the store these are; all of them unless given.
    """

    ndim = 2

    def __init__(self, store: Store, view: View | None = None, index: Rows | None = None) -> None:
        self.store, self.view, self.index = store, View() if view is None else view, index
        self.dtype = np.dtype(self.view.dtype)
        self.shape = (store.n if index is None else len(index), store.p)
        self.copied: object = None  # whatever shards have made of these inputs, for those that come after
        self.lot: tuple[FarInputs, Rows] = self, np.empty(0, dtype=np.intp)  # whose rows these are, and which of them

    def __len__(self) -> int:
        return self.shape[0]

    def rows(self, at: Rows | slice) -> Rows:
        """Return which rows of the store some of these are."""
        if isinstance(at, slice):
            return np.arange(*at.indices(len(self))) if self.index is None else self.index[at]
        at = np.flatnonzero(at) if np.asarray(at).dtype == bool else np.asarray(at)
        return at if self.index is None else self.index[at]

    def __getitem__(self, at: Rows | slice) -> Array:
        return self.store.take(self.rows(at), self.view)

    def some(self, at: Rows) -> Self:
        """Return some of the rows, without looking at them."""
        return type(self)(self.store, self.view, self.rows(at))

    def for_shard(self, at: Rows) -> Self:
        """Return some of the rows, which know what has been made of all."""
        part = self.some(at)
        part.lot = self, at
        return part

    def seen(self, view: View) -> Self:
        """Return the same rows in other units, or another precision."""
        return type(self)(self.store, view, self.index)

    def astype(self, dtype: Message, copy: bool = True) -> Self:
        """Return the same in another precision."""
        return self.seen(replace(self.view, dtype=np.dtype(dtype).name))

    def parts(self, at: Rows | slice = slice(None)) -> list[tuple[int, Rows]]:
        """Return the pieces of the store that some rows are in, with the positions of these among all."""
        if self.index is None and isinstance(at, slice) and at == slice(None):  # most often, and for many rows
            ends = enumerate(self.store.ends.tolist())
            return [(k, np.arange(self.store.start(k), end)) for k, end in ends if end > self.store.start(k)]
        rows = self.rows(at)
        which = np.arange(len(self))[at] if isinstance(at, slice) else np.asarray(at)
        return [(piece, which[here]) for piece, here in self.store.pieces_of(rows)]

    def map(
        self, function: Callable[..., Message], *args: Message, rowwise: Sequence[Array] = ()
    ) -> list[tuple[Rows, Message]]:
        """Return what a function makes of the rows of each piece, with their positions.

        Parameters
        ----------
        function : callable
            Of inputs, numbers of rows in ``rowwise``, and the arguments; it goes to where the rows are.
        *args
        rowwise : sequence of arrays
            With a number for each row, of which a piece has its own.
        """
        parts = self.parts()
        asked = [
            (self.local(piece, at), self.view, function, tuple(v[at] for v in rowwise), args) for piece, at in parts
        ]
        found = self.store.map(_applied, [piece for piece, _ in parts], asked)
        return [(at, value) for (_, at), value in zip(parts, found, strict=True)]

    def local(self, piece: int, at: Rows) -> Rows | None:
        """Rows of a piece by their positions in it; None if it is all of them, in order."""
        start, end = self.store.start(piece), int(self.store.ends[piece])
        if self.index is None and len(at) == end - start and at[0] == start:  # in order, as they all are
            return None
        rows = self.rows(at) - start
        return None if len(rows) == end - start and np.array_equal(rows, np.arange(end - start)) else rows


def _taken(X: Array, rows: Rows, view: View) -> Array:
    return view(X[rows])


def _applied(
    X: Array, rows: Rows | None, view: View, function: Callable[..., Message], rowwise: tuple[Array, ...], args: Message
) -> Message:
    return function(view(X if rows is None else X[rows]), *rowwise, *args)
