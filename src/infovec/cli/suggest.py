"""``infovec suggest``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._types import Array
from ..datasets import Block, Reading, open_source
from ..datasets.source import Source, Wanted
from ..estimators.asking import Search, still
from .model import load_model
from .outputs import check_outputs
from .predict import csv_lines, explained, json_lines, opened, shown_cell
from .screen import Screen
from .table import Encoder, Table

__all__ = ["run"]

_WHOLE = 1e15  # below which whole numbers are written as such


def run(screen: Screen, model: str, data: str, output: str, number: int, score: str, **options: Any) -> None:
    """Read a pool, a block of rows at a time, and write the rows to ask for."""
    check_outputs([output], [data], model, dash=True)
    loaded = load_model(model)
    reading = Reading(options["delimiter"], options["encoding"], not options["no_header"])
    search, kept = Search(loaded.estimator, number, score), list[tuple[Array, Array]]()
    with open_source(data, reading) as source, screen.work("looking") as tell, screen.warnings():
        wanted, columns = _wanted(loaded.table, source), () if loaded.table.sparse else source.columns
        encode = Encoder(loaded.table, source.name)
        with explained():
            for block in source.blocks(wanted):
                before = search.total
                search.add(encode(block))
                numbers = np.arange(before, search.total)
                kept = still([*kept, (numbers, _cells(columns, wanted, block))], search.rows)
                tell(f"{search.total} rows", source.share_read())
    best = search.best()
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    cells = {int(row): values for at, rows in kept for row, values in zip(at, rows, strict=True)}
    chosen = np.array([cells[int(row)] for row in best.rows], dtype=object).reshape(number, len(columns))
    values: list[Sequence[Any]] = [(best.rows + 1).tolist(), best.scores.tolist()]
    values += [list(column) if screen.as_json else list(map(_text, column)) for column in chosen.T]
    names = [name if name not in columns else f"suggested {name}" for name in ("row", score)] + list(columns)
    with opened(output) as file:
        cell = shown_cell(file, options["no_formulas"])
        write = json_lines(file, names) if screen.as_json else csv_lines(file, names, cell)
        write(values)
    if output != "-":
        screen.note(f"{number} of {search.total} rows: {output}")


def _wanted(table: Table, source: Source) -> Wanted:
    """Return what the model wants, and all other columns as they are written."""
    wanted = table.wanted(with_target=False)
    if table.sparse:
        return wanted
    others = tuple(name for name in source.columns if name not in wanted.names())
    return Wanted(wanted.numbers, (*wanted.words, *others))


def _cells(columns: Sequence[str], wanted: Wanted, block: Block) -> Array:
    """Return the cells of rows, in the order of the columns of the pool."""
    cells = np.empty((len(block), len(columns)), dtype=object)
    place = {name: j for j, name in enumerate(columns)}
    numbers = block.numbers.toarray() if columns and sparse.issparse(block.numbers) else block.numbers
    for k, name in enumerate(wanted.numbers if columns else ()):
        cells[:, place[name]] = [None if v != v else v for v in numbers[:, k].tolist()]
    for words, name in zip(block.words, wanted.words, strict=True):
        cells[:, place[name]] = words
    return cells


def _text(value: Any) -> str:
    """A cell as it is written: numbers as short as they can be read back, nothing if it is missing."""
    if isinstance(value, float):
        return f"{value:.0f}" if value == round(value) and abs(value) < _WHOLE else repr(value)
    return "" if value is None else str(value)
