"""Exact gradient of the evidence of the coupled projected posterior, for a given active set."""

from collections.abc import Sequence

import numpy as np

from ..kernels import Kernel
from ..numerics.cholesky import inverse_lower
from ..projected import Gradient, Inference
from ..projected.gradient import through_active, through_rows
from ..shards import Basis
from .coupled import CoupledShard, solvers
from .likelihood import ClassLikelihood

__all__ = ["coupled_gradient"]


def coupled_gradient(
    shards: Sequence[CoupledShard], basis: Basis, kernel: Kernel, likelihood: ClassLikelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence at its fixed point, where the sites count as constants.

    Each class adds what its function would alone; through the blur all of them see the same l^2. With m_c and S_c the
    posterior mean and covariance of v in class c, and :math:`w_i = \tfrac12 \sum_c (g_{ic}^2 - \nu_{ic})`,

    .. math:: G_V = \sum_c \bigl(m_c (b_c - \Pi_c \mu_c)^T - S_c V \Pi_c\bigr) - 2 V \mathrm{diag}(w), \qquad
              G_{K_I} = -\tfrac12 L^{-T} \bigl(\sum_c (m_c m_c^T + S_c - I) - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}.
    """
    halves = [inverse_lower(Q) for Q in found.beliefs.Q]
    S = [half.T @ half for half in halves]
    mean = np.stack([half.T @ beta for half, beta in zip(halves, found.beliefs.beta, strict=True)])
    by_kernel, by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
    VwV, inverse = np.zeros_like(S[0]), inverse_lower(basis.L)
    active = basis.X.astype(np.float64) if kernel.numeric else basis.X
    for shard in shards:
        solve = solvers(found.beliefs.Q, shard.dtype)
        for chunk in shard.chunks:
            at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
            cavity = shard.cavity(at, V, mean, solve)
            tilted, _ = shard.tilted(at, cavity)
            by_likelihood += likelihood.d_log_z(tilted).sum(axis=1)
            w = 0.5 * (tilted.g**2 - tilted.nu).sum(axis=1) if shard.blur else np.zeros(len(at))
            V = V.astype(np.float64, copy=False)
            G = (shard.b[at] - shard.precision[at] * cavity.mean) @ mean - 2.0 * w[:, None] * V
            for c, S_c in enumerate(S):
                G -= shard.precision[at, c, None] * (V @ S_c)
            by_kernel += through_rows(shard, chunk, kernel, active, G @ inverse, w)
            VwV += (V * w[:, None]).T @ V
    A = mean.T @ mean + sum(S) - len(S) * np.eye(len(VwV)) - 2.0 * VwV
    return Gradient(by_kernel + through_active(basis, kernel, active, A), by_likelihood)
