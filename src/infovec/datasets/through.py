"""Tables that are read through something: rows are left out of them, or cells turned into numbers, as they come."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from .._types import Mask
from ..errors import DataError
from .cells import Marks
from .gaps import Kind
from .source import Block, Source, Wanted

__all__ = ["Renamed", "Through", "WithTargets"]


class Through(Source):
    """Another table as it is; what is derived from this changes its blocks.

    Parameters
    ----------
    inner : Source
    """

    def __init__(self, inner: Source) -> None:
        self._inner, self.name, self.target, self.task = inner, inner.name, inner.target, inner.task

    @property
    def columns(self) -> tuple[str, ...]:
        return self._inner.columns

    @property
    def notes(self) -> Sequence[str]:
        return self._inner.notes

    @property
    def marks(self) -> Marks | None:
        return self._inner.marks

    @property
    def ordered(self) -> Sequence[str]:
        return self._inner.ordered

    def kinds(self) -> dict[str, Kind]:
        return self._inner.kinds()

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        return self._inner.blocks(wanted)

    def close(self) -> None:
        self._inner.close()

    def share_read(self) -> float | None:
        return self._inner.share_read()

    def require(self, names: Sequence[str]) -> None:
        self._inner.require(names)


class Renamed(Through):
    """A table with other names for its columns.

    Parameters
    ----------
    inner : Source
    names : sequence of str
        One for each column, in their order.
    """

    def __init__(self, inner: Source, names: Sequence[str]) -> None:
        super().__init__(inner)
        self._names = tuple(names)
        self._own = dict(zip(names, inner.columns, strict=True))

    @property
    def columns(self) -> tuple[str, ...]:
        return self._names

    def kinds(self) -> dict[str, Kind]:
        kinds = self._inner.kinds()
        return {name: kinds[own] for name, own in self._own.items()}

    def require(self, names: Sequence[str]) -> None:
        Source.require(self, names)

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        numbers, words = ([self._own[name] for name in names] for names in (wanted.numbers, wanted.words))
        return self._inner.blocks(replace(wanted, numbers=tuple(numbers), words=tuple(words)))


class WithTargets(Through):
    """The rows of a table whose target is known."""

    def __init__(self, inner: Source) -> None:
        super().__init__(inner)
        self._left_out = 0

    @property
    def notes(self) -> Sequence[str]:
        some = f"{self._left_out} {'row' if self._left_out == 1 else 'rows'} without a target left out"
        return [*self._inner.notes, *([some] if self._left_out else [])]

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        found = False
        for block in self._inner.blocks(wanted):
            known = _known(block)
            self._left_out += len(block) - int(known.sum())
            if known.any():
                found = True
                yield block if known.all() else block.some(np.flatnonzero(known))
        if self._left_out and not found:
            raise DataError(f"{self.name}: the target {wanted.target!r} is missing in all {self._left_out} rows")


def _known(block: Block) -> Mask:
    if isinstance(block.target, list):
        return np.array([label is not None for label in block.target], dtype=bool)
    return np.ones(len(block), dtype=bool) if block.target is None else ~np.isnan(block.target)
