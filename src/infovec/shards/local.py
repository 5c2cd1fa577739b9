"""A shard of the training set in this process's memory."""

from collections.abc import Mapping

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import NotPositiveDefinite
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..scores import Score
from .eligibility import selection_keys
from .messages import Candidates, Inclusions

__all__ = ["LocalShard"]

# per precision of the stubs: share of the prior variance that is rounding, and that betrays an indefinite kernel
_ROUNDING: Mapping[str, float] = {"float32": 1e-5, "float64": 1e-13}
_INDEFINITE: Mapping[str, float] = {"float32": 1e-2, "float64": 1e-6}


class LocalShard:
    r"""Some rows of the training set with their stubs and marginals.

    .. math:: M = L^{-1} \Pi_I^{1/2} K_{I,\cdot}, \qquad h = M^T \beta, \qquad
              a = \mathrm{diag}(K) - \mathrm{diag}(M^T M)

    Parameters
    ----------
    rows : array of int
        Numbers of these rows in the training set, ascending.
    X, y : inputs and targets of these rows
        X in the precision of the stubs.
    priority : array of float in [0, 1)
        Breaks ties between rows of equal score.
    capacity : int
        How many inclusions to make room for.
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        y: Floats,
        priority: Floats,
        kernel: Kernel,
        likelihood: Likelihood,
        score: Score,
        capacity: int,
        dtype: str,
    ) -> None:
        self.rows, self.X, self.y = rows, X, y
        self.priority, self.score = priority, score
        self.likelihood = likelihood.take(rows)
        self.block = kernel.on(X)
        self.prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
        self.mean = np.zeros(len(y))
        self.var = self.prior_var.copy()
        self.taken = np.zeros(len(y), dtype=bool)
        self.size = 0
        self.dtype = np.dtype(dtype)
        self._M = np.empty((capacity, len(y)), dtype=self.dtype)
        self._check_definite()

    @property
    def M(self) -> Floats:
        """The stub matrix, (number of included rows, number of rows here)."""
        return self._M[: self.size]

    @property
    def min_var(self) -> float:
        """Share of the prior variance below which a variance is rounding."""
        return _ROUNDING[self.dtype.name]

    def keys(self) -> Floats:
        """Selection key of every row here."""
        return selection_keys(
            self.score, self.likelihood, self.y, self.mean, self.var, self.prior_var, self.taken, self.priority,
            self.min_var,
        )  # fmt: skip

    def candidates(self, k: int) -> Candidates:
        """Return the k best rows that may be included, best first."""
        key = self.keys()
        k = min(k, len(key))
        at = np.argpartition(-key, k - 1)[:k] if k > 1 else np.array([np.argmax(key)])
        at = at[np.isfinite(key[at])]
        return self._offer(at[np.argsort(-key[at])], key)

    def these(self, rows: Rows) -> Candidates:
        """Return those of the given rows that are here, in the given order."""
        at = np.searchsorted(self.rows, rows)
        at = at[(at < len(self.rows)) & (self.rows[np.minimum(at, len(self.rows) - 1)] == rows)]
        return self._offer(at, self.keys())

    def _offer(self, at: Rows, key: Floats) -> Candidates:
        stubs = np.asarray(self.M[:, at], dtype=np.float64)
        return Candidates(
            self.rows[at],
            self.X[at],
            self.y[at],
            stubs,
            self.mean[at],
            self.var[at],
            self.prior_var[at],
            key[at],
        )

    def absorb(self, block: Inclusions) -> None:
        r"""Append the stubs of newly included rows and update all marginals (NIPS03 eq. 3, for a block).

        .. math:: M_B = L_{BB}^{-1} (\Pi_B^{1/2} K_{B,\cdot} - L_{BI} M_I)
        """
        t, size = self.size, len(block.rows)
        K = self.block(block.X)
        here = np.flatnonzero(np.isin(self.rows, block.rows))
        which = np.argsort(block.rows)[np.searchsorted(np.sort(block.rows), self.rows[here])]
        K[which, here] = self.prior_var[here]  # a row with itself: white noise counts
        K = np.asarray(K, dtype=self.dtype)
        K *= block.root_precision.astype(self.dtype)[:, None]
        if t:
            K -= block.L_left.astype(self.dtype) @ self.M
        if size == 1:
            new = np.divide(K, self.dtype.type(block.L_corner[0, 0]), out=self._M[t : t + 1])
        else:
            inverse = np.linalg.inv(block.L_corner).astype(self.dtype)
            new = np.matmul(inverse, K, out=self._M[t : t + size])
        self.size = t + size
        self.mean += block.beta.astype(self.dtype) @ new
        self.var -= np.einsum("ij,ij->j", new, new)
        self.taken[here] = True
        self._check_definite()

    def _check_definite(self) -> None:
        negative = self.var < -_INDEFINITE[self.dtype.name] * np.abs(self.prior_var)
        if negative.any() or not np.all(np.isfinite(self.var)):
            at = int(np.argmin(np.where(np.isfinite(self.var), self.var, -np.inf)))
            raise NotPositiveDefinite(
                f"the kernel is not positive definite: after {self.size} inclusions row {self.rows[at]} has "
                f"variance {self.var[at]:.3g}. Check the kernel function or matrix on the rows included so far "
                "and this one, add White(...) to it, or use dtype='float64' if it is nearly singular"
            )
        np.maximum(self.var, 0.0, out=self.var)

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over the rows here that are not included."""
        out = np.flatnonzero(~self.taken)
        if not out.size:
            return 0.0
        var = np.maximum(self.var[out], self.min_var * self.prior_var[out])
        return float(np.sum(self.likelihood.take(out).tilted(self.y[out], self.mean[out], var).log_z))
