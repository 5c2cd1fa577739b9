"""Dask collections as inputs: read where their chunks are, with what cannot be read named by chunk and row."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np
from scipy import sparse

from .._types import Array, Message
from ..errors import ClusterError, ParameterError
from .cluster import ClusterStore

__all__ = ["on_cluster"]

_ROOM = 0.6  # of the memory of a worker, for a chunk and what is made of it


def on_cluster(X: Message, client: Message = None) -> tuple[ClusterStore, Message]:
    """Return a Dask array or dataframe as a store on the workers of a client, and the names of its columns."""
    try:
        from dask.delayed import delayed
        from distributed import get_client
    except ImportError as error:
        raise ParameterError(
            "Dask collections need dask and distributed: pip install 'infovec[distributed]'"
        ) from error
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ParameterError(
                "there is no Dask client: make one first, client = dask.distributed.Client(...), or give the data as "
                "arrays with X.compute()"
            ) from error
    _check_package(client)
    names = list(X.columns) if hasattr(X, "columns") else None
    p = len(names) if names is not None else int(X.shape[1])
    _check_room(client, X, p)
    chunks = X.to_delayed() if names is not None else X.rechunk({1: -1}).to_delayed().ravel()
    convert = delayed(as_array, pure=True)
    futures = _where_they_are(client, X, chunks, [convert(chunk, k, names) for k, chunk in enumerate(chunks)])
    described = client.gather(client.map(_described, futures, pure=False))
    kept = [(future, n) for future, (n, _) in zip(futures, described, strict=True) if n]
    single = all(dtype == "float32" for _, dtype in described)
    if not kept:
        raise ParameterError("X has no rows")
    store = ClusterStore(
        client, [future for future, _ in kept], [n for _, n in kept], p, "float32" if single else "float64"
    )
    return store, names


def _where_they_are(client: Message, X: Message, chunks: Sequence[Message], asked: Sequence[Message]) -> list[Message]:
    """Compute something of each chunk, on a worker that has it if there is one already."""
    distributed: Message = import_module("distributed")
    known = distributed.futures_of(X)
    holders = client.who_has(list(distributed.wait(known).done)) if known else {}
    held = {key[1:]: tuple(sorted(workers)) for key, workers in holders.items() if workers}
    together: dict[tuple[str, ...], list[int]] = {}
    for number, chunk in enumerate(chunks):
        together.setdefault(held.get(chunk.key[1:], ()), []).append(number)
    found = [None] * len(asked)
    for workers, numbers in together.items():
        there = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        for number, future in zip(numbers, client.compute([asked[k] for k in numbers], **there), strict=True):
            found[number] = future
    return found


def as_array(chunk: Message, number: int, names: Sequence[Message] | None) -> Array:
    """Return a chunk as numbers, on the worker that has it."""
    if hasattr(chunk, "to_numpy"):
        if list(chunk.columns) != list(names or ()):
            raise ParameterError(
                f"chunk {number} of X has the columns {list(chunk.columns)}, others {list(names or ())}"
            )
        columns = []
        for name in chunk.columns:
            try:
                columns.append(np.asarray(chunk[name].astype("float64")))
            except (TypeError, ValueError) as error:
                raise ParameterError(
                    f"chunk {number} of X, column {name!r}: text where numbers belong ({error}). Columns must have the "
                    "same type in all chunks; encode words first, for example with dask_ml.preprocessing"
                ) from error
        return np.column_stack(columns) if columns else np.empty((len(chunk), 0))
    try:
        values = np.ascontiguousarray(chunk.toarray() if sparse.issparse(chunk) else chunk)
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"chunk {number} of X has text where numbers belong: {error}") from error


def _described(X: Array) -> tuple[int, str]:
    return len(X), X.dtype.name


def _check_package(client: Message) -> None:
    there = client.run(eval, "__import__('importlib.util').util.find_spec('infovec') is not None")
    without = [worker for worker, has in there.items() if has is not True]
    if without:
        raise ClusterError(f"infovec is not installed on {', '.join(without)}: pip install infovec there")
    if not there:
        raise ClusterError("the cluster has no workers; start some")


def _check_room(client: Message, X: Message, p: int) -> None:
    """Refuse chunks that do not fit into a worker, as far as their sizes are known before they are made."""
    chunks = getattr(X, "chunks", None)
    limits = [w["memory_limit"] for w in client.scheduler_info(n_workers=-1)["workers"].values() if w["memory_limit"]]
    if chunks is None or not limits or any(n != n for n in chunks[0]):
        return
    most, least = max(chunks[0]) * p * 8, min(limits)
    if most > _ROOM * least:
        raise ClusterError(
            f"a chunk of X has {max(chunks[0])} rows, {most / 1e6:.0f} MB, which does not fit into a worker of "
            f"{least / 1e6:.0f} MB: rechunk X into smaller chunks, for example X.rechunk((10000, -1))"
        )
