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
    "inner",
    "scale_columns",
    "squared_norms",
]

_FEW_COLUMNS = 4
_FAR = 100.0  # squared norm from which single precision would blur the distances among rows that are neighbours


def inner(X: Inputs, Z: Inputs) -> Floats:
    """X Z', always dense."""
    product = X @ Z.T
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def squared_norms(X: Inputs) -> Floats:
    """Squared length of every row, summed in double precision."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel().astype(X.dtype)
    return np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(X.dtype)


def scale_columns(X: Inputs, factor: float | Floats, name: str) -> Inputs:
    """X with its columns multiplied by ``factor``; ``name`` is the parameter to blame for a wrong length."""
    if np.ndim(factor) == 0:
        return X if factor == 1.0 else X * float(factor)
    if np.size(factor) != X.shape[1]:
        raise ParameterError(
            f"{name} has {np.size(factor)} entries, but the inputs have {X.shape[1]} columns; "
            "give one for each column, or a single number"
        )
    factor = np.asarray(factor, dtype=X.dtype)
    return X.multiply(factor).tocsr() if sparse.issparse(X) else X * factor


def as_dense(X: Inputs) -> Floats:
    """X as a float64 array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def distances_to(Z: Inputs) -> Callable[[Inputs], Floats]:
    """Squared distances to the rows of Z, as a function of X.

    By |x|^2 + |z|^2 - 2 x'z. Dense inputs are first moved to the mean of Z, since large offsets would
    cancel; with few columns the differences are squared and added directly, which cancels nothing.
    In single precision, distances among rows far out are computed in double.
    """
    if sparse.issparse(Z):
        return _by_products(Z)
    if Z.shape[1] <= _FEW_COLUMNS:
        return lambda X: _directly(_plain(X), Z)
    centre = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
    centred = _by_products(Z - centre)
    return lambda X: centred(_plain(X) - centre)


def _by_products(Z: Inputs) -> Callable[[Inputs], Floats]:
    zz = squared_norms(Z)
    far = np.flatnonzero(zz > _FAR) if zz.dtype == np.float32 else np.empty(0, dtype=np.intp)

    def to(X: Inputs) -> Floats:
        xx = squared_norms(X)
        D = _combine(inner(X, Z), xx, zz)
        too = np.flatnonzero(xx > _FAR) if far.size else far
        if too.size:
            A, B = X[too].astype(np.float64), Z[far].astype(np.float64)
            D[np.ix_(too, far)] = _combine(inner(A, B), squared_norms(A), squared_norms(B))
        return D

    return to


def _plain(X: Inputs) -> Floats:
    return X.toarray() if sparse.issparse(X) else X


def _combine(D: Floats, xx: Floats, zz: Floats) -> Floats:
    D *= -2.0
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
