"""Exact gradient of the evidence of the projected posterior, for a given active set."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..numerics.cholesky import inverse_lower, row_solver
from ..shards import Basis, Beliefs, ProjectedShard, Projections
from .ep import Inference

__all__ = ["Gradient", "evidence_gradient", "through_active", "through_rows"]


class Gradient(NamedTuple):
    """Gradients in theta of the kernel and of the likelihood."""

    kernel: Floats
    likelihood: Floats


def evidence_gradient(
    shards: Sequence[ProjectedShard], basis: Basis, kernel: Kernel, likelihood: Likelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence at its fixed point, where the sites count as constants.

    With m and S the posterior mean and covariance of v, :math:`w_i = \tfrac12 (g_i^2 - \nu_i)` the derivative of log
    Z_i in its variance, and l^2 = diag K - diag V^T V (w = 0 without blur),

    .. math:: G_V = m (b - \Pi \mu)^T - S V \Pi - 2 V \mathrm{diag}(w), \qquad G_{K_{I,\cdot}} = L^{-T} G_V,
    .. math:: G_{K_I} = -\tfrac12 L^{-T} \bigl(m m^T + S - I - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}, \qquad
              G_{k_{ii}} = w_i.

    The time is O(n d^2 + n d p), the memory that of a chunk of rows.
    """
    total = _Sum(kernel, likelihood, basis, found.beliefs)
    for shard in shards:
        total.add(shard)
    return total.finish()


class _Sum:
    def __init__(self, kernel: Kernel, likelihood: Likelihood, basis: Basis, beliefs: Beliefs) -> None:
        self.kernel, self.basis, self.beliefs = kernel, basis, beliefs
        half = inverse_lower(beliefs.Q)
        self.S, self.mean = half.T @ half, half.T @ beliefs.beta
        self.by_kernel, self.by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
        self.VwV = np.zeros_like(self.S)
        self.X = basis.X.astype(np.float64) if kernel.numeric else basis.X

    def add(self, shard: ProjectedShard) -> None:
        solve, inverse = row_solver(self.beliefs.Q, shard.dtype), inverse_lower(self.basis.L)
        for chunk in shard.chunks:
            at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
            cavity = shard.cavity(at, solve(V.copy()), self.beliefs.beta)
            tilted, _ = shard.tilted(at, cavity)
            likelihood, y = shard.likelihood.take(at), shard.y[at]
            var = cavity.cavity_var + shard.blur_var[at]
            self.by_likelihood += likelihood.d_log_z(y, cavity.cavity_mean, var).sum(axis=1)
            w = 0.5 * (tilted.g**2 - tilted.nu) if shard.blur else np.zeros(len(y))
            pi, V = shard.precision[at], V.astype(np.float64, copy=False)
            G = np.outer(shard.b[at] - pi * cavity.mean, self.mean) - pi[:, None] * (V @ self.S) - 2.0 * w[:, None] * V
            self.by_kernel += through_rows(shard, chunk, self.kernel, self.X, G @ inverse, w)
            self.VwV += (V * w[:, None]).T @ V

    def finish(self) -> Gradient:
        A = np.outer(self.mean, self.mean) + self.S - np.eye(len(self.S)) - 2.0 * self.VwV
        return Gradient(self.by_kernel + through_active(self.basis, self.kernel, self.X, A), self.by_likelihood)


def through_rows(shard: Projections, chunk: slice, kernel: Kernel, active: Inputs, G: Floats, w: Floats) -> Floats:
    """Gradient through K(X, X_I), with G its adjoint, and through diag K; a row with itself is on the diagonal."""
    X = shard.X[chunk].astype(np.float64) if kernel.numeric else shard.X[chunk]
    here, which = shard.own(chunk)
    diagonal = w.copy()
    diagonal[here] += G[here, which]
    G[here, which] = 0.0
    return kernel.vjp(X, active, G) + kernel.diag_vjp(X, diagonal)


def through_active(basis: Basis, kernel: Kernel, active: Inputs, A: Floats) -> Floats:
    r"""Gradient through K_I, whose adjoint is :math:`-\tfrac12 L^{-T} A L^{-1}`."""
    half = solve_triangular(basis.L, A, lower=True, trans="T")
    G = -0.5 * solve_triangular(basis.L, half.T, lower=True, trans="T")
    G[np.diag_indices(len(G))] *= 1.0 + basis.jitter
    return kernel.vjp(active, None, G)
