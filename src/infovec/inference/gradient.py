"""Exact gradient of the evidence of the projected posterior, for a given active set."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.parts import in_parts
from ..numerics.cholesky import inverse_lower, row_solver
from ..runtime import for_each, n_threads, own_threads
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
    with own_threads():
        for shard in shards:
            total.add(shard)
        return total.finish()


class _Sum:
    def __init__(self, kernel: Kernel, likelihood: Likelihood, basis: Basis, beliefs: Beliefs) -> None:
        self.kernel, self.basis, self.beliefs, self.lock = kernel, basis, beliefs, Lock()
        self.half, self.inverse = inverse_lower(beliefs.Q), inverse_lower(basis.L)
        self.S, self.mean = self.half.T @ self.half, self.half.T @ beliefs.beta
        self.by_kernel, self.by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
        self.VwV = np.zeros_like(self.S)
        self.X = kernel.in_double(basis.X)

    def add(self, shard: ProjectedShard) -> None:
        solve = row_solver(self.beliefs.Q, shard.dtype)
        matrices = [np.asarray(A, dtype=shard.dtype) for A in (self.mean @ self.inverse, self.half, self.inverse)]

        def visit(chunk: slice) -> None:
            by_likelihood, by_kernel, VwV = self._part(shard, chunk, solve, *matrices)
            with self.lock:
                self.by_likelihood += by_likelihood
                self.by_kernel += by_kernel
                self.VwV += VwV

        for_each(visit, shard.chunks)

    def _part(
        self,
        shard: ProjectedShard,
        chunk: slice,
        solve: Callable[[Floats], Floats],
        mean: Floats,
        half: Floats,
        inverse: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Terms of the rows of a chunk; the matrices are m^T L^-1, Q^-1 and L^-1 in the precision of the products."""
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        C = solve(V.copy())
        cavity = shard.cavity(at, C, self.beliefs.beta)
        tilted, _ = shard.tilted(at, cavity)
        likelihood, y = shard.likelihood.take(at), shard.y[at]
        var = cavity.cavity_var + shard.blur_var[at]
        by_likelihood = in_parts(type(likelihood).d_log_z, likelihood, y, cavity.cavity_mean, var, n_threads()).sum(
            axis=1
        )
        w = 0.5 * (tilted.g**2 - tilted.nu) if shard.blur else np.zeros(len(y))
        pull, pi, twice = (
            part.astype(shard.dtype)[:, None]
            for part in (shard.b[at] - shard.precision[at] * cavity.mean, shard.precision[at], 2.0 * w)
        )
        C *= pi
        G = C @ half  # S V Pi
        wV = np.multiply(V, twice, out=C)
        G += wV
        G = pull * mean - G @ inverse
        return by_likelihood, through_rows(shard, chunk, self.kernel, self.X, G, w), 0.5 * (wV.T @ V)

    def finish(self) -> Gradient:
        A = np.outer(self.mean, self.mean) + self.S - np.eye(len(self.S)) - 2.0 * self.VwV
        by_active = through_active(self.basis, self.kernel, self.X, self.inverse, A)
        return Gradient(self.by_kernel + by_active, self.by_likelihood)


def through_rows(shard: Projections, chunk: slice, kernel: Kernel, active: Inputs, G: Floats, w: Floats) -> Floats:
    """Gradient through K(X, X_I), with G its adjoint, and through diag K; a row with itself is on the diagonal."""
    here, which = shard.own(chunk)
    diagonal = w.copy()
    diagonal[here] += G[here, which]
    G[here, which] = 0.0
    X, total = shard.X[chunk], np.zeros(kernel.theta.size)
    for part in shard.pieces(chunk):  # in double precision, of which there are several copies
        some = kernel.in_double(X[part])
        total += kernel.vjp(some, active, G[part].astype(np.float64, copy=False))
        total += kernel.diag_vjp(some, diagonal[part])
    return total


def through_active(basis: Basis, kernel: Kernel, active: Inputs, inverse: Floats, A: Floats) -> Floats:
    r"""Gradient through K_I, whose adjoint is :math:`-\tfrac12 L^{-T} A L^{-1}`; ``inverse`` is L^-1."""
    G = -0.5 * inverse.T @ A @ inverse
    G[np.diag_indices(len(G))] *= 1.0 + basis.jitter
    return kernel.vjp(active, None, G)
