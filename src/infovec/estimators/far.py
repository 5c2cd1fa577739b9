"""Reading inputs that are not in memory: arrays on disk, folders of tables, collections of a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from .._types import Array, Foreign
from ..errors import ParameterError
from ..machines.cluster_plan import ClusterPlan, Network, cluster_plan
from ..machines.machine import Machine
from ..machines.plan import Plan
from ..runtime import best_of_three, limit, limited, n_threads, own_threads
from ..shards import FarInputs, Store, Stored, View

__all__ = ["given_client", "is_dask", "is_far", "near", "on_workers", "read_far", "slices"]

_client: ContextVar[object] = ContextVar("the Dask client that was given", default=None)
_SHARE = 0.25  # of the memory that inputs may take as they are
_TIMED = 1000  # rows of a matrix
_LARGE_MAP = 1 << 26  # bytes of a memory map that is not simply an array
_IN_MEMORY = ("__array_interface__", "__array_namespace__", "columns", "nnz", "is_cuda")  # arrays, tables, tensors


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


def is_far(X: Foreign) -> bool:
    """Whether inputs are not in memory, and too large to be put there."""
    return is_dask(X) or (_on_disk(X) and 8.0 * X.shape[0] * X.shape[1] > _SHARE * limit())


def slices(X: Foreign) -> bool:
    """Whether inputs are to be read in pieces, to predict for them."""
    return _on_disk(X) and (not isinstance(X, np.memmap) or X.nbytes > _LARGE_MAP)


def _on_disk(X: Foreign) -> bool:
    """Whether something is like a matrix of numbers, but not one in memory."""
    if type(X).__name__ == "LazyFrame" and type(X).__module__.split(".")[0] == "polars":
        raise ParameterError("X is a LazyFrame of polars, which has no rows yet: give X.collect()")
    if not isinstance(X, np.memmap) and any(hasattr(X, name) for name in _IN_MEMORY):
        return False
    if not all(hasattr(X, name) for name in ("shape", "dtype", "__getitem__")) or len(X.shape) != 2:
        return False
    try:
        return np.dtype(X.dtype).kind in "fiub"
    except TypeError:  # a type of another library
        return False


def read_far(estimator: Foreign, X: Foreign, y: Foreign, real: bool) -> tuple[FarInputs, Array]:
    """Return inputs that stay where they are, and targets in memory; the estimator learns about the columns."""
    store, names = _opened(X)
    inputs = FarInputs(store, View(store.dtype))
    targets = _targets(y, real)
    if store.n != len(targets):
        raise ParameterError(f"X has {store.n} rows, y has {len(targets)}; give one target for each row")
    if not store.n:
        raise ParameterError("X has no rows")
    _check_finite(inputs, store, names)
    estimator.n_features_in_ = store.p
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return inputs, targets


def on_workers(machine: Machine, plan: Plan, workers: int | None) -> ClusterPlan:
    """Return what a fit takes on workers, one of which is timed if there are any."""
    X = machine.data.X
    from ..shards.cluster import ClusterStore

    if not isinstance(X, FarInputs) or not isinstance(X.store, ClusterStore):
        return cluster_plan(machine, plan, workers or 1)
    there, latency, bandwidth = X.store.calibrate(timed_product)
    with limited(1):
        here = timed_product()
    network = Network(latency, bandwidth)
    speed = here / there / max(_threads(), 1)
    return cluster_plan(machine, plan, workers or len(X.store.houses), speed, network)


def timed_product(*_: object) -> float:
    """Seconds of a product of matrices, and of exponentials: what most of a fit consists of."""
    A = np.linspace(0.0, 1.0, _TIMED * _TIMED, dtype=np.float32).reshape(_TIMED, _TIMED)
    return best_of_three(lambda: np.exp(-(A @ A)))


def _threads() -> int:
    with own_threads():
        return n_threads()


def _opened(X: Foreign) -> tuple[Store, Foreign]:
    """Return where inputs are, and the names of their columns if they have any."""
    if not is_dask(X):
        return Stored(X), getattr(X, "names", None)
    from ..shards.collections import on_cluster

    return on_cluster(X, _client.get())


def near(estimator: Foreign, X: Foreign) -> Array:
    """Return inputs to predict for, in memory."""
    values = np.asarray(X[:], dtype=np.float64)
    found: Array = check_array(values)
    if found.shape[1] != estimator.n_features_in_:
        raise ParameterError(f"X has {found.shape[1]} columns, the model was fitted to {estimator.n_features_in_}")
    return found


def _targets(y: Foreign, real: bool) -> Array:
    y = column_or_1d(np.asarray(y.compute() if is_dask(y) else y[:] if hasattr(y, "shape") else y))
    if real:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    elif y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ParameterError(f"row {int(np.argmin(np.isfinite(y)))} of y is not finite; drop such rows")
    elif y.dtype == object and any(v is None or v != v for v in y.tolist()):
        raise ParameterError("a target of y is missing; drop such rows")
    return y


def _check_finite(X: FarInputs, store: Store, names: Foreign) -> None:
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
