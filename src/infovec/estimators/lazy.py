"""Predictions for inputs that are not in memory: lazy for collections of Dask, in pieces for what slices."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Foreign
from ..errors import ParameterError
from .far import is_dask, slices
from .tasks import Grouped

__all__ = ["for_far_rows"]

_M = TypeVar("_M", bound=Callable[..., Foreign])
_PIECE = 1 << 20  # numbers of the inputs that are read at once


def for_far_rows(method: _M) -> _M:
    """Return a method of predictions that takes inputs wherever they are.

    A Dask array or dataframe gives a Dask array, of which nothing is computed until it is asked for. ``groups`` are the
    tasks of the rows, for a model that was fitted with such.
    """

    @wraps(method)
    def predict(self: Foreign, X: Foreign, *args: Foreign, groups: Foreign = None, **options: Foreign) -> Foreign:
        if groups is not None:
            check_is_fitted(self)
            return method(self, Grouped(X, groups), *args, **options)
        if options.get("return_cov") and (is_dask(X) or slices(X)):
            raise ParameterError("covariances are between all rows, which must be in memory: give np.asarray(X)")
        if is_dask(X):
            check_is_fitted(self)
            return _lazy(self, method, X, args, options)
        if slices(X):
            check_is_fitted(self)
            return _streamed(self, method, X, args, options)
        return method(self, X, *args, **options)

    known = signature(method)
    groups = Parameter("groups", Parameter.KEYWORD_ONLY, default=None)
    predict.__signature__ = known.replace(parameters=[*known.parameters.values(), groups])  # type: ignore[attr-defined]
    return predict  # type: ignore[return-value]


def _streamed(model: Foreign, method: Callable[..., Foreign], X: Foreign, args: Foreign, options: Foreign) -> Foreign:
    """Predictions of one piece of the rows after the other."""
    step = max(1, _PIECE // max(X.shape[1], 1))
    names = getattr(model, "feature_names_in_", None)
    parts = []
    for start in range(0, X.shape[0], step):
        rows = np.asarray(X[start : start + step], dtype=np.float64)
        parts.append(method(model, _with_names(rows, names, X), *args, **options))
    if not parts:
        return method(model, np.asarray(X[:0]), *args, **options)
    if isinstance(parts[0], tuple):
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return parts[0]._make(columns) if hasattr(parts[0], "_make") else tuple(columns)
    return np.concatenate(parts)


def _with_names(rows: Array, names: Foreign, X: Foreign) -> Foreign:
    """Rows as a table, where the model was fitted to one: scikit-learn compares the names."""
    if names is None or not hasattr(X, "names"):
        return rows
    from pandas import DataFrame

    return DataFrame(rows, columns=list(X.names))


def _lazy(model: Foreign, method: Callable[..., Foreign], X: Foreign, args: Foreign, options: Foreign) -> Foreign:
    from dask.delayed import delayed

    frame = hasattr(X, "columns")
    sample = _sample(model, X)
    like = method(model, sample, *args, **options)
    whole = delayed(model, pure=True)
    chunks = X.to_delayed() if frame else X.rechunk({1: -1}).to_delayed().ravel()
    lengths = [np.nan] * len(chunks) if frame else X.chunks[0]
    call = delayed(_of_chunk, pure=True)
    found = [call(whole, method, chunk, args, options, sample) for chunk in chunks]

    da: Foreign = import_module("dask.array")

    def together(parts: Foreign, kind: Array) -> Foreign:
        arrays = [
            da.from_delayed(part, (n, *kind.shape[1:]), dtype=kind.dtype)
            for part, n in zip(parts, lengths, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)

    if isinstance(like, tuple):
        return tuple(together([part[k] for part in found], kind) for k, kind in enumerate(like))
    return together(found, like)


def _sample(model: Foreign, X: Foreign) -> Foreign:
    """A row that the model can predict, as the collection has rows."""
    row = np.asarray(model.active_vectors_[:1], dtype=np.float64)
    if not hasattr(X, "columns"):
        return row
    from pandas import DataFrame

    return DataFrame(row, columns=list(X.columns))


def _of_chunk(
    model: Foreign, method: Callable[..., Foreign], chunk: Foreign, args: Foreign, options: Foreign, sample: Foreign
) -> Foreign:
    if len(chunk):
        return method(model, chunk, *args, **options)
    like = method(model, sample, *args, **options)  # an empty chunk: nothing, in the right shape
    return tuple(kind[:0] for kind in like) if isinstance(like, tuple) else like[:0]
