"""Rows of any kind of table, a few at a time."""

from typing import Any

import numpy as np

from .._types import Array, Rows

__all__ = ["numbers_of", "some_rows", "taken", "values_of"]


def taken(X: Any) -> int:
    """Return how many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def picked(X: Any, rows: Rows) -> Any:
    """Return some rows of an array, a frame, a sparse matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return X[rows]


def some_rows(X: Any, most: int) -> Rows:
    """Return the numbers of at most so many rows, evenly spaced."""
    n = taken(X)
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))


def values_of(X: Any, rows: Rows, names: tuple[str, ...]) -> Array | None:
    """Return some rows as an array with a column for each name, or None where rows have no such columns."""
    found = picked(X, rows)
    if hasattr(found, "toarray"):
        found = found.toarray()
    found = np.asarray(found, dtype=object) if hasattr(found, "columns") else np.asarray(found)
    return found if found.ndim == 2 and found.shape[1] == len(names) else None


def numbers_of(X: Any) -> Any:
    """Return rows as numbers, dense or sparse, or None where they are none."""
    if hasattr(X, "toarray"):
        return X
    try:
        found = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 2 and bool(np.all(np.isfinite(found))) else None
