"""Rows that are held back while a table is read, to judge by them what was learned from the others."""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np

from .._types import Rows
from ..errors import DataError
from ..runtime import scratch
from .gaps import Kind
from .source import Block, Source, Wanted
from .through import Through

__all__ = ["HeldBack", "Learned"]

_IN_MEMORY = 2**26  # bytes, above which rows held back wait on the disk
_CLASSES, _NUMBERS = 1000, 20  # different words, whole numbers, up to which the first row of each is learned on


class Learned(Through):
    """The rows of a table that are learned on; a share of them, chosen at random, is held back.

    The first row of every class is learned on, so that no class is among the others only.

    Parameters
    ----------
    inner : Source
    share : float
        Of rows to hold back.
    seed : int
    """

    def __init__(self, inner: Source, share: float, seed: int) -> None:
        super().__init__(inner)
        self._share, self._rng = share, np.random.default_rng(seed)
        self._seen: set[Any] = set()
        self._wanted: Wanted | None = None
        self._kept, self.count = SpooledTemporaryFile(_IN_MEMORY), 0  # noqa: SIM115  gone with this

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        self._wanted = wanted
        for block in self._inner.blocks(wanted):
            back = self._rng.random(len(block)) < self._share
            back[self._firsts(block)] = False
            if back.any():
                held = block.some(np.flatnonzero(back))
                lines = None if held.lines is None else list(held.lines)
                with scratch():
                    pickle.dump(replace(held, lines=lines), self._kept)  # into a file without a name, read here only
                self.count += len(held)
            if not back.all():
                yield block.some(np.flatnonzero(~back)) if back.any() else block

    def _firsts(self, block: Block) -> Rows:
        """Return the rows of the block that are the first of their class."""
        words = isinstance(block.target, list)
        if block.target is None or len(self._seen) > (_CLASSES if words else _NUMBERS):
            return np.empty(0, dtype=np.intp)
        found = list[int]()
        for i, value in enumerate(block.target if words else np.asarray(block.target).tolist()):
            if value not in self._seen and (words or float(value).is_integer()):
                self._seen.add(value)
                found.append(i)
        return np.array(found if words or len(self._seen) <= _NUMBERS else found[:_NUMBERS], dtype=np.intp)

    def __del__(self) -> None:
        self._kept.close()

    def held_back(self) -> "HeldBack":
        """Return the rows that were held back, once the others have been read."""
        if self._wanted is None or not self.count:
            raise DataError(f"{self.name}: no row is held back by --test {self._share:g}; take a larger share")
        return HeldBack(self, self._wanted, self._kept)


class HeldBack(Source):
    """Rows that were held back, as a table.

    Parameters
    ----------
    of : Learned
    kept : Wanted
        What was read of them.
    file : file
        Where they are.
    """

    def __init__(self, of: Learned, kept: Wanted, file: Any) -> None:
        self.name, self.target, self.task = of.name, of.target, of.task
        self._kept, self._file = kept, file

    @property
    def columns(self) -> tuple[str, ...]:
        return self._kept.names()

    def kinds(self) -> dict[str, Kind]:
        words: dict[str, Kind] = dict.fromkeys(self._kept.words, "word")
        return {name: words.get(name, "number") for name in self.columns}

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        number, word = self._places(self._kept.numbers), self._places(self._kept.words)
        at = [number[name] for name in wanted.numbers]
        end = self._file.seek(0, 2)
        self._file.seek(0)
        while self._file.tell() < end:
            block: Block = pickle.load(self._file)  # written by this process
            yield replace(block, numbers=block.numbers[:, at], words=[block.words[word[name]] for name in wanted.words])

    @staticmethod
    def _places(names: Sequence[str]) -> dict[str, int]:
        return {name: k for k, name in enumerate(names)}

    def close(self) -> None:
        self._file.close()
