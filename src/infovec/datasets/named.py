"""Data sets by name: those that scikit-learn brings along, then $INFOVEC_DATA; openml:NAME."""

import os
import re
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from ..errors import DataError
from .arrays import ArrayTable, read_npz

__all__ = ["BUNDLED", "REMOTE", "load_named", "stored_file"]

REMOTE = "openml:"
"""What a name begins with for which the network is asked."""

BUNDLED = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
_NO_ANSWER = (OSError, ValueError, TypeError, LookupError, EOFError, HTTPException, zlib.error)  # or none with sense


def load_named(name: str, part: str | None = None) -> ArrayTable:
    """Return a data set by name.

    Parameters
    ----------
    name : str
        Of a data set that scikit-learn brings along, of ``NAME.npz`` in the folder $INFOVEC_DATA, or ``openml:NAME``,
        the only one for which the network is asked; a number is one of OpenML's.
    part : {"train", "test", "valid"}, optional
        For those of $INFOVEC_DATA that come in parts.
    """
    if name in BUNDLED and part is None:
        return _from_bunch(name, BUNDLED[name]())
    path = stored_file(name)
    if path is not None:
        return read_npz(path, part, name)
    if part is not None:
        raise DataError(f"{name} has no parts, or is not in $INFOVEC_DATA ({_folder()}); leave out :{part}")
    if name.startswith(REMOTE):
        return _from_openml(name)
    raise DataError(
        f"there is no file {name!r}, and no data set of that name comes with scikit-learn ({', '.join(BUNDLED)}) or is "
        f"in $INFOVEC_DATA ({_folder()}). Mend the name, or set INFOVEC_DATA to a folder with {name}.npz; for one of "
        f"OpenML, which needs the network, say {REMOTE}{name}"
    )


def stored_file(name: str) -> str | None:
    """Return the file of a data set in $INFOVEC_DATA, None if there is none."""
    folder = os.environ.get("INFOVEC_DATA", "")
    path = Path(folder) / f"{name}.npz"
    return str(path) if folder and path.is_file() else None


def _folder() -> str:
    return os.environ.get("INFOVEC_DATA", "") or "not set"


def _from_bunch(name: str, bunch: Any) -> ArrayTable:
    y = bunch.target
    classes = getattr(bunch, "target_names", None)
    if classes is not None and y.dtype.kind in "iu":
        y = np.asarray(classes)[y]
    task = "regress" if classes is None else "classify"
    return ArrayTable(name, bunch.data, y, bunch.feature_names, "target", task)


def _from_openml(name: str) -> ArrayTable:
    said = name.removeprefix(REMOTE)
    if not re.fullmatch(r"[\w.() -]+", said):
        raise DataError(f"{name!r}: no data set of OpenML has such a name; write {REMOTE}NAME, or {REMOTE}NUMBER")
    which = {"data_id": int(said)} if said.isdecimal() else {"name": said}
    try:
        bunch = datasets.fetch_openml(**which, as_frame=False, parser="liac-arff", n_retries=1)
    except _NO_ANSWER as error:
        raise DataError(
            f"OpenML did not give {said!r} ({error}). Look the name up on openml.org and see whether the network is "
            f"there, or set INFOVEC_DATA ({_folder()}) to a folder with the data set as an npz file"
        ) from error
    X = np.asarray(bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data, dtype=np.float64)
    words: dict[str, Any] = {}
    for column, categories in (getattr(bunch, "categories", None) or {}).items():
        if column in bunch.feature_names:
            codes = X[:, bunch.feature_names.index(column)]
            words[column] = [None if np.isnan(c) else categories[int(c)] for c in codes]
    y = np.asarray(bunch.target)
    task = "regress" if y.dtype.kind == "f" else "classify"
    target = bunch.target_names[0] if bunch.target_names else "target"
    return ArrayTable(name, X, y, bunch.feature_names, target, task, words)
