"""``infovec suggest``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Array
from ..datasets import open_source
from ..estimators.asking import Search, still
from .cells import cells, text, with_cells
from .model import load_model
from .outputs import check_outputs, delimiter_of
from .predict import csv_lines, explained, json_lines, opened, shown_cell
from .screen import Screen
from .table import Encoder
from .tables import as_fitted, reading_of

__all__ = ["run"]


def run(screen: Screen, model: str, data: str, output: str, number: int, score: str, **options: Any) -> None:
    """Read a pool, a block of rows at a time, and write the rows to ask for."""
    check_outputs([output], [data], model, dash=True)
    delimiter = delimiter_of(output, screen.as_json)
    loaded = load_model(model, of_python=True)
    search, kept = Search(loaded.estimator, number, score), list[tuple[Array, Array]]()
    with (
        open_source(data, reading_of(options, loaded)) as opened_table,
        screen.work("looking") as tell,
        screen.warnings(),
    ):
        source = as_fitted(opened_table, loaded, not options["no_header"])
        columns = () if loaded.table.sparse else source.columns
        wanted = with_cells(loaded.table.wanted(with_target=False), columns, source.kinds(), loaded.dates)
        encode = Encoder(loaded.table, source.name)
        with explained():
            for block in source.blocks(wanted):
                before = search.total
                search.add(encode(block))
                numbers = np.arange(before, search.total)
                kept = still([*kept, (numbers, cells(columns, wanted, block))], search.rows)
                tell(f"{search.total} rows", source.share_read())
    best = search.best()
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    known = {int(row): values for at, rows in kept for row, values in zip(at, rows, strict=True)}
    chosen = np.array([known[int(row)] for row in best.rows], dtype=object).reshape(number, len(columns))
    values: list[Sequence[Any]] = [(best.rows + 1).tolist(), best.scores.tolist()]
    values += [list(column) if screen.as_json else list(map(text, column)) for column in chosen.T]
    names = [name if name not in columns else f"suggested {name}" for name in ("row", score)] + list(columns)
    with opened(output) as file:
        cell = shown_cell(file, options["no_formulas"])
        write = json_lines(file, names) if screen.as_json else csv_lines(file, names, cell, delimiter)
        write(values)
    if output != "-":
        screen.note(f"{number} of {search.total} rows: {output}")
