"""Rows, a column and its values as a user has them, as the model takes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..errors import ParameterError
from ..tables.columns import CategoryColumn, NumberColumn
from ..tables.frames import is_frame
from ..tables.raw import Raw
from ..tables.schema import Encoded, TableSchema

__all__ = ["column_of", "read_once", "rows_of", "values_of"]


def rows_of(model: Any, X: Any) -> Any:
    """Return rows of a frame, or of an array of its columns, as numbers; numbers that the model takes as they are."""
    table: TableSchema | None = getattr(model, "table_", None)
    if is_frame(X):
        return np.asarray(model._read(X))
    given = X if hasattr(X, "shape") else np.asarray(X)
    if table is not None and (given.dtype.kind == "O" or given.shape[1] != table.width):
        return np.asarray(model._read(given))
    return given


def read_once(model: Any, X: Any) -> Any:
    """Return rows of a table as the model has read them, so that what is to be said of them is said once."""
    if not hasattr(model, "table_") or hasattr(model, "tasks_") or isinstance(X, Encoded):
        return X
    return model.table_.rows(model._read(X))


def column_of(model: Any, X: Any, column: int | str) -> int:
    """Return the number of a column that is called by its number or by its name."""
    if not isinstance(column, str):
        return int(column)
    names = [str(name) for name in getattr(model, "feature_names_in_", X.columns if is_frame(X) else ())]
    if column not in names:
        known = f"there are {', '.join(map(repr, names))}" if names else "the model knows no names: give its number"
        raise ParameterError(f"there is no column {column!r}; {known}")
    return names.index(column)


def values_of(model: Any, column: int, values: Sequence[Any] | Array) -> Floats:
    """Return values of a column as the model has them: numbers as they are, categories and dates of its table."""
    found = np.asarray(values)
    if found.dtype.kind in "biuf":
        return found
    table: TableSchema | None = getattr(model, "table_", None)
    if table is None or column >= len(table.columns):
        raise ParameterError(f"values of column {column} must be numbers, got {values!r}")
    known = table.columns[column]
    if found.dtype.kind == "M":
        found = found.astype("datetime64[us]").astype(str)
    texts = [str(value) for value in found.tolist()]
    if not isinstance(known, NumberColumn):
        words = known.categories if isinstance(known, CategoryColumn) else known.order
        unknown = [text for text in texts if text not in words]
        if unknown:
            raise ParameterError(f"{unknown[0]!r} is no category of column {known.name!r}")
    return np.asarray(known.encoded(Raw.of_words(known.name, texts))[0])
