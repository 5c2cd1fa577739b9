"""Which rows are equal: numbers that tell them apart, for any number of rows."""

import numpy as np
from scipy import sparse

from .._types import Array, Inputs, Rows
from ..runtime import at_once
from ..shards import FarInputs

__all__ = ["first_equal", "row_keys"]

_BLOCK = 1 << 20  # numbers at a time
_BYTES = 48  # for each of them: steps of the mixing, of 64 bits each
_FIRST = 8  # columns that tell most rows apart; if they do not, four times as many are looked at
_ODD, _MORE, _SEED = (np.uint64(v) for v in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def row_keys(X: Inputs, whole: bool = True) -> Array:
    """Return a number of 64 bits for each row, which depends on nothing but its values.

    Every value is mixed with the number of its column and the results are added, zeros as nothing: so a matrix has the
    same keys whether it is sparse or not, and in any precision that holds its values. Different rows have the same
    key with a chance of 2^-64 for each pair; ``first_equal`` looks.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
    whole : bool
        False looks at no more columns than are needed to tell all rows apart.
    """
    if isinstance(X, FarInputs):
        keys = np.empty(len(X), dtype=np.uint64)
        for at, found in X.map(_dense_keys, True):
            keys[at] = found
        return keys
    return _sparse_keys(X) if sparse.issparse(X) else _dense_keys(X, whole)


def _dense_keys(X: Array, whole: bool) -> Array:
    n, p = X.shape
    keys, done = np.zeros(n, dtype=np.uint64), 0
    while done < p:
        more = p if whole else min(p, max(_FIRST, 4 * done))
        step = max(1, at_once(_BLOCK, _BYTES) // (more - done))
        salt = _salt(np.arange(done, more))
        for start in range(0, n, step):
            keys[start : start + step] += _values(X[start : start + step, done:more], salt).sum(axis=1, dtype=np.uint64)
        done = more
        if done < p and len(np.unique(keys)) == n:
            break
    return keys


def _sparse_keys(X: Inputs) -> Array:
    X = X.copy()
    X.sum_duplicates()
    total = np.zeros(X.nnz + 1, dtype=np.uint64)
    np.cumsum(_values(X.data, _salt(X.indices)), out=total[1:])
    keys: Array = total[X.indptr[1:]] - total[X.indptr[:-1]]
    return keys


def _salt(columns: Rows) -> Array:
    return _mixed((columns.astype(np.uint64) + np.uint64(1)) * _SEED)


def _values(values: Array, salt: Array) -> Array:
    """Mix values in double precision, without the sign of zeros, with their columns."""
    doubles = np.ascontiguousarray(values, dtype=np.float64)
    return np.where(doubles == 0.0, np.uint64(0), _mixed(doubles.view(np.uint64) ^ salt))


def _mixed(bits: Array) -> Array:
    """The finaliser of splitmix64: every bit of the result depends on every bit given."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MORE
    bits = (bits ^ (bits >> np.uint64(27))) * _ODD
    return bits ^ (bits >> np.uint64(31))


def first_equal(X: Inputs, keys: Array) -> Rows:
    """Return for each row the first row that is equal to it: itself where there is no other."""
    found = _first_with_key(keys)
    again = np.flatnonzero(found != np.arange(len(found)))
    step = max(1, at_once(_BLOCK, _BYTES) // max(X.shape[1], 1))
    for start in range(0, len(again), step):
        at = again[start : start + step]
        differ = X[at] != X[found[at]]
        wrong = np.asarray(differ.sum(axis=1)).ravel() > 0
        found[at[wrong]] = at[wrong]  # two rows that share a key by chance are not taken together
    return found


def _first_with_key(keys: Array) -> Rows:
    """Return for each row the first one with the same key; where all differ that takes no more than a sorted copy."""
    found = np.arange(len(keys))
    ordered = np.sort(keys)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if twice.size:
        at = np.flatnonzero(np.isin(keys, twice, kind="sort"))
        first, index = np.unique(keys[at], return_index=True, return_inverse=True)[1:]
        found[at] = at[first[index]]
    return found
