"""Cholesky factors that grow and change without being computed anew."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from .._types import Floats
from ..errors import NotPositiveDefinite

__all__ = ["append", "beyond_identity", "downdate", "inverse_lower", "row_solver", "solve_lower", "update"]

_PANEL = 128  # columns solved at once: enough for a fast product, few enough to waste little on the diagonal
_WIDE = 512  # columns of an inverse made at once


def solve_lower(L: Floats, B: Floats, transposed: bool = False) -> Floats:
    """Return L^-1 B, or L^-T B, of a lower factor that may be empty, which SciPy before 1.14 cannot solve by."""
    if not len(L):
        return np.zeros(np.shape(B))
    return np.asarray(solve_triangular(L, B, lower=True, trans="T" if transposed else "N"))


def append(L: Floats, cross: Floats, corner: Floats) -> Floats:
    r"""Factor of a matrix grown by a block of rows and columns.

    .. math:: \begin{pmatrix} A & C^T \\ C & D \end{pmatrix} = L' L'^T, \qquad
              L' = \begin{pmatrix} L & 0 \\ C L^{-T} & \mathrm{chol}(D - C A^{-1} C^T) \end{pmatrix}

    Parameters
    ----------
    L : array of shape (d, d)
        Lower factor of A.
    cross : array of shape (k, d)
        The new rows below A.
    corner : array of shape (k, k)
        The new diagonal block.
    """
    d, k = len(L), len(corner)
    below = solve_lower(L, cross.T).T
    try:
        new = np.linalg.cholesky(corner - below @ below.T)
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefinite(
            "the appended rows make the matrix singular or indefinite; "
            "drop duplicates among them or add a little to the diagonal"
        ) from error
    return np.block([[L, np.zeros((d, k))], [below, new]])


def beyond_identity(A: Floats) -> Floats:
    r"""Lower factor of :math:`I + A`."""
    try:
        return np.linalg.cholesky(np.eye(len(A)) + A)
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefinite(
            f"the kernel times the precision of what was observed reaches {np.max(np.abs(A), initial=0.0):.2g}, beside "
            "which nothing else counts; give a kernel of smaller variance, smaller weights, or scale the columns of X"
        ) from error


def update(L: Floats, x: Floats) -> Floats:
    r"""Factor of :math:`L L^T + x x^T`, by Givens rotations in O(d^2)."""
    return _rank_one(L, x, 1.0)


def downdate(L: Floats, x: Floats) -> Floats:
    r"""Factor of :math:`L L^T - x x^T`, by hyperbolic rotations in O(d^2)."""
    return _rank_one(L, x, -1.0)


def _rank_one(L: Floats, x: Floats, sign: float) -> Floats:
    L, x = np.array(L, dtype=np.float64), np.array(x, dtype=np.float64)
    for k in range(len(x)):
        square = L[k, k] ** 2 + sign * x[k] ** 2
        if square <= 0:
            raise NotPositiveDefinite(f"the revision leaves nothing of pivot {k}; take away a smaller multiple")
        root = np.sqrt(square)
        c, s = root / L[k, k], x[k] / L[k, k]
        L[k, k] = root
        L[k + 1 :, k] = (L[k + 1 :, k] + sign * s * x[k + 1 :]) / c
        x[k + 1 :] = c * x[k + 1 :] - s * L[k + 1 :, k]
    return L


def inverse_lower(L: Floats) -> Floats:
    r"""Inverse of a lower triangular matrix."""
    if np.any(np.diagonal(L) == 0.0):
        raise NotPositiveDefinite(f"the factor has a zero on its diagonal, at {int(np.argmin(np.abs(np.diagonal(L))))}")
    inverse = np.zeros(L.shape)
    for start in range(0, len(L), _PANEL):
        at = slice(start, min(start + _PANEL, len(L)))
        inverse[at, at] = _small_inverse(L[at, at])
        for left in range(0, start, _WIDE):  # columns of a lower triangle end where its rows do
            to = slice(left, min(left + _WIDE, start))
            inverse[at, to] = -inverse[at, at] @ (L[at, left:start] @ inverse[left:start, to])
    return inverse


def _small_inverse(L: Floats) -> Floats:
    inverse, _ = dtrtri(np.asarray(np.tril(L), dtype=np.float64), lower=1)
    return np.asarray(inverse)


def row_solver(L: Floats, dtype: str) -> Callable[[Floats], Floats]:
    r"""Return the function :math:`V \mapsto V L^{-T}` in the given precision: L is solved for every row, in place.

    A triangular solve made of matrix products, with inverses of the diagonal blocks only: it stays within NumPy's
    linear algebra, whose threads and SciPy's get in each other's way.
    """
    edges = [*range(0, len(L), _PANEL), len(L)]
    panels = [slice(a, b) for a, b in pairwise(edges)]
    inverses = [_small_inverse(L[at, at]).T.astype(dtype) for at in panels]
    left = [np.ascontiguousarray(L[at, : at.start].T, dtype=dtype) for at in panels]

    def solve(V: Floats) -> Floats:
        for at, before, inverse in zip(panels, left, inverses, strict=True):
            rest = V[:, at] - V[:, : at.start] @ before if at.start else V[:, at]
            V[:, at] = rest @ inverse
        return V

    return solve
