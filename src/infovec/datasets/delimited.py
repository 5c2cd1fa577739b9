"""Tables in text: comma, semicolon or tab between the fields, names in the first line."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Floats
from ..errors import CellError, DataError
from .cells import Marks, NoNumber, is_number, kind_of, numbers_of
from .gaps import GAPS, Kind, taken, word
from .points import check_kept, check_points
from .source import Block, Source, Wanted
from .text import TextBlocks

__all__ = ["DelimitedText"]

_LOOK_AT = 1000  # rows by which the kind of a column is judged
_DELIMITERS = (",", ";", "\t", "|")
_PATIENCE = 3  # blocks in which the fast way may fail before it is no longer tried


class _Record(NamedTuple):
    line: int  # where it begins
    fields: list[str]


class DelimitedText(Source):
    """CSV or TSV. Blocks that hold nothing unusual are parsed by NumPy, others field by field.

    Parameters
    ----------
    path : str
        "-" is standard input.
    delimiter : str, optional
        None finds it in the first line.
    encoding : str
    header : bool
        Whether the first line holds names; else columns are named 1, 2, 3 and so on.
    decimal : {".", ","}, optional
        Before the digits of fractions; None finds it in the first rows.
    thousands : {",", ".", "'", "space"}, optional
        May stand between thousands; none does unless given.
    missing : sequence of str
        Cells that stand for a missing value, beside those that always do.
    empty : bool
        Whether a header without rows is a table.
    of_model : (decimal, thousands)
        As they were said of the table that a model was fitted to.
    """

    def __init__(
        self,
        path: str,
        delimiter: str | None = None,
        encoding: str = "utf-8",
        header: bool = True,
        decimal: str | None = None,
        thousands: str | None = None,
        missing: Sequence[str] = (),
        empty: bool = False,
        of_model: tuple[str | None, str | None] = (None, None),
    ) -> None:
        self._text = TextBlocks(path, encoding)
        self.name, self._header, self._failures = self._text.name, header, 0
        self._missing, self._empty = frozenset(missing), empty
        try:
            self._open(delimiter)
            kept = of_model[1] if thousands is None and of_model[1] != decimal else None
            self._kept_points = kept == "." and self._delimiter == ","
            nobody = (decimal, thousands, kept) == (None, None, None) and of_model[0] != "."
            self._unclear_points = nobody and self._delimiter == ";"
            self._marks = Marks.of(decimal, thousands or kept, self._first_columns())
            self._comma = self._marks.decimal == ","
        except BaseException:
            self.close()
            raise

    def _open(self, delimiter: str | None) -> None:
        """Read the first block, and the names in it."""
        blocks = iter(self._text)
        line, text = next(blocks, (1, ""))
        if not text.strip():
            raise DataError(f"{self.name} is empty")
        self._delimiter = delimiter or _likeliest_delimiter(text)
        first = next(r for r in self._records(line, text, None) if not _blank(r.fields))
        self._columns = self._names(first.fields)
        if self._header:
            used = self._length_of_header(text)
            line, text = line + used, "\n".join(text.split("\n")[used:])
        if not text.strip():
            line, text = next(blocks, (line, ""))
        if not text.strip() and not self._empty:
            raise DataError(f"{self.name} has a header but no rows")
        self._first = line, text
        self._blocks_of_text = chain([self._first], blocks)

    @property
    def notes(self) -> Sequence[str]:
        return [f"{self.name}: numbers are read with a decimal comma (--decimal . if they are not)"] * self._comma

    @property
    def marks(self) -> Marks:
        return self._marks

    def close(self) -> None:
        self._text.close()

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    def share_read(self) -> float | None:
        return self._text.share_read()

    def kinds(self) -> dict[str, Kind]:
        return {
            name: kind_of(cells, self._marks) for name, cells in zip(self.columns, self._first_columns(), strict=True)
        }

    def _first_columns(self) -> list[tuple[str, ...]]:
        rows = [r.fields for r, _ in zip(self._records(*self._first, len(self.columns)), range(_LOOK_AT), strict=False)]
        return list(zip(*rows, strict=True)) or [()] * len(self.columns)

    def _length_of_header(self, text: str) -> int:
        reader = csv.reader(io.StringIO(text), delimiter=self._delimiter)
        for fields in reader:
            if not _blank(fields):
                break
        return reader.line_num

    def _names(self, fields: list[str]) -> tuple[str, ...]:
        if not self._header:
            return tuple(str(j + 1) for j in range(len(fields)))
        names = tuple(field.strip() or f"column {j + 1}" for j, field in enumerate(fields))
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            places = " and ".join(str(j + 1) for j, name in enumerate(names) if name == twice[0])
            raise DataError(
                f"{self.name}: the header has {twice[0]!r} more than once (columns {places}); give every column a name "
                f"of its own{self._no_header_hint(names)}"
            )
        return names

    def _no_header_hint(self, names: Sequence[str] | None = None) -> str:
        numbers = self._header and all(is_number(name) for name in names or self.columns)
        return ". The first line is all numbers: if it is no header, add --no-header" if numbers else ""

    def _records(self, line: int, text: str, width: int | None) -> Iterator[_Record]:
        """Yield the records of a text that are not blank; raise where the number of fields is not ``width``."""
        reader = csv.reader(io.StringIO(text), delimiter=self._delimiter)
        begin = line
        try:
            for fields in reader:
                if not _blank(fields):
                    if width is not None and len(fields) != width:
                        raise DataError(
                            f"{self.name}, line {begin}: {len(fields)} fields, where the header has {width}. "
                            "Mend the line, or quote fields that hold the delimiter"
                        )
                    if self._missing and width is not None:  # the header has no width yet
                        fields = ["" if field.strip() in self._missing else field for field in fields]
                    yield _Record(begin, fields)
                begin = line + reader.line_num
        except csv.Error as error:
            raise DataError(f"{self.name}, line {begin}: {error}") from error

    def _check_points(self, wanted: Wanted) -> None:
        target = () if wanted.target is None or wanted.target_kind == "word" else (wanted.target,)
        columns = dict(zip(self.columns, self._first_columns(), strict=True))
        if self._unclear_points and self._marks.decimal == ".":
            check_points(self.name, columns, (*wanted.numbers, *target))
        if self._kept_points:
            check_kept(self.name, columns, (*wanted.numbers, *target))

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        self._check_points(wanted)
        layout, first = _Layout(self.columns, wanted), 0
        for line, text in self._blocks_of_text:
            if not text or text.isspace():
                continue
            block = self._fast(first, line, text, layout)
            if block is None:
                block = self._careful(first, line, text, layout)
            if len(block):
                yield block
            first += len(block)

    def _fast(self, first: int, line: int, text: str, layout: "_Layout") -> Block | None:
        """Parse a text without quotes, blank lines and missing numbers; None where it is not so."""
        if (
            self._marks.thousands
            or self._missing
            or layout.twice
            or self._failures >= _PATIENCE
            or '"' in text
            or "\n\n" in text
            or text.startswith("\n")
        ):
            return None
        if self._comma and (layout.has_words or "." in text or self._delimiter == ","):
            return None
        lines = (text.replace(",", ".") if self._comma else text).split("\n")
        if not lines[-1]:
            lines.pop()
        if not all(lines):
            return None
        try:
            table = np.loadtxt(lines, dtype=layout.dtype, delimiter=self._delimiter, comments=None, ndmin=1)
        except ValueError:
            self._failures += 1
            return None
        if len(table) != len(lines):
            return None
        self._failures = 0
        return layout.block(first, table, range(line, line + len(lines)))

    def _careful(self, first: int, line: int, text: str, layout: "_Layout") -> Block:
        records = list(self._records(line, text, len(self.columns)))
        lines = [r.line for r in records]
        cells = list(zip(*(r.fields for r in records), strict=True)) or [()] * len(self.columns)

        def numbers(j: int) -> Floats:
            try:
                return numbers_of(cells[j], self._marks)
            except NoNumber as error:
                place = f"{self.name}, line {lines[error.row]}"
                raise CellError(place, self.columns[j], error.cell, error.beside) from None

        wanted, place = layout.wanted, layout.place
        X = np.empty((len(records), len(wanted.numbers)))
        gaps = {name: taken(cells[place[name]]) for name in wanted.words}
        for j, name in enumerate(wanted.numbers):
            X[:, j] = numbers(place[name])
            if np.isnan(X[:, j]).any():
                gaps[name] = taken(cells[place[name]], GAPS)
        words = [[word(cell) for cell in cells[place[name]]] for name in wanted.words]
        target: Any = None
        if wanted.target is not None:
            at = place[wanted.target]
            target = numbers(at) if wanted.target_kind == "number" else [word(cell) for cell in cells[at]]
        return Block(first, X, words, target, lines, taken=gaps)


class _Layout:
    """Where the wanted columns stand, and the type of a row for NumPy: runs of numbers, and words."""

    def __init__(self, columns: Sequence[str], wanted: Wanted) -> None:
        self.wanted, self.place = wanted, {name: j for j, name in enumerate(columns)}
        self.twice = not set(wanted.numbers).isdisjoint(wanted.words)  # as numbers and as they are written
        at = [self.place[name] for name in wanted.numbers]
        is_number = np.zeros(len(columns), dtype=bool)
        is_number[at] = True
        edges = np.flatnonzero(np.diff(is_number, prepend=False, append=False))
        self.has_words = bool(wanted.words) or (wanted.target is not None and wanted.target_kind == "word")
        self._runs = [f"run {a}" for a in edges[::2]]
        fields: dict[int, tuple[Any, ...]] = {
            int(a): (f"run {a}", np.float64, (int(b - a),)) for a, b in zip(edges[::2], edges[1::2], strict=True)
        }
        for j in np.flatnonzero(~is_number).tolist():
            real = columns[j] == wanted.target and wanted.target_kind == "number"
            fields[j] = (f"field {j}", np.float64 if real else object)
        self.dtype = np.dtype([fields[j] for j in sorted(fields)])
        order = np.argsort(np.argsort(at))  # place of every wanted number among those of the file
        self._order = None if np.array_equal(order, np.arange(len(at))) else order

    def block(self, first: int, table: Array, lines: range) -> Block:
        """Return the rows that NumPy has parsed."""
        runs = [table[run] for run in self._runs]
        X = np.concatenate(runs, axis=1) if runs else np.empty((len(table), 0))
        words = [[word(cell) for cell in table[f"field {self.place[name]}"]] for name in self.wanted.words]
        target: Any = None
        if self.wanted.target is not None:
            target = table[f"field {self.place[self.wanted.target]}"].copy()  # a view would keep the table
            if self.wanted.target_kind == "word":
                target = [word(cell) for cell in target]
        gaps = {name: taken(table[f"field {self.place[name]}"]) for name in self.wanted.words}
        X = X if self._order is None else X[:, self._order]
        return Block(first, X, words, target, lines, taken=gaps)


def _blank(fields: list[str]) -> bool:
    return not fields or (len(fields) == 1 and not fields[0].strip())


def _likeliest_delimiter(text: str) -> str:
    line = next(line for line in text.split("\n") if line.strip())
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)
