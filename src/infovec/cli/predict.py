"""``infovec predict``."""

import csv
import gzip
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from .._types import Inputs
from ..datasets import Reading, open_source
from ..errors import CellError, DataError
from .model import Model, load_model
from .screen import Screen
from .table import Encoder

__all__ = ["Columns", "run"]

_ROWS = 16384  # predicted at a time


def run(screen: Screen, model: str, data: str, output: str, proba: bool, std: bool, **options: Any) -> None:
    """Read, predict and write, a block of rows at a time."""
    loaded = load_model(model)
    if proba and loaded.table.task == "regress":
        raise click.UsageError("--proba is for classes; this model predicts numbers, for which there is --std")
    columns, rows = Columns(loaded, proba, std), 0
    reading = Reading(options["delimiter"], options["encoding"], not options["no_header"])
    with open_source(data, reading) as source, screen.work("predicting") as tell, screen.warnings():
        encode, blocks = Encoder(loaded.table, source.name), source.blocks(loaded.table.wanted(with_target=False))
        with _opened(output) as file, _explained():
            write = _json_lines(file, columns.names) if screen.as_json else _csv(file, columns.names)
            for block in blocks:
                X = encode(block)
                for start in range(0, X.shape[0], _ROWS):
                    write(columns(X[start : start + _ROWS]))
                rows += len(block)
                tell(f"{rows} rows", source.share_read())
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    if output != "-":
        screen.note(f"{rows} rows: {output}")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except CellError as error:
        raise DataError(f"{error}; the model takes numbers in this column") from error


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
        classes = getattr(model.estimator, "classes_", None)
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
        p = self._estimator.predict_proba(X)
        values: list[Sequence[Any]] = [[self._labels[k] for k in p.argmax(axis=1)]]
        if self._proba:
            values += p.T.tolist()
        if self._std:
            _, std = self._estimator.predict_latent(X)
            values += np.atleast_2d(std.T).tolist()
        return values


def _csv(file: TextIO, names: list[str]) -> Any:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)

    def write(values: list[Sequence[Any]]) -> None:
        writer.writerows(zip(*map(_shown, values), strict=True))

    return write


def _shown(values: Sequence[Any]) -> Sequence[Any]:
    return [f"{v:.9g}" for v in values] if values and isinstance(values[0], float) else values


def _json_lines(file: TextIO, names: list[str]) -> Any:
    def write(values: list[Sequence[Any]]) -> None:
        for row in zip(*values, strict=True):
            file.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")

    return write


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    """Open a file that gets its name once it is complete; "-" is standard output."""
    path = Path(output)
    if output == "-":
        yield sys.stdout
        sys.stdout.flush()
    elif path.exists() and not path.is_file():  # a device or a pipe
        with path.open("w", encoding="utf-8") as file:
            yield file
    else:
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with _text(part, path.suffix == ".gz") as file:
                yield file
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _text(part: Path, packed: bool) -> TextIO:
    if not packed:
        return part.open("w", encoding="utf-8", newline="")
    return io.TextIOWrapper(gzip.open(part, "wb", compresslevel=4), encoding="utf-8", newline="")
