"""Inclusions among a pool of candidates: what each of them does to the others."""

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..runtime import for_each, parts
from ..shards import Inclusions, Stubs

__all__ = ["PoolStubs", "covariance", "stack"]


class PoolStubs:
    r"""Candidates as functions with one kernel and one active set see them, while rows among them are included.

    An inclusion of row i with a site of precision :math:`\pi` and shifts :math:`b_f` for every function f adds a row
    :math:`\mu` to the stubs and moves all marginals (SLH C.1; GR06 5.1 to 5.4),

    .. math:: l = \sqrt{1 + \pi a_i}, \qquad \mu = \frac{\sqrt\pi}{l} (A_{i,\cdot} - R_{\cdot,i}^T R), \qquad
              \beta_f = \frac{b_f - \pi h_{if}}{\sqrt\pi \, l}, \qquad h_f \leftarrow h_f + \beta_f \mu, \qquad
              a \leftarrow a - \mu^2,

    where A is the posterior covariance of the pool when it began and R the rows added since.

    Parameters
    ----------
    covariance : function of i
        The row A_i, shape (k,).
    stubs : array of shape (t, k)
        Columns of M of the candidates when the pool began.
    mean : array of shape (k,) or (k, F)
        Changed in place, as is ``var``.
    var : array of shape (k,)
    size : int
        Inclusions to make room for.
    """

    def __init__(
        self, covariance: Callable[[int], Floats], stubs: Floats, mean: Floats, var: Floats, size: int
    ) -> None:
        self.covariance, self.stubs, self.mean, self.var = covariance, stubs, mean, var
        self.R, self.root = np.empty((size, len(var))), np.empty(size)
        self.left, self.corner = np.empty((size, len(stubs))), np.zeros((size, size))
        self.beta = np.empty((size, *mean.shape[1:]))
        self.order: list[int] = []

    @classmethod
    def among(cls, whole: Stubs, at: Rows, mean: Floats, var: Floats, size: int) -> Self:
        """Return some of the rows with their stubs, by their positions; mean and var are theirs."""
        stubs = np.asarray(whole.gather(at), dtype=np.float64)
        A = covariance(whole.kernel, whole.X[at], stubs) if len(at) > 1 else var[:, None]
        return cls(A.__getitem__, stubs, mean, var, size)

    def include(self, i: int, precision: float, shift: Floats | float) -> None:
        """Include a candidate with its site."""
        q, R, root = len(self.order), self.R, np.sqrt(precision)
        length = np.sqrt(1.0 + precision * self.var[i])
        R[q] = (root / length) * (self.covariance(i) - R[:q, i] @ R[:q])
        self.beta[q] = (shift - precision * self.mean[i]) / (root * length)
        self.left[q], self.root[q] = root * self.stubs[:, i], root
        self.corner[q, :q], self.corner[q, q] = root * R[:q, i], length
        self.mean += np.multiply.outer(R[q], self.beta[q])
        np.maximum(self.var - R[q] ** 2, 0.0, out=self.var)
        self.order.append(i)

    def block(self, rows: Rows, X: Inputs) -> Inclusions:
        """Return what was included, as every shard must hear of it; rows and inputs are those of the candidates."""
        q, at = len(self.order), np.array(self.order, dtype=np.intp)
        return Inclusions(rows[at], X[at], self.root[:q], self.left[:q], self.corner[:q, :q], self.beta[:q])


def covariance(kernel: Kernel, X: Inputs, stubs: Floats) -> Floats:
    """Posterior covariance of some rows, K - M' M."""
    A = np.array(kernel(X), dtype=np.float64)

    def subtract(part: slice) -> None:
        A[part] -= stubs[:, part].T @ stubs

    for_each(subtract, parts(len(A), max(64, -(-len(A) // 4))))
    return A


def stack(parts: Sequence[Inputs]) -> Inputs:
    """Return the inputs of several shards, one below the other."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
