"""Data sets by name: those that scikit-learn brings along, then $INFOVEC_DATA, then OpenML."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from ..errors import DataError
from .arrays import ArrayTable, read_npz

__all__ = ["BUNDLED", "load_named"]

BUNDLED = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def load_named(name: str, part: str | None = None) -> ArrayTable:
    """Return a data set by name.

    Parameters
    ----------
    name : str
        Of a data set that scikit-learn brings along, of ``NAME.npz`` in the folder $INFOVEC_DATA, or on OpenML.
    part : {"train", "test", "valid"}, optional
        For those of $INFOVEC_DATA that come in parts.
    """
    folder = os.environ.get("INFOVEC_DATA", "")
    path = Path(folder) / f"{name}.npz"
    if name in BUNDLED and part is None:
        return _from_bunch(name, BUNDLED[name]())
    if folder and path.is_file():
        return read_npz(str(path), part, name)
    if part is not None:
        raise DataError(f"{name} has no parts, or is not in $INFOVEC_DATA ({folder or 'not set'}); leave out :{part}")
    return _from_openml(name, folder)


def _from_bunch(name: str, bunch: Any) -> ArrayTable:
    y = bunch.target
    classes = getattr(bunch, "target_names", None)
    if classes is not None and y.dtype.kind in "iu":
        y = np.asarray(classes)[y]
    task = "regress" if classes is None else "classify"
    return ArrayTable(name, bunch.data, y, bunch.feature_names, "target", task)


def _from_openml(name: str, folder: str) -> ArrayTable:
    if not re.fullmatch(r"[\w.() -]+", name):
        raise DataError(f"{name!r} is neither a file nor the name of a data set")
    try:
        bunch = datasets.fetch_openml(name, as_frame=False, parser="liac-arff", n_retries=0)
    except (OSError, ValueError) as error:
        raise DataError(
            f"there is no file {name!r}, no such data set comes with scikit-learn ({', '.join(BUNDLED)}), and OpenML "
            f"did not give one ({error}). Either set INFOVEC_DATA to a folder with {name}.npz (now "
            f"{folder or 'not set'}), or connect to the network so that fetch_openml finds {name!r}"
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
