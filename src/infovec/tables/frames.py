"""Columns of pandas and polars frames, neither of which need be installed."""

from dataclasses import replace
from typing import Any

import numpy as np

from .._types import Array, Floats, Foreign
from ..errors import ParameterError
from .objects import nested, of_objects
from .raw import Kind, Raw

__all__ = ["check_names", "is_frame", "is_plain", "raw_columns"]

_DAY = 86400.0e6  # microseconds


def is_frame(X: object) -> bool:
    """Whether something is a frame in memory."""
    return _library(X) != ""


def _library(X: object) -> str:
    room = type(X).__module__.split(".")[0]
    name = room if type(X).__name__ == "DataFrame" or hasattr(X, "iloc") else ""
    return name if name in ("pandas", "polars") and len(getattr(X, "shape", ())) == 2 else ""


def is_plain(X: Foreign) -> bool:
    """Whether all columns of a frame are numbers or truth values, and none of them is missing."""
    if _library(X) == "pandas":
        numbers = all(dtype.kind in "biuf" and dtype.name != "category" for dtype in X.dtypes)
        return numbers and not bool(X.isna().to_numpy().any())
    if not all(dtype.is_numeric() or dtype.base_type().__name__ == "Boolean" for dtype in X.dtypes):
        return False
    columns = X.get_columns()
    return not any(c.null_count() or (c.dtype.is_float() and bool(c.is_nan().any())) for c in columns)


def raw_columns(X: Foreign) -> list[Raw]:
    """Return the columns of a frame, or of a matrix of numbers."""
    library = _library(X)
    if library == "pandas":
        return [_of_pandas(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    if library == "polars":
        return [_of_polars(column.name, column) for column in X.get_columns()]
    return [_of_numbers(f"x{j}", X[:, j]) for j in range(X.shape[1])]


def check_names(X: Foreign) -> None:
    """Refuse a frame two columns of which have one name."""
    names = [str(name) for name in X.columns]
    again = next((name for j, name in enumerate(names) if name in names[:j]), None)
    if again is not None:
        places = [j for j, name in enumerate(names) if name == again]
        raise ParameterError(
            f"X has {len(places)} columns with the name {again!r}, numbers {', '.join(map(str, places))}: give each a "
            "name of its own, or keep the first of them with X.loc[:, ~X.columns.duplicated()]"
        )


def _of_numbers(name: str, values: Array, kind: Kind = "number") -> Raw:
    numbers: Floats = np.array(values, dtype=np.float64)
    return Raw(name, "nothing" if np.isnan(numbers).all() else kind, numbers)


def _of_pandas(name: str, column: Foreign) -> Raw:
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return Raw.of_categories(name, column.cat.codes.to_numpy(), list(dtype.categories), bool(dtype.ordered))
    if dtype.kind in "biuf":
        return _of_numbers(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind == "M":
        column = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) is not None else column
        return _of_numbers(name, _in_days(column.to_numpy(dtype="datetime64[us]")), "date")
    if dtype.kind == "m":
        return _of_numbers(name, _in_days(column.to_numpy(dtype="timedelta64[us]")), "duration")
    if hasattr(column, "dt") and hasattr(dtype, "freq"):  # periods begin
        return _of_pandas(name, column.dt.to_timestamp())
    return of_objects(name, column.tolist())


def _in_days(values: Array) -> Floats:
    missing = np.isnat(values)
    return np.where(missing, np.nan, values.astype(np.int64) / _DAY)


def _of_polars(name: str, column: Foreign) -> Raw:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype == pl.Boolean:
        return _of_numbers(name, column.cast(pl.Float64).to_numpy())
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        found = Raw.of_words(name, column.cast(pl.String).to_list())
        return found if dtype == pl.String else replace(found, listed=True)
    if dtype in (pl.Date, pl.Datetime):
        return _of_numbers(name, _over(column.dt.epoch("us"), _DAY), "date")
    if dtype == pl.Duration:
        return _of_numbers(name, _over(column.dt.total_microseconds(), _DAY), "duration")
    if dtype == pl.Time:
        return _of_numbers(name, _over(column.cast(pl.Int64), 1e3 * _DAY), "time")
    if dtype == pl.Null:
        return Raw(name, "nothing", np.full(len(column), np.nan))
    values: list[Any] = column.to_list()
    if dtype.is_nested() or dtype == pl.Binary:
        row = next((i for i, value in enumerate(values) if value is not None), 0)
        raise nested(name, row, values[row])
    return of_objects(name, values)


def _over(column: Foreign, unit: float) -> Floats:
    import polars as pl

    return np.asarray(column.cast(pl.Float64).to_numpy()) / unit
