"""Inner products and distances between rows, for dense and for CSR matrices, as matrix products."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError

__all__ = [
    "as_dense",
    "column_products",
    "column_squares",
    "distances_to",
    "extreme",
    "inner",
    "scale_columns",
    "squared_norms",
]

_FEW_COLUMNS = 4
_MOSTLY_EMPTY = 4  # columns for each entry from which most of them are empty
_LARGE = 2**20  # numbers from which a copy is worth avoiding
_SMALLEST = 1e-20  # squared norm and squared factor whose products single precision holds with room to spare
_EXTREME = {"f": 1e15, "d": 1e150}  # numbers, by precision, from which squares of differences may overflow
_FAR = 100.0  # squared norm from which single precision would blur the distances among rows that are neighbours


def inner(X: Inputs, Z: Inputs) -> Floats:
    """X Z', always dense."""
    if sparse.issparse(X) and sparse.issparse(Z) and X.shape[1] > _MOSTLY_EMPTY * (X.nnz + Z.nnz + 1):
        X, Z = _occurring(X, Z)
    product = X @ Z.T
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def _occurring(X: Inputs, Z: Inputs) -> tuple[Inputs, Inputs]:
    """Both matrices without the columns that are empty in both: a transposed one takes memory for each of them."""
    columns, at = np.unique(np.concatenate([X.indices, Z.indices]), return_inverse=True)
    parts = (X, at[: len(X.indices)]), (Z, at[len(X.indices) :])
    return tuple(sparse.csr_array((M.data, i, M.indptr), shape=(M.shape[0], len(columns))) for M, i in parts)


def squared_norms(X: Inputs) -> Floats:
    """Squared length of every row, summed in double precision."""
    if sparse.issparse(X):
        whole = X if X.has_canonical_format else _summed(X)  # repeated entries add up before they are squared
        rows = np.repeat(np.arange(X.shape[0]), np.diff(whole.indptr))
        squares = np.square(whole.data, dtype=np.float64)
        return np.bincount(rows, weights=squares, minlength=X.shape[0]).astype(X.dtype)
    return np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(X.dtype)


def _summed(X: Inputs) -> Inputs:
    X = X.copy()
    X.sum_duplicates()
    return X


def scale_columns(X: Inputs, factor: float | Floats, name: str) -> Inputs:
    """X with its columns multiplied by ``factor``; ``name`` is the parameter to blame for a wrong length."""
    if np.ndim(factor) == 0:
        return X if factor == 1.0 else X * float(factor)
    check_columns(X, factor, name)
    factor = np.asarray(factor, dtype=X.dtype)
    return X.multiply(factor).tocsr() if sparse.issparse(X) else X * factor


def check_columns(X: Inputs, factor: float | Floats, name: str) -> None:
    """Check that a factor is one number, or has one for each column."""
    if np.ndim(factor) and np.size(factor) != X.shape[1]:
        raise ParameterError(
            f"{name} has {np.size(factor)} entries, but the inputs have {X.shape[1]} columns; "
            "give one for each column, or a single number"
        )


def as_dense(X: Inputs) -> Floats:
    """X as a float64 array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def distances_to(Z: Inputs, factor: float | Floats = 1.0, name: str = "factor") -> Callable[[Inputs], Floats]:
    """Squared distances to the rows of Z, all columns multiplied by ``factor`` first, as a function of X.

    By |x|^2 + |z|^2 - 2 x'z. Dense inputs are first moved to the mean of Z, since large offsets would cancel; but a
    large Z that lies around the origin is kept as it is, without a copy. With few columns the differences are squared
    and added directly, which cancels nothing. In single precision, distances among rows far out are computed in
    double. ``name`` is the parameter to blame for a factor of the wrong length. Where numbers are so large that squares
    overflow, the differences are taken before anything else, in double precision: equal rows are at distance zero,
    and what is too far for a number is infinitely far.
    """
    check_columns(Z, factor, name)
    if extreme(Z, factor):
        return lambda X: _carefully(X, Z, factor)
    usual = _usual_distances_to(Z, factor, name)
    return lambda X: _carefully(X, Z, factor) if extreme(X, factor) else usual(X)


def extreme(X: Inputs, factor: float | Floats) -> bool:
    """Whether a factor, or the product of both, may leave the range in which squares are numbers."""
    data, most = X.data if sparse.issparse(X) else X, _EXTREME[X.dtype.char]
    scale = float(np.max(np.abs(factor)))
    reach = max(float(np.max(data)), -float(np.min(data))) if data.size else 0.0
    return not (scale < most and reach < most and reach * scale < most)


def _carefully(X: Inputs, Z: Inputs, factor: float | Floats) -> Floats:
    """Squared distances by differences, which are multiplied before they are squared; infinite beyond all numbers."""
    dtype, X, Z = np.result_type(X.dtype, Z.dtype), as_dense(X), as_dense(Z)
    D = np.zeros((len(X), len(Z)))
    with np.errstate(over="ignore"):  # that is what far means
        for j, by in enumerate(np.broadcast_to(factor, X.shape[1])):
            difference = X[:, j, None] - Z[:, j]
            difference *= by
            difference *= difference
            D += difference
        return D.astype(dtype, copy=False)


def _usual_distances_to(Z: Inputs, factor: float | Floats, name: str) -> Callable[[Inputs], Floats]:
    large = isinstance(Z, np.ndarray) and Z.size > _LARGE and Z.shape[1] > _FEW_COLUMNS
    if large and _around_origin(Z, factor, name):
        by_products = _by_products(Z, factor)
        return lambda X: by_products(_plain(X))
    scaled = _scaled_distances_to(scale_columns(Z, factor, name))
    return lambda X: scaled(scale_columns(X, factor, name))


def _scaled_distances_to(Z: Inputs) -> Callable[[Inputs], Floats]:
    if sparse.issparse(Z):
        return _by_products(Z)
    if Z.shape[1] <= _FEW_COLUMNS:
        return lambda X: _directly(_plain(X), Z)
    centre = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype) if len(Z) else np.zeros(Z.shape[1], dtype=Z.dtype)
    centred = _by_products(Z - centre)
    return lambda X: centred(_plain(X) - centre)


def _around_origin(Z: Floats, factor: float | Floats, name: str) -> bool:
    """Whether moving Z to its mean would hardly shorten its rows, and no square leaves the range of the numbers."""
    square = float(np.einsum("ij,ij->", Z, Z, dtype=np.float64)) / max(len(Z), 1)
    weight = np.square(factor)
    moderate = _SMALLEST < square < 1.0 / _SMALLEST and np.all((weight > _SMALLEST) & (weight < 1.0 / _SMALLEST))
    if not moderate:
        return False
    mean = scale_columns(Z.mean(axis=0, dtype=np.float64)[None], factor, name)
    return bool(np.vdot(mean, mean) <= 0.5 * np.mean(_weighted_norms(Z, factor), dtype=np.float64))


def _weighted_norms(X: Inputs, factor: float | Floats) -> Floats:
    """Squared length of every row with its columns multiplied by ``factor``."""
    if np.ndim(factor) == 0:
        norms = squared_norms(X)
        norms *= float(factor) ** 2
        return norms
    return squared_norms(scale_columns(X, factor, "factor"))


def _by_products(Z: Inputs, factor: float | Floats = 1.0) -> Callable[[Inputs], Floats]:
    common = float(factor) ** 2 if np.ndim(factor) == 0 else 1.0
    weight = None if np.ndim(factor) == 0 else np.square(factor)
    zz = _weighted_norms(Z, factor)
    far = np.flatnonzero(zz > _FAR) if zz.dtype == np.float32 else np.empty(0, dtype=np.intp)

    def products(X: Inputs, Z: Inputs) -> Floats:
        return inner(X if weight is None else scale_columns(X, weight, "factor"), Z)

    def to(X: Inputs) -> Floats:
        xx = _weighted_norms(X, factor)
        D = _combine(products(X, Z), xx, zz, common)
        too = np.flatnonzero(xx > _FAR) if far.size else far
        if too.size:
            A, B = X[too].astype(np.float64), Z[far].astype(np.float64)
            D[np.ix_(too, far)] = _combine(
                products(A, B), _weighted_norms(A, factor), _weighted_norms(B, factor), common
            )
        return D

    return to


def _plain(X: Inputs) -> Floats:
    return X.toarray() if sparse.issparse(X) else X


def _combine(D: Floats, xx: Floats, zz: Floats, common: float) -> Floats:
    D *= -2.0 * common
    D += xx[:, None]
    D += zz
    return np.maximum(D, 0.0, out=D)


def _directly(X: Floats, Z: Floats) -> Floats:
    D = np.zeros((len(X), len(Z)), dtype=np.result_type(X, Z))
    for j in range(Z.shape[1]):
        difference = X[:, j, None] - Z[:, j]
        difference *= difference
        D += difference
    return D


def column_products(X: Inputs, Z: Inputs, W: Floats) -> Floats:
    """sum_ik W_ik x_ij z_kj for every column j."""
    if sparse.issparse(X):
        return np.asarray(X.multiply((Z.T @ W.T).T).sum(axis=0), dtype=np.float64).ravel()
    return np.einsum("ij,ij->j", X, W @ Z)


def column_squares(X: Inputs, w: Floats) -> Floats:
    """sum_i w_i x_ij^2 for every column j."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.T @ w).ravel()
