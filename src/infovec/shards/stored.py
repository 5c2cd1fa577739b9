"""Inputs in files, or anything that slices: read in pieces, by each thread its own."""

import mmap
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock

import numpy as np

from .._types import Array, Message
from ..runtime import at_once, for_each, n_threads, own_threads, parts
from .far import Store
from .on_disk import disk_places
from .places import Places

__all__ = ["Stored"]

_PIECE = 1 << 20  # numbers in a piece
_BYTES = 32  # for each of them, on the way
_ROW_BYTES = 300  # of a row in a shard: its site, those before, steps and variances
_SHARE = 1.0 / 12.0  # of the memory, for the rows of a shard
_FEWEST, _MOST = 1 << 14, 1 << 18  # rows of a shard


class Stored(Store):
    """An array that is not in memory, such as a memory map, one of HDF5 or zarr, or a folder of tables.

    Parameters
    ----------
    source : object with ``shape``, ``dtype`` and slices of rows
        It may have ``pieces``, the lengths of what it reads best, and ``where(row)``, which says where a row is from.
    """

    def __init__(self, source: Message) -> None:
        n, p = source.shape
        most = max(at_once(_PIECE, n_threads() * _BYTES), 1024) // max(p, 1)
        lengths = getattr(source, "pieces", None) or [n]
        cut = [part.stop - part.start for length in lengths for part in parts(length, max(most, 256))]
        super().__init__(cut, p, "float32" if source.dtype == np.float32 else "float64")
        self._source, self._lock = source, Lock()
        self._safe = isinstance(source, np.ndarray) or getattr(source, "threads", False)

    def map(
        self, function: Callable[..., Message], pieces: Sequence[int], args: Sequence[tuple[Message, ...]]
    ) -> list[Message]:
        found: list[Message] = [None] * len(pieces)

        def visit(k: int) -> None:
            found[k] = function(self.read(pieces[k]), *args[k])

        with own_threads():
            for_each(visit, range(len(pieces)))
        return found

    def read(self, piece: int) -> Array:
        """Return the inputs of a piece."""
        at = slice(self.start(piece), int(self.ends[piece]))
        if self._safe:
            return self._read(at)
        with self._lock:  # HDF5 is for one thread at a time
            return self._read(at)

    def _read(self, at: slice) -> Array:
        X = np.array(self._source[at], dtype=self.dtype, order="C")
        _forget(self._source)
        return X

    def places(self, within: float) -> Places:
        each = _ROW_BYTES + 8 * self.p
        return disk_places(int(np.clip(_SHARE * within / each, _FEWEST, _MOST)))

    def where(self, row: int) -> str:
        named: str = self._source.where(row) if hasattr(self._source, "where") else f"row {row}"
        return named


def _forget(source: Message) -> None:
    """Let go of the pages of a memory map that were read: they would count as memory of this process."""
    pages = getattr(source, "_mmap", None)
    if isinstance(source, np.memmap) and isinstance(pages, mmap.mmap) and source.mode in ("r", "r+", "w+"):
        with suppress(AttributeError, ValueError, OSError):
            pages.madvise(mmap.MADV_DONTNEED)
