"""Reading inputs that are not in memory: arrays on disk, folders of tables, collections of a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from .._types import Array
from ..errors import ParameterError
from ..runtime import limit
from ..shards import FarInputs, Store, Stored, View

__all__ = ["given_client", "is_dask", "is_far", "near", "read_far"]

_client: ContextVar[object] = ContextVar("the Dask client that was given", default=None)
_SHARE = 0.25  # of the memory that inputs may take as they are
_ARRAY = ("shape", "dtype", "__getitem__")


@contextmanager
def given_client(client: object) -> Iterator[None]:
    """Let Dask collections that are read inside be worked on by this client."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def is_dask(X: object) -> bool:
    """Whether something is a collection of Dask, which need not be installed to tell."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def is_far(X: Any) -> bool:
    """Whether inputs are not in memory, and too large to be put there."""
    if is_dask(X):
        return True
    near = isinstance(X, np.ndarray) and not isinstance(X, np.memmap)
    if near or hasattr(X, "columns") or not all(hasattr(X, name) for name in _ARRAY) or hasattr(X, "nnz"):
        return False
    if len(getattr(X, "shape", ())) != 2 or np.dtype(X.dtype).kind not in "fiub":
        return False
    return 8.0 * X.shape[0] * X.shape[1] > _SHARE * limit()


def read_far(estimator: Any, X: Any, y: Any, real: bool) -> tuple[FarInputs, Array]:
    """Return inputs that stay where they are, and targets in memory; the estimator learns about the columns."""
    if is_dask(X):
        from ..shards.cluster import on_cluster

        store, names = on_cluster(X, _client.get())
    else:
        store, names = Stored(X), getattr(X, "names", None)
    inputs = FarInputs(store, View(store.dtype))
    targets = _targets(y, real)
    if store.n != len(targets):
        raise ParameterError(f"X has {store.n} rows, y has {len(targets)}; give one target for each row")
    if not store.n:
        raise ParameterError("X has no rows")
    _check_finite(inputs, store, names)
    estimator.n_features_in_ = store.p
    vars(estimator).pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return inputs, targets


def near(estimator: Any, X: Any) -> Array:
    """Return inputs to predict for, in memory."""
    values = np.asarray(X[:], dtype=np.float64)
    found: Array = check_array(values)
    if found.shape[1] != estimator.n_features_in_:
        raise ParameterError(f"X has {found.shape[1]} columns, the model was fitted to {estimator.n_features_in_}")
    return found


def _targets(y: Any, real: bool) -> Array:
    y = column_or_1d(np.asarray(y.compute() if is_dask(y) else y[:] if hasattr(y, "shape") else y))
    if real:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    elif y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ParameterError(f"row {int(np.argmin(np.isfinite(y)))} of y is not finite; drop such rows")
    elif y.dtype == object and any(v is None or v != v for v in y.tolist()):
        raise ParameterError("a target of y is missing; drop such rows")
    return y


def _check_finite(X: FarInputs, store: Store, names: Any) -> None:
    for at, bad in X.map(_not_finite):
        if bad is not None:
            row, column = int(at[bad[0]]), bad[1]
            name = column if names is None else repr(names[column])
            raise ParameterError(
                f"{store.where(row)}, column {name} of X is not finite. Drop or impute such values first"
            )


def _not_finite(X: Array) -> tuple[int, int] | None:
    good = np.isfinite(X)
    if good.all():
        return None
    row, column = np.argwhere(~good)[0]
    return int(row), int(column)
