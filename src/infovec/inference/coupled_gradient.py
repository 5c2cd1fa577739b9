"""Exact gradient of the evidence of the coupled projected posterior, for a given active set."""

from collections.abc import Sequence

import numpy as np

from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import inverse_lower
from ..runtime import own_threads
from ..shards import Basis, ClassShard, Group, Slopes, together
from .gradient import Gradient, through_active
from .settle import Inference

__all__ = ["coupled_gradient"]


def coupled_gradient(
    shards: Sequence[ClassShard] | Group, basis: Basis, kernel: Kernel, likelihood: ClassLikelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence at its fixed point, where the sites count as constants.

    Each class adds what its function would alone; through the blur all of them see the same l^2. With m_c and S_c the
    posterior mean and covariance of v in class c, and :math:`w_i = \tfrac12 \sum_c (g_{ic}^2 - \nu_{ic})`, times the
    copies of the row,

    .. math:: G_V = \sum_c \bigl(m_c (b_c - \Pi_c \mu_c)^T - S_c V \Pi_c\bigr) - 2 V \mathrm{diag}(w), \qquad
              G_{K_I} = -\tfrac12 L^{-T} \bigl(\sum_c (m_c m_c^T + S_c - I) - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}.
    """
    Q = found.beliefs.Q
    halves, inverse = [inverse_lower(factor) for factor in Q], inverse_lower(basis.L)
    S = np.stack([half.T @ half for half in halves])
    mean = np.stack([half.T @ beta for half, beta in zip(halves, found.beliefs.beta, strict=True)])
    with own_threads():
        total: Slopes = together(shards).reduce("slopes", mean, Q, S, inverse)
        A = mean.T @ mean + S.sum(axis=0) - len(S) * np.eye(len(inverse)) - 2.0 * total.VwV
        through = kernel.vjp(kernel.in_double(basis.X), None, through_active(basis, inverse, A))
        return Gradient(total.kernel + through, total.likelihood)
