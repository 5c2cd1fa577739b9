"""Cholesky factors, and what is solved by them."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from .._types import Floats
from ..errors import NotPositiveDefinite

__all__ = [
    "ROUNDING",
    "Factor",
    "RowSolver",
    "beyond_identity",
    "factorise",
    "inverse_lower",
    "row_solver",
    "solve_lower",
]

_PANEL = 128  # columns solved at once: enough for a fast product, few enough to waste little on the diagonal
ROUNDING = (0.0, 1e-14, 1e-10, 1e-6)  # shares for sites far sharper than the prior, in products of single precision
_WIDE = 512  # columns of an inverse made at once


def solve_lower(L: Floats, B: Floats, transposed: bool = False) -> Floats:
    """Return L^-1 B, or L^-T B, of a lower factor that may be empty, which SciPy before 1.14 cannot solve by."""
    if not len(L):
        return np.zeros(np.shape(B))
    return np.asarray(solve_triangular(L, B, lower=True, trans="T" if transposed else "N"))


class Factor(NamedTuple):
    """Lower Cholesky factor, and the share that was added to the diagonal for there to be one."""

    L: Floats
    share: float


def factorise(
    A: Floats,
    message: str,
    shares: Sequence[float] = (0.0,),
    by: float | None = None,
    good: Callable[[Floats], bool] | None = None,
) -> Factor:
    """Lower factor of a matrix, or of a stack of them, its diagonal raised by the first share with which there is one.

    Parameters
    ----------
    A : array of shape (..., d, d)
    message : str
        Of the NotPositiveDefinite that is raised where no share is enough.
    shares : sequence of float
        What is tried, ascending.
    by : float, optional
        What they are shares of; if None of each entry of the diagonal itself.
    good : callable, optional
        Whether a factor is far enough from that of a singular matrix.
    """
    at = np.arange(A.shape[-1])
    diagonal = A[..., at, at]
    for share in shares:
        if share:
            A = A.copy()
            A[..., at, at] = diagonal * (1.0 + share) if by is None else diagonal + share * by
        try:
            L = np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            continue
        if good is None or good(L):
            return Factor(L, share)
    raise NotPositiveDefinite(message)


def beyond_identity(A: Floats) -> Floats:
    r"""Lower factor of :math:`I + A`."""
    message = (
        f"the kernel times the precision of what was observed reaches {np.max(np.abs(A), initial=0.0):.2g}, beside "
        "which nothing else counts; give a kernel of smaller variance, smaller weights, or scale the columns of X"
    )
    return factorise(np.eye(len(A)) + A, message).L


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


RowSolver: TypeAlias = Callable[[Floats], Floats]
"""Solves a triangular system for every row, in place."""


def row_solver(L: Floats, dtype: str) -> RowSolver:
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
