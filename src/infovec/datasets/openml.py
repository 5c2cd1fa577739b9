"""Data sets of OpenML, which the network is asked for once; scikit-learn keeps what came in its folder of data."""

import re
import socket
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

import numpy as np
from sklearn import datasets

from ..errors import DataError
from .arrays import ArrayTable

__all__ = ["load_openml"]

_NO_ANSWER = (OSError, ValueError, TypeError, LookupError, EOFError, HTTPException, zlib.error)  # or none with sense
_PATIENCE = 30.0  # seconds without an answer
_TEXTS = "STRING attributes"  # what scikit-learn says of columns that only data frames can hold


def load_openml(name: str, scheme: str) -> ArrayTable:
    """Return a data set of OpenML.

    Parameters
    ----------
    name : str
        The scheme, and the name of the data set or its number.
    scheme : str
        "openml:".
    """
    said = name.removeprefix(scheme)
    if not re.fullmatch(r"[\w.() -]+", said):
        raise DataError(f"{name!r}: no data set of OpenML has such a name; write {scheme}NAME, or {scheme}NUMBER")
    which = {"data_id": int(said)} if said.isdecimal() else {"name": quote(said.lower())}
    try:
        with _patience(), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            bunch = _fetched(which)
    except _NO_ANSWER as error:
        raise DataError(_no_answer(said, error)) from error
    return _table(name, bunch, [first for warning in told if (first := _first_sentence(warning, said))])


def _fetched(which: dict[str, Any]) -> Any:
    """Return the data set as arrays, or, where it has columns of texts, as a data frame.

    Where it does not name one target that is known in every row, the target is a column like the others.
    """
    options = {"parser": "liac-arff", "n_retries": 1, "delay": 0.5}
    try:
        with suppress(IndexError):  # of a class that is missing
            bunch = datasets.fetch_openml(**which, as_frame=False, **options)
            if len(bunch.target_names) == 1:
                return bunch
        return datasets.fetch_openml(**which, as_frame=False, target_column=None, **options)
    except ValueError as error:
        if _TEXTS not in str(error):
            raise
    if find_spec("pandas") is None:
        raise DataError("it has columns of texts, which are read with pandas: pip install pandas")
    return datasets.fetch_openml(**which, as_frame=True, **options)


def _table(name: str, bunch: Any, notes: list[str]) -> ArrayTable:
    X, words = _frame(bunch.data) if hasattr(bunch.data, "columns") else _arrays(bunch)
    names = [str(column) for column in bunch.feature_names]
    targets = list(bunch.target_names or [])
    if len(targets) != 1:
        table = ArrayTable(name, X, None, names, words=words, notes=notes)
        usual = str(bunch.details.get("default_target_attribute", ""))
        table.target = usual if usual in names else None
        return table
    y = np.asarray(bunch.target)
    if y.dtype.kind == "O":
        y = np.array([_text(value) for value in y.tolist()], dtype=object)
    task = "regress" if y.dtype.kind == "f" else "classify"
    return ArrayTable(name, X, y, names, targets[0], task, words, notes)


def _arrays(bunch: Any) -> tuple[Any, dict[str, list[Any]]]:
    X = np.asarray(bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data, dtype=np.float64)
    words: dict[str, list[Any]] = {}
    for column, categories in (getattr(bunch, "categories", None) or {}).items():
        if column in bunch.feature_names:
            codes = X[:, bunch.feature_names.index(column)]
            words[str(column)] = [None if np.isnan(c) else categories[int(c)] for c in codes]
    return X, words


def _frame(frame: Any) -> tuple[Any, dict[str, list[Any]]]:
    X = np.full(frame.shape, np.nan)
    words: dict[str, list[Any]] = {}
    for j, column in enumerate(frame.columns):
        if frame[column].dtype.kind in "fiub":
            X[:, j] = frame[column].to_numpy(dtype=np.float64)
        else:
            words[str(column)] = [_text(value) for value in frame[column].tolist()]
    return X, words


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


def _no_answer(said: str, error: BaseException) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"OpenML did not give {said!r} ({reason}). Look the name up on openml.org and see whether the network is "
        "there, or name a file instead"
    )


def _first_sentence(warning: warnings.WarningMessage, said: str) -> str:
    """Return what is worth telling of a warning."""
    text = str(warning.message)
    return f"{said}: {text.splitlines()[0].split('. ')[0]}" if issubclass(warning.category, UserWarning) else ""


@contextmanager
def _patience() -> Iterator[None]:
    """Wait for no answer of the network for ever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_PATIENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
