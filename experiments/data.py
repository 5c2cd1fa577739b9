"""Data sets of $INFOVEC_DATA."""

import os
from pathlib import Path

import numpy as np

__all__ = ["stored", "whole"]


def stored(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a data set by their names."""
    folder = os.environ.get("INFOVEC_DATA", "")
    path = Path(folder) / f"{name}.npz"
    if not folder or not path.exists():
        raise SystemExit(
            f"{name}.npz is not there. Set INFOVEC_DATA to a folder that has it: arrays X_train, y_train, X_test, "
            "y_test, or X and y; the README.md of the experiment says where the data come from"
        )
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def whole(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Return inputs and targets of a stored training and test part together, and the size of the training part."""
    file = stored(name)
    X, y = (np.concatenate([file[f"{part}_train"], file[f"{part}_test"]]).astype(np.float64) for part in "Xy")
    return X, y, len(file["y_train"])
