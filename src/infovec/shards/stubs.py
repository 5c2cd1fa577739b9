"""All rows as several functions with one kernel and one active set see them."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..runtime import parts
from .local import absorbed_at_once
from .messages import Inclusions

__all__ = ["Stubs"]


class Stubs:
    r"""Stubs and marginals of all rows for functions whose sites have the same precisions (SLH C.1, GR06 5.1-5.4).

    .. math:: M = L^{-1} \Pi_I^{1/2} K_{I,\cdot}, \qquad h_c = M^T \beta_c, \qquad
              a = \mathrm{diag}(K) - \mathrm{diag}(M^T M)

    Parameters
    ----------
    X : inputs of all rows, in the precision of the stubs
    kernel : Kernel
    n_functions : int
    capacity : int
        How many inclusions to make room for; more room is made when they do not suffice.
    """

    def __init__(self, X: Inputs, kernel: Kernel, n_functions: int, capacity: int, dtype: str) -> None:
        n = X.shape[0]
        self.X, self.kernel, self.dtype, self.size = X, kernel, np.dtype(dtype), 0
        self.prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        self.mean, self.var = np.zeros((n, n_functions)), self.prior_var.copy()
        self._M = np.empty((capacity, n), dtype=self.dtype)
        chunks = parts(n, max(absorbed_at_once(n, self.dtype.itemsize), 1))
        self._blocks = [(chunk, kernel.on(X[chunk])) for chunk in chunks]

    @property
    def M(self) -> Floats:
        """The stub matrix, (number of inclusions, number of rows)."""
        return self._M[: self.size]

    @property
    def min_var(self) -> Floats:
        """Variances below which they are rounding."""
        return (1e-5 if self.dtype == np.float32 else 1e-13) * self.prior_var

    def covariance(self, rows: Rows) -> Floats:
        """Posterior covariance of some rows, K - M' M."""
        M = self.M[:, rows]
        return np.asarray(self.kernel(self.X[rows]) - M.T @ M, dtype=np.float64)

    def absorb(self, block: Inclusions) -> None:
        r"""Append the stubs of a block and update all marginals; ``block.beta`` has one column for each function.

        .. math:: M_B = L_{BB}^{-1} (\Pi_B^{1/2} K_{B,\cdot} - L_{BI} M_I)
        """
        t, end = self.size, self.size + len(block.rows)
        if end > len(self._M):
            larger = np.empty((max(end, t + t // 4), self._M.shape[1]), dtype=self.dtype)
            larger[:t] = self.M
            self._M = larger
        inverse = np.linalg.inv(block.L_corner)
        both = np.hstack([-inverse @ block.L_left, inverse * block.root_precision]).astype(self.dtype)
        order = np.argsort(block.rows)
        for chunk, kernel in self._blocks:
            K = self._M[t:end, chunk]
            K[:] = kernel(block.X)
            here = order[(block.rows[order] >= chunk.start) & (block.rows[order] < chunk.stop)]
            K[here, block.rows[here] - chunk.start] = self.prior_var[block.rows[here]]  # white noise counts
            new = both @ self._M[:end, chunk]
            K[:] = new
            self.mean[chunk] += new.T @ block.beta.astype(self.dtype)
            self.var[chunk] -= np.einsum("ij,ij->j", new, new)
        np.maximum(self.var, 0.0, out=self.var)
        self.size = end
