"""From a table to training data: one pass, in blocks, straight into a matrix of single precision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._types import Array, Floats, Inputs, Mask, Rows
from ..datasets import Block, Source
from ..datasets.gaps import Kind
from ..datasets.source import Wanted
from ..errors import CellError, DataError
from ..numerics.moments import Moments
from ..plain import printable
from ..tables import CategoryColumn, Column, Encoded, NumberColumn, TableSchema
from .pile import Codes, Pile, counts_rows, offset_of, on_disk, some_columns
from .table import Table, check_size
from .targets import Target, read_target
from .words import Obstacle, Seen, beside_numbers, obstacle, spelling, undecided, unread

__all__ = ["Choices", "Gathered", "gather"]

_LABELS, _CLASSES = ("word", "truth"), ("classify", "ordinal")
_DENSE = 2000  # columns up to which a sparse table is made dense


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
    rows = _Rows(source, kinds, wanted, room)
    try:
        for block in source.blocks(wanted):
            rows.add(block)
            tell(rows.count)
    except CellError as error:
        raise DataError(f"{error}. {_remedy(error, choices.target, source.marks is not None)}") from error
    if not rows.count:
        raise DataError(f"{source.name} has no rows")
    task = choices.task or source.task
    target = read_target(rows.targets(), task, choices.order, choices.target, source.marks)
    return rows.gathered(choices, target)


def _wanted(source: Source, kinds: dict[str, Kind], choices: Choices) -> Wanted:
    target = choices.target
    task = choices.task or source.task
    if task == "regress" and kinds[target] == "word":
        cause = unread(_first_labels(source, target), source.marks)
        remedy = f": {cause}" if cause else "; --task classify"
        raise DataError(f"{source.name}: target {target!r} holds words, so it cannot be regressed{remedy}")
    left_out = {target, *choices.drop}
    inputs = [name for name in source.columns if name not in left_out]
    if not inputs:
        raise DataError(f"{source.name} has no column beside the target {target!r}")
    as_words = {name for name in inputs if kinds[name] == "word"} | set(choices.categorical)
    return Wanted(
        tuple(name for name in inputs if name not in as_words), tuple(name for name in inputs if name in as_words),
        target, "word" if (kinds[target] in _LABELS and task != "regress") or task in _CLASSES else "number",
    )  # fmt: skip


def _remedy(error: CellError, target: str, is_text: bool) -> str:
    column = error.column
    if cause := spelling((error.cell,)):
        return cause
    if column == target:
        return "If the target is a class, say --task classify"
    missing = f", or --missing {error.cell!r} if it stands for a missing value" if is_text else ""
    return f"Mend the cell, or say --categorical {column!r} if the column holds words, or --drop {column!r}{missing}"


def _first_labels(source: Source, target: str) -> Codes:
    labels, block = Codes(), next(source.blocks(Wanted((), (), target, "word")), None)
    if block is not None and isinstance(block.target, list):
        labels.add(block.target, block.place)
    return labels


class _Rows:
    """What was read so far."""

    def __init__(self, source: Source, kinds: Mapping[str, Kind], wanted: Wanted, room: float) -> None:
        self.kinds, self.wanted, self.count, self.room = kinds, wanted, 0, room
        self.name, self.columns, self.marks = source.name, tuple(source.columns), source.marks
        self.notes = [
            f"column {name!r} has ordered categories, whose order is not taken: they are categories like others. In "
            "Python, infovec takes it from the frame"
            for name in source.ordered
            if name in wanted.words
        ]
        self._pile: Pile | None = None
        self._sparse: list[Any] = []
        self._codes = [Codes() for _ in wanted.words]
        self._labels, self._numbers = Codes(), list[Floats]()
        self._missing: dict[str, tuple[int, str]] = {}  # how many in a column, and where the first is
        self._taken: dict[str, frozenset[str]] = {}  # words of a column that were taken for missing values

    def add(self, block: Block) -> None:
        """Take in the rows of a block."""
        check_size(block, self.wanted.numbers, self.name)
        self._add_target(block)
        for name, taken in block.taken.items():
            self._taken[name] = self._taken.get(name, frozenset()) | taken
        if sparse.issparse(block.numbers) and len(self.wanted.numbers) > _DENSE:
            self._sparse.append(block.numbers.astype(np.float32))
        else:
            self._add_numbers(block)
        for name, codes, words in zip(self.wanted.words, self._codes, block.words, strict=True):
            codes.add(words, block.place)
            self._note_missing(block, name, [i for i, word in enumerate(words) if word is None])
        self.count += len(block)

    def _add_numbers(self, block: Block) -> None:
        X = block.numbers.toarray() if sparse.issparse(block.numbers) else block.numbers
        if self._pile is None:
            self._pile = Pile(offset_of(Moments.of(X)), self.room)
        self._pile.add(X)
        missing = np.isnan(X)
        for j in np.flatnonzero(missing.any(axis=0)):
            self._note_missing(block, self.wanted.numbers[j], np.flatnonzero(missing[:, j]))

    def _note_missing(self, block: Block, name: str, rows: Sequence[int] | Array) -> None:
        if len(rows):
            before, place = self._missing.get(name, (0, block.place(int(rows[0]))))
            self._missing[name] = before + len(rows), place

    def _add_target(self, block: Block) -> None:
        if isinstance(block.target, list):
            gap = next((i for i, label in enumerate(block.target) if label is None), None)
            self._labels.add(block.target, block.place)
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
        """Return all rows, filled, in the units of the table."""
        notes = self.notes
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
        X = self._numeric(empty)
        for j, column in enumerate(schema.columns):
            if column.name in self._missing:
                X[np.isnan(X[:, j]), j] = column.fill
        return Gathered(X, target, self._table(choices, target, schema), notes)

    def _schema(self, empty: set[str], choices: Choices) -> tuple[TableSchema, list[Rows]]:
        """Return what is to be known of the columns, and the numbers of the categories of those of words."""
        found, codes, kept, unclear = dict[str, Column](), list[Rows](), self._kept(empty), list[Obstacle]()
        for j, name in zip(np.flatnonzero(kept), np.array(self.wanted.numbers, dtype=object)[kept], strict=True):
            assert self._pile is not None
            gaps = name in self._missing
            fill = float(self._pile.offset[j]) + float(np.nanmedian(self._pile.column(int(j))))
            if name not in choices.dates and counts_rows(self._pile.column(int(j))):
                self.notes.append(
                    f"column {name!r} rises from row to row as their numbers do: if it says nothing else of them, say "
                    f"--drop {name!r}"
                )
            found[name] = NumberColumn(name, self.kind(name, choices), fill, gaps and not choices.impute)
        for name, collected in zip(self.wanted.words, self._codes, strict=True):
            if name in empty:
                continue
            words, own = collected.sorted()
            seen = Seen(collected.counts(), collected.places, self.count, self.marks)
            if name not in choices.categorical and (one := obstacle(name, seen)):
                unclear.append(one)
            elif name not in choices.categorical and (said := beside_numbers(name, seen)):
                self.notes.append(said)
            commonest = int(np.argmax(np.bincount(own[own >= 0], minlength=len(words))))
            found[name] = CategoryColumn(name, "text", words, commonest, name in self._missing)
            codes.append(own)
        if unclear:
            raise undecided(self.name, unclear)
        return TableSchema(tuple(found[name] for name in self.columns if name in found)), codes

    def kind(self, name: str, choices: Choices) -> str:
        """Return what the numbers of a column are."""
        of = self.kinds[name]
        return "date" if name in choices.dates else of if of in ("duration", "time") else "number"

    def _mixed(
        self,
        schema: TableSchema,
        codes: list[Rows],
        empty: set[str],
        choices: Choices,
        target: Target,
        notes: list[str],
    ) -> Gathered:
        """Return rows with categories, dates or gaps, for which the model has the schema too."""
        assert self._pile is not None
        numbers, offset = self._pile.matrix(), self._pile.offset
        shape, gap = (self.count, schema.width), len(schema.columns)
        kept, words = iter(np.flatnonzero(self._kept(empty))), iter(codes)
        X = on_disk(shape, np.float64) if isinstance(numbers, np.memmap) else np.empty(shape)
        for j, column in enumerate(schema.columns):
            if isinstance(column, CategoryColumn):
                own = next(words)
                missing = own < 0
                X[:, j] = np.where(missing, column.fill, own)
            else:
                at = next(kept)
                missing = np.isnan(numbers[:, at])
                X[:, j] = np.where(missing, column.fill, numbers[:, at].astype(np.float64) + offset[at])
            if column.indicator:
                X[:, gap], gap = missing, gap + 1
        return Gathered(Encoded(X, schema), target, self._table(choices, target, schema), notes)

    def _table(self, choices: Choices, target: Target, schema: TableSchema, is_sparse: bool = False) -> Table:
        zeros, ones = (0.0,) * schema.width, (1.0,) * schema.width
        return Table(target.task, choices.target, self.wanted.target_kind, schema, zeros, ones, is_sparse)

    def _kept(self, empty: set[str]) -> Mask:
        return np.array([name not in empty for name in self.wanted.numbers], dtype=bool)

    def _numeric(self, empty: set[str]) -> Array:
        """Return numbers: in single precision, unless some are too far from zero for it."""
        if self._pile is None:
            raise DataError(f"{self.name} has no rows")
        kept = self._kept(empty)
        X, offset = self._pile.matrix(), self._pile.offset[kept]
        return X if kept.all() and not offset.any() else some_columns(X, kept, offset)

    def _gathered_sparse(self, choices: Choices, target: Target, notes: list[str]) -> Gathered:
        X = sparse.vstack(self._sparse, format="csr")
        schema = TableSchema(tuple(NumberColumn(name, "number", 0.0, False) for name in self.wanted.numbers))
        return Gathered(X, target, self._table(choices, target, schema, is_sparse=True), notes)

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
        words = "; ".join(
            f"{', '.join(repr(printable(word)) for word in sorted(self._taken[name]))} in column {name!r}"
            for name in list(found)[:5]
            if self._taken.get(name)
        )
        taken = f". Words taken for missing: {words}" if words else ""
        return [f"{said}, in column {shown}{more}: {done}{taken}"]
