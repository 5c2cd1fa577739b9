"""``infovec predict``."""

import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, Any, Protocol, cast

import click
import numpy as np

from .._types import Inputs
from ..datasets import Block, open_source
from ..datasets.source import Wanted
from ..errors import CellError, OutputError
from ..likelihoods.ranks import by_rank, ranked
from ..persistence import writing
from ..plain import printable, without_formula
from .cells import cells, text, with_cells
from .model import Model, load_model
from .outputs import check_outputs, delimiter_of
from .parameters import picked
from .screen import Screen
from .table import Encoder
from .tables import as_fitted, reading_of
from .words import no_number

__all__ = ["Columns", "csv_lines", "explained", "json_lines", "opened", "run", "shown_cell"]

_ROWS = 16384  # predicted at a time


class Written(Protocol):
    """What rows are written to."""

    def write(self, text: str, /) -> object:
        """Take some text."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""


def run(
    screen: Screen,
    model: str,
    data: str,
    output: str,
    proba: bool,
    std: bool,
    keep: tuple[str, ...] = (),
    **options: Any,
) -> None:
    """Read, predict and write, a block of rows at a time."""
    check_outputs([output], [data], model, dash=True)
    delimiter = delimiter_of(output, screen.as_json)
    loaded = load_model(model, of_python=True)
    if proba and loaded.table.task == "regress":
        raise click.UsageError("--proba is for classes; this model predicts numbers, for which there is --std")
    columns, rows = Columns(loaded, proba, std), 0
    with (
        open_source(data, replace(reading_of(options, loaded), empty=True)) as opened_table,
        screen.work("predicting") as tell,
        screen.warnings(),
    ):
        source = as_fitted(opened_table, loaded, not options["no_header"])
        keep = picked(keep, source.columns)
        _check_kept(keep, columns.names)
        source.require(keep)
        wanted = with_cells(loaded.table.wanted(with_target=False), keep, source.kinds(), loaded.dates)
        encode, blocks = Encoder(loaded.table, source.name), source.blocks(wanted)
        with opened(output) as file, explained():
            shown = shown_cell(file, options["no_formulas"])
            names = [*keep, *columns.names]
            write = json_lines(file, names) if screen.as_json else csv_lines(file, names, shown, delimiter)
            for block in blocks:
                X, kept = encode(block), _kept(keep, wanted, block, screen.as_json)
                for start in range(0, X.shape[0], _ROWS):
                    at = slice(start, start + _ROWS)
                    write([*(column[at] for column in kept), *columns(X[at])])
                rows += len(block)
                tell(f"{rows} rows", source.share_read())
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    if output != "-":
        screen.note(f"{rows} rows: {output}")


def _check_kept(keep: Sequence[str], names: Sequence[str]) -> None:
    twice = next((name for name, count in Counter([*keep, *names]).items() if count > 1), None)
    if twice is not None:
        raise click.UsageError(f"--keep {','.join(keep)}: {twice!r} would be the name of two columns")


def _kept(keep: Sequence[str], wanted: Wanted, block: Block, as_json: bool) -> list[Sequence[Any]]:
    """Return the cells of the columns that are kept, as they are written."""
    columns = cells(keep, wanted, block).T
    return [column.tolist() if as_json else list(map(text, column)) for column in columns]


@contextmanager
def explained() -> Iterator[None]:
    """Say of a cell that cannot be read that the model wants a number there."""
    try:
        yield
    except CellError as error:
        raise no_number(error) from error


class Columns:
    """What is predicted for a row: names, and a column of values for each.

    Parameters
    ----------
    model : Model
    proba, std : bool
        Whether probabilities of classes, and standard deviations, are wanted.
    """

    def __init__(self, model: Model, proba: bool, std: bool) -> None:
        self._estimator, self._std, self._proba = model.estimator, std, proba
        classes = ranked(model.estimator)
        self._labels = None if classes is None else classes.tolist()
        self.names = ["prediction"]
        if proba and self._labels is not None:
            self.names += [f"proba_{label}" for label in self._labels]
        if std and self._labels is None:
            self.names.append("std")
        elif std and self._labels is not None:
            many = len(self._labels) > 2 and model.table.task == "classify"
            self.names += [f"latent_std_{label}" for label in self._labels] if many else ["latent_std"]

    def __call__(self, X: Inputs) -> list[Sequence[Any]]:
        """Return the values of every column."""
        if self._labels is None:
            mean, std = self._estimator.predict(X, return_std=True)
            return [mean.tolist(), *([std.tolist()] if self._std else [])]
        p = by_rank(self._estimator, self._estimator.predict_proba(X))
        values: list[Sequence[Any]] = [[self._labels[k] for k in p.argmax(axis=1)]]
        if self._proba:
            values += p.T.tolist()
        if self._std:
            _, std = self._estimator.predict_latent(X)
            values += np.atleast_2d(std.T).tolist()
        return values


def csv_lines(file: Written, names: list[str], cell: Callable[[str], str], delimiter: str) -> Any:
    """Write the names of columns; return what writes rows of them."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(cell, names))

    def shown(values: Sequence[Any]) -> Sequence[Any]:
        if values and isinstance(values[0], float):
            return [f"{v:.9g}" for v in values]
        return [cell(v) for v in values] if values and isinstance(values[0], str) else values

    def write(values: list[Sequence[Any]]) -> None:
        writer.writerows(zip(*map(shown, values), strict=True))

    return write


def shown_cell(file: Written, no_formulas: bool) -> Callable[[str], str]:
    """Return how words are written: as they are, but for terminals and, if asked for, spreadsheets."""
    terminal = file.isatty()

    def cell(word: str) -> str:
        word = without_formula(word) if no_formulas else word
        return printable(word) if terminal else word

    return cell


def json_lines(file: Written, names: list[str]) -> Any:
    """Return what writes rows as JSON, one object for each."""

    def write(values: list[Sequence[Any]]) -> None:
        for row in zip(*values, strict=True):
            file.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")

    return write


@contextmanager
def opened(output: str) -> Iterator[Written]:
    """Open a file that gets its name once it is complete; "-" is standard output."""
    if output == "-":
        if sys.stdout is None:
            raise OutputError("standard output is closed: name a file with -o")
        yield sys.stdout
        sys.stdout.flush()
        return
    with writing(output, streamed=True) as file:
        if not output.endswith(".gz"):
            yield _Text(file)
            return
        packed = gzip.GzipFile("", "wb", compresslevel=4, fileobj=file)
        try:
            yield _Text(cast(IO[bytes], packed))
        except BaseException:
            with suppress(OSError):  # of what could not be written, which is said already
                packed.close()
            raise
        packed.close()


class _Text:
    """Text for a file of bytes, not held back: nothing is left to fail when a file cannot be written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode("utf-8", "backslashreplace"))

    def isatty(self) -> bool:
        return self._file.isatty()
