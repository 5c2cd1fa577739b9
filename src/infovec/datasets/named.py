"""Data sets by name: those that scikit-learn brings along, then $INFOVEC_DATA; openml:NAME."""

import os
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
        from .openml import load_openml

        return load_openml(name, REMOTE)
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
