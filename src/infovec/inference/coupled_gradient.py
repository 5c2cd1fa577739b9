"""Exact gradient of the evidence of the coupled projected posterior, for a given active set."""

from collections.abc import Sequence
from threading import Lock

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import inverse_lower
from ..runtime import for_each, own_threads
from ..shards import Basis, CoupledShard, solvers
from .ep import Inference
from .gradient import Gradient, through_active, through_rows

__all__ = ["coupled_gradient"]


def coupled_gradient(
    shards: Sequence[CoupledShard], basis: Basis, kernel: Kernel, likelihood: ClassLikelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence at its fixed point, where the sites count as constants.

    Each class adds what its function would alone; through the blur all of them see the same l^2. With m_c and S_c the
    posterior mean and covariance of v in class c, and :math:`w_i = \tfrac12 \sum_c (g_{ic}^2 - \nu_{ic})`, times the
    copies of the row,

    .. math:: G_V = \sum_c \bigl(m_c (b_c - \Pi_c \mu_c)^T - S_c V \Pi_c\bigr) - 2 V \mathrm{diag}(w), \qquad
              G_{K_I} = -\tfrac12 L^{-T} \bigl(\sum_c (m_c m_c^T + S_c - I) - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}.
    """
    total = _Sum(kernel, likelihood, basis, found)
    with own_threads():
        for shard in shards:
            total.add(shard)
        return total.finish()


class _Sum:
    def __init__(self, kernel: Kernel, likelihood: ClassLikelihood, basis: Basis, found: Inference) -> None:
        self.kernel, self.likelihood, self.basis, self.Q, self.lock = kernel, likelihood, basis, found.beliefs.Q, Lock()
        halves = [inverse_lower(Q) for Q in self.Q]
        self.S = np.stack([half.T @ half for half in halves])
        self.mean = np.stack([half.T @ beta for half, beta in zip(halves, found.beliefs.beta, strict=True)])
        self.inverse = inverse_lower(basis.L)
        self.by_kernel, self.by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
        self.VwV = np.zeros_like(self.inverse)
        self.X = kernel.in_double(basis.X)

    def add(self, shard: CoupledShard) -> None:
        solve, S, inverse = solvers(self.Q, shard.dtype), self.S.astype(shard.dtype), self.inverse.astype(shard.dtype)

        def visit(chunk: slice) -> None:
            at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
            cavity = shard.cavity(at, V, self.mean, solve, np.empty(V.shape, dtype=shard.dtype))
            tilted, _ = shard.tilted(at, cavity)
            k = shard.copies[at]
            w = 0.5 * k * (tilted.g**2 - tilted.nu).sum(axis=1) if shard.blur else np.zeros(len(at))
            pull = shard.b[at] - shard.precision[at] * cavity.mean
            G = _by_features(V, pull @ self.mean, shard.precision[at], S, w)
            by_kernel = through_rows(shard, chunk, self.kernel, self.X, G @ inverse, w)
            VwV = (V * w.astype(shard.dtype)[:, None]).T @ V
            with self.lock:
                self.by_likelihood += self.likelihood.d_log_z(tilted) @ k
                self.by_kernel += by_kernel
                self.VwV += VwV

        for_each(visit, shard.chunks)

    def finish(self) -> Gradient:
        A = self.mean.T @ self.mean + self.S.sum(axis=0) - len(self.S) * np.eye(len(self.VwV)) - 2.0 * self.VwV
        by_active = through_active(self.basis, self.kernel, self.X, self.inverse, A)
        return Gradient(self.by_kernel + by_active, self.by_likelihood)


def _by_features(V: Floats, pull: Floats, precision: Floats, S: Floats, w: Floats) -> Floats:
    """Adjoint of V, transposed, in the precision of V."""
    G = pull.astype(V.dtype) - (2.0 * w).astype(V.dtype)[:, None] * V
    pi = precision.astype(V.dtype)
    for c, S_c in enumerate(S):
        some = np.flatnonzero(pi[:, c] > 1e-9 * pi[:, c].max(initial=0.0))
        G[some] -= pi[some, c, None] * (V[some] @ S_c)
    return G
