"""From a table to training data: one pass, in blocks, straight into a matrix of single precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._types import Array, Floats, Inputs, Mask, Rows
from ..datasets import Block, Source
from ..datasets.source import Kind, Wanted
from ..errors import CellError, DataError
from ..numerics.moments import Moments
from ..tables import CategoryColumn, Column, Encoded, NumberColumn, TableSchema
from .pile import Codes, Pile, on_disk
from .scaling import centre_and_scale, divide
from .table import Table, check_size
from .targets import Target, read_target
from .words import check_words

__all__ = ["Choices", "Gathered", "gather"]

_DENSE = 2000  # columns up to which a sparse table is made dense
_ROWS = 4096  # that are scaled at a time


@dataclass(frozen=True)
class Choices:
    """What the user says of the columns."""

    target: str
    task: str | None = None
    order: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    impute: bool = False
    dates: tuple[str, ...] = ()
    scaling: str = "auto"


class Gathered(NamedTuple):
    """Training data, and how new rows are to be read."""

    X: Inputs
    target: Target
    table: Table
    notes: list[str]


def gather(source: Source, choices: Choices, tell: Callable[[int], None], room: float = float("inf")) -> Gathered:
    """Read a table as training data.

    Parameters
    ----------
    source : Source
    choices : Choices
    tell : callable
        Told the number of rows so far after every block.
    room : float
        Bytes of the table, beyond which it is kept on disk.
    """
    kinds = source.kinds()
    source.require([choices.target, *choices.categorical, *choices.drop])
    wanted = _wanted(source, kinds, choices)
    rows = _Rows(source.name, wanted, room)
    try:
        for block in source.blocks(wanted):
            rows.add(block)
            tell(rows.count)
    except CellError as error:
        raise DataError(f"{error}. {_remedy(error.column, choices.target)}") from error
    if not rows.count:
        raise DataError(f"{source.name} has no rows")
    target = read_target(rows.targets(), choices.task or source.task, choices.order, choices.target)
    return rows.gathered(choices, target)


def _wanted(source: Source, kinds: dict[str, Kind], choices: Choices) -> Wanted:
    target = choices.target
    task = choices.task or source.task
    if task == "regress" and kinds[target] == "word":
        raise DataError(f"{source.name}: target {target!r} holds words, so it cannot be regressed; --task classify")
    left_out = {target, *choices.drop}
    inputs = [name for name in source.columns if name not in left_out]
    if not inputs:
        raise DataError(f"{source.name} has no column beside the target {target!r}")
    as_words = {name for name in inputs if kinds[name] == "word"} | set(choices.categorical)
    return Wanted(
        tuple(name for name in inputs if name not in as_words), tuple(name for name in inputs if name in as_words),
        target, "word" if kinds[target] == "word" or task in ("classify", "ordinal") else "number",
    )  # fmt: skip


def _remedy(column: str, target: str) -> str:
    if column == target:
        return "If the target is a class, say --task classify"
    return f"Mend the cell, or say --categorical {column!r} if the column holds words, or --drop {column!r}"


class _Rows:
    """What was read so far."""

    def __init__(self, name: str, wanted: Wanted, room: float) -> None:
        self.name, self.wanted, self.count, self.room = name, wanted, 0, room
        self._pile: Pile | None = None
        self._moments: Moments | None = None
        self._sparse: list[Any] = []
        self._codes = [Codes() for _ in wanted.words]
        self._labels, self._numbers = Codes(), list[Floats]()
        self._missing: dict[str, tuple[int, str]] = {}  # how many in a column, and where the first is

    def add(self, block: Block) -> None:
        """Take in the rows of a block."""
        check_size(block, self.wanted.numbers, self.name)
        self._add_target(block)
        if sparse.issparse(block.numbers) and len(self.wanted.numbers) > _DENSE:
            self._sparse.append(block.numbers.astype(np.float32))
        else:
            self._add_numbers(block)
        for name, codes, words in zip(self.wanted.words, self._codes, block.words, strict=True):
            codes.add(words)
            self._note_missing(block, name, [i for i, word in enumerate(words) if word is None])
        self.count += len(block)

    def _add_numbers(self, block: Block) -> None:
        X = block.numbers.toarray() if sparse.issparse(block.numbers) else block.numbers
        moments = Moments.of(X)
        if self._pile is None or self._moments is None:
            self._pile, self._moments = Pile(moments.mean, self.room), moments
        else:
            self._moments = self._moments.merged(moments)
        self._pile.add(X)
        if np.any(moments.count < len(X)):
            for j in np.flatnonzero(moments.count < len(X)):
                self._note_missing(block, self.wanted.numbers[j], np.flatnonzero(np.isnan(X[:, j])))

    def _note_missing(self, block: Block, name: str, rows: Sequence[int] | Array) -> None:
        if len(rows):
            before, place = self._missing.get(name, (0, block.place(int(rows[0]))))
            self._missing[name] = before + len(rows), place

    def _add_target(self, block: Block) -> None:
        if isinstance(block.target, list):
            gap = next((i for i, label in enumerate(block.target) if label is None), None)
            self._labels.add(block.target)
        else:
            values = np.asarray(block.target)
            gap = next(iter(np.flatnonzero(np.isnan(values)).tolist()), None)
            self._numbers.append(values)
        if gap is not None:
            raise DataError(
                f"{self.name}, {block.place(gap)}: the target {self.wanted.target!r} is missing; "
                "remove rows without it, or say --skip-missing-target"
            )

    def targets(self) -> Floats | Codes:
        """Return the targets of all rows."""
        return np.concatenate(self._numbers) if self._numbers else self._labels

    def gathered(self, choices: Choices, target: Target) -> Gathered:
        """Return all rows, filled and scaled."""
        notes = list[str]()
        empty = {name for name, (count, _) in self._missing.items() if count == self.count}
        notes += [f"column {name!r} has no values and is left out" for name in sorted(empty)]
        if len(empty) == len(self.wanted.numbers) + len(self.wanted.words):
            raise DataError(f"{self.name}: no column beside the target has values")
        if self._sparse:
            self._check_no_gaps(empty)
            return self._gathered_sparse(choices, target, notes)
        notes += self._told_of_gaps(empty, choices.impute)
        schema, codes = self._schema(empty, choices)
        if not schema.plain:
            return self._mixed(schema, codes, empty, choices, target, notes)
        X, centre, spread = self._numeric(empty)
        for j, column in enumerate(schema.columns):
            if column.name in self._missing:
                assert isinstance(column, NumberColumn)
                X[np.isnan(X[:, j]), j] = column.fill - self._offset(empty)[j]
        centre, scale = centre_and_scale(choices.scaling, centre, *spread)
        divide(X, centre - self._offset(empty), scale)
        table = self._table(choices, target, schema, centre, scale)
        return Gathered(X, target, table, notes)

    def _schema(self, empty: set[str], choices: Choices) -> tuple[TableSchema, list[Rows]]:
        """Return what is to be known of the columns, and the numbers of the categories of those of words."""
        columns, codes, kept = list[Column](), list[Rows](), self._kept(empty)
        for j, name in zip(np.flatnonzero(kept), np.array(self.wanted.numbers, dtype=object)[kept], strict=True):
            assert self._pile is not None
            gaps = name in self._missing
            fill = float(self._pile.offset[j]) + float(np.nanmedian(self._pile.column(int(j))))
            kind = "date" if name in choices.dates else "number"
            columns.append(NumberColumn(name, kind, fill, gaps and not choices.impute))
        for name, collected in zip(self.wanted.words, self._codes, strict=True):
            if name in empty:
                continue
            words, own = collected.sorted()
            check_words(self.name, name, words, self.count, name in choices.categorical)
            commonest = int(np.argmax(np.bincount(own[own >= 0], minlength=len(words))))
            columns.append(CategoryColumn(name, "text", words, commonest, name in self._missing))
            codes.append(own)
        return TableSchema(tuple(columns)), codes

    def _mixed(
        self,
        schema: TableSchema,
        codes: list[Rows],
        empty: set[str],
        choices: Choices,
        target: Target,
        notes: list[str],
    ) -> Gathered:
        """Return rows with categories or gaps, in the units of the table: the model has the schema and scales."""
        assert self._pile is not None
        numbers, offset, kept = self._pile.matrix(), self._pile.offset, np.flatnonzero(self._kept(empty))
        shape, p, gap = (self.count, schema.width), len(kept), len(schema.columns)
        X = on_disk(shape, np.float64) if isinstance(numbers, np.memmap) else np.empty(shape)
        for j, (at, column) in enumerate(zip(kept, schema.columns, strict=False)):
            assert isinstance(column, NumberColumn)
            missing = np.isnan(numbers[:, at])
            X[:, j] = np.where(missing, column.fill, numbers[:, at].astype(np.float64) + offset[at])
            if column.indicator:
                X[:, gap], gap = missing, gap + 1
        for j, (own, column) in enumerate(zip(codes, schema.columns[p:], strict=True), start=p):
            assert isinstance(column, CategoryColumn)
            X[:, j] = np.where(own < 0, column.fill, own)
            if column.indicator:
                X[:, gap], gap = own < 0, gap + 1
        table = self._table(choices, target, schema, np.zeros(schema.width), np.ones(schema.width))
        return Gathered(Encoded(X, schema), target, table, notes)

    def _table(self, choices: Choices, target: Target, schema: TableSchema, centre: Floats, scale: Floats) -> Table:
        return Table(
            target.task, choices.target, self.wanted.target_kind, schema, tuple(centre.tolist()), tuple(scale.tolist())
        )

    def _offset(self, empty: set[str]) -> Floats:
        return np.zeros(0) if self._pile is None else self._pile.offset[self._kept(empty)]

    def _kept(self, empty: set[str]) -> Mask:
        return np.array([name not in empty for name in self.wanted.numbers], dtype=bool)

    def _numeric(self, empty: set[str]) -> tuple[Array, Floats, Floats]:
        """Return numbers, their means, and deviations above extents."""
        if self._pile is None or self._moments is None:
            raise DataError(f"{self.name} has no rows")
        kept = self._kept(empty)
        X = self._pile.matrix()
        X = X if kept.all() else _some(X, kept)
        return X, self._moments.mean[kept], np.stack([self._moments.deviation[kept], self._moments.extent[kept]])

    def _gathered_sparse(self, choices: Choices, target: Target, notes: list[str]) -> Gathered:
        X = sparse.vstack(self._sparse, format="csr")
        from ..machines.defaults import column_spreads

        deviation, extent = column_spreads(X)
        _, scale = centre_and_scale(choices.scaling, np.zeros(X.shape[1]), deviation, extent)
        X.data /= scale[X.indices].astype(np.float32)
        schema = TableSchema(tuple(NumberColumn(name, "number", 0.0, False) for name in self.wanted.numbers))
        table = replace(self._table(choices, target, schema, np.zeros(X.shape[1]), scale), sparse=True)
        return Gathered(X, target, table, notes)

    def _check_no_gaps(self, empty: set[str]) -> None:
        """Refuse gaps in a sparse table, which has no room for columns that say where they are."""
        for name, (count, place) in self._missing.items():
            if name not in empty:
                raise DataError(
                    f"{self.name}: {count} values are missing in column {name!r}, the first in {place}, and a sparse "
                    "table of so many columns has none such: leave the column out with --drop, or write zero"
                )

    def _told_of_gaps(self, empty: set[str], impute: bool) -> list[str]:
        """Return what becomes of values that are missing."""
        found = {name: seen for name, seen in self._missing.items() if name not in empty}
        if not found:
            return []
        total = sum(count for count, _ in found.values())
        shown = ", ".join(
            f"{name!r} ({count}, the first in {place})" for name, (count, place) in list(found.items())[:5]
        )
        more = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
        said = "1 value is missing" if total == 1 else f"{total} values are missing"
        done = "numbers become the median" if impute else "the model learns what that means"
        return [f"{said}, in column {shown}{more}: {done}"]


def _some(X: Array, kept: Mask) -> Array:
    """Some columns of a matrix, on disk if it is there."""
    shape = len(X), int(np.sum(kept))
    found = on_disk(shape) if isinstance(X, np.memmap) else np.empty(shape, dtype=np.float32)
    for start in range(0, len(X), _ROWS):
        found[start : start + _ROWS] = X[start : start + _ROWS][:, kept]
    return found
