"""Tables that are in memory already: arrays of an .npz file or of a data set with a name."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..errors import CellError, DataError
from .gaps import Kind, word
from .source import Block, Source, Wanted, block_rows
from .stored import StoredRows, stored_rows

__all__ = ["PARTS", "ArrayTable", "read_npz"]

PARTS = ("train", "test", "valid")
_DAMAGED = (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error)
_TASKS = {"classification": "classify", "regression": "regress"}


class ArrayTable(Source):
    """A matrix and a target.

    Parameters
    ----------
    name : str
    X : array of shape (n, p), or StoredRows
        Numbers; copied in blocks only.
    y : array of shape (n,), optional
    columns : sequence of str, optional
        Names; x1, x2 and so on if not given.
    target : str
        Name of y.
    task : str, optional
    words : mapping from column to array of words, optional
        For columns whose entries in X are not used.
    notes : sequence of str
    """

    def __init__(
        self,
        name: str,
        X: Array | StoredRows,
        y: Array | None = None,
        columns: Sequence[str] | None = None,
        target: str = "y",
        task: str | None = None,
        words: Mapping[str, Sequence[Any]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name, self.task, self._notes = name, task, notes
        self.target = None if y is None else target
        if X.ndim != 2 or X.dtype.kind not in "fiub" or (y is not None and y.shape != (len(X),)):
            shape = None if y is None else y.shape
            raise DataError(
                f"{name}: X must be a matrix of numbers and y have one entry for each row; "
                f"found X of shape {X.shape} and type {X.dtype}, y of shape {shape}"
            )
        if len(X) == 0:
            raise DataError(f"{name} has no rows")
        self._X, self._y, self._words = X, y, dict(words or {})
        self._inputs = tuple(columns) if columns is not None else tuple(f"x{j + 1}" for j in range(X.shape[1]))
        if len(self._inputs) != X.shape[1]:
            raise DataError(f"{name}: {len(self._inputs)} names for {X.shape[1]} columns")

    @property
    def columns(self) -> tuple[str, ...]:
        return self._inputs if self.target is None or self._y is None else (*self._inputs, self.target)

    def kinds(self) -> dict[str, Kind]:
        found: dict[str, Kind] = {name: "word" if name in self._words else "number" for name in self._inputs}
        if self.target is not None and self._y is not None:
            found[self.target] = (
                "truth" if self._y.dtype.kind == "b" else "number" if self._y.dtype.kind in "fiu" else "word"
            )
        return found

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        place = {name: j for j, name in enumerate(self._inputs)}
        whole = wanted.numbers == self._inputs
        step = block_rows(self._X.shape[1])
        for start in range(0, len(self._X), step):
            part = slice(start, start + step)
            rows = self._rows(part)

            def cells(name: str, part: slice = part, rows: Array = rows) -> Any:
                if name in self._words:
                    return self._words[name][part]
                return self._y[part] if self._y is not None and name == self.target else rows[:, place[name]]

            words = [_words(cells(name)) for name in wanted.words]
            X = rows.astype(np.float64) if whole else self._some(wanted.numbers, cells, rows)
            target: Any = None
            if wanted.target is not None and (wanted.target in place or self._y is not None):
                at = cells(wanted.target)
                target = _words(at) if wanted.target_kind == "word" else self._numbers(wanted.target, at)
            yield Block(start, X, words, target)

    def _some(self, names: Sequence[str], cells: Callable[[str], Any], rows: Array) -> Floats:
        X = np.empty((len(rows), len(names)))
        for j, name in enumerate(names):
            X[:, j] = self._numbers(name, cells(name))
        return X

    def _numbers(self, name: str, values: Any) -> Floats:
        try:
            return np.asarray(values).astype(np.float64)
        except (ValueError, TypeError):
            raise CellError(self.name, name, str(values[0])) from None

    def _rows(self, part: slice) -> Array:
        try:
            return self._X[part]
        except _DAMAGED as error:
            raise DataError(f"{self.name} is damaged: {error}") from error

    def close(self) -> None:
        if isinstance(self._X, StoredRows):
            self._X.close()


def _words(values: Any) -> list[str | None]:
    return [word(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]


def read_npz(path: str, part: str | None, name: str | None = None) -> ArrayTable:
    """Read arrays X and y, or X_train, y_train and the like.

    Parameters
    ----------
    path : str
    part : {"train", "test", "valid"}, optional
        Which arrays; None is for files that are not in parts.
    name : str, optional
        For messages; the path if not given.
    """
    name = name or path
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if part is None and "X" not in file.files:
                parts = [p for p in PARTS if f"X_{p}" in file.files]
                said = f"it is in parts: say {' or '.join(f'{name}:{p}' for p in parts)}" if parts else "X is not there"
                raise DataError(f"{name}: {said} (it has {', '.join(file.files)})")
            suffix = "" if part is None else f"_{part}"
            if f"X{suffix}" not in file.files:
                raise DataError(f"{name} has no part {part!r}; it has {', '.join(file.files)}")
            X = stored_rows(path, f"X{suffix}") or file[f"X{suffix}"]
            y = file[f"y{suffix}"] if f"y{suffix}" in file.files else None
            task = _TASKS.get(str(file["task"])) if "task" in file.files else None
            if y is not None and task == "classify" and "classes" in file.files:
                y = _labels(y, file["classes"])
            columns = [str(c) for c in file["columns"]] if "columns" in file.files else None
    except _DAMAGED as error:
        if isinstance(error, DataError | FileNotFoundError | PermissionError):
            raise
        raise DataError(f"{name} is not a file of plain NumPy arrays: {error}") from error
    if y is not None and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    return ArrayTable(name if part is None else f"{name}:{part}", X, y, columns, task=task)


def _labels(y: Array, classes: Array) -> Array:
    """Return the source's own labels, where the file has them."""
    codes = y.astype(np.intp)
    fits = classes.ndim == 1 and np.array_equal(codes, y) and codes.min() >= 0 and codes.max() < len(classes)
    return classes[codes] if fits else y
