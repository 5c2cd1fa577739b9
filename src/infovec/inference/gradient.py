"""Exact gradient of the evidence of the projected posterior, for a given active set."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..numerics.cholesky import inverse_lower
from ..runtime import own_threads
from ..shards import Basis, Group, SiteShard, Slopes, together
from .settle import Inference

__all__ = ["Gradient", "evidence_gradient", "through_active"]


class Gradient(NamedTuple):
    """Gradients in theta of the kernel and of the likelihood."""

    kernel: Floats
    likelihood: Floats


def evidence_gradient(
    shards: Sequence[SiteShard] | Group, basis: Basis, kernel: Kernel, likelihood: Likelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence at its fixed point, where the sites count as constants.

    With m and S the posterior mean and covariance of v, :math:`w_i = \tfrac12 (g_i^2 - \nu_i)` the derivative of log
    Z_i in its variance, and l^2 = diag K - diag V^T V (w = 0 without blur),

    .. math:: G_V = m (b - \Pi \mu)^T - S V \Pi - 2 V \mathrm{diag}(w), \qquad G_{K_{I,\cdot}} = L^{-T} G_V,
    .. math:: G_{K_I} = -\tfrac12 L^{-T} \bigl(m m^T + S - I - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}, \qquad
              G_{k_{ii}} = w_i.

    The time is O(n d^2 + n d p), the memory that of a chunk of rows.
    """
    half, inverse = inverse_lower(found.beliefs.Q), inverse_lower(basis.L)
    with own_threads():
        total: Slopes = together(shards).reduce("slopes", found.beliefs, half, inverse)
        mean = half.T @ found.beliefs.beta
        A = np.outer(mean, mean) + half.T @ half - np.eye(len(mean)) - 2.0 * total.VwV
        return Gradient(total.kernel + through_active(basis, kernel, inverse, A), total.likelihood)


def through_active(basis: Basis, kernel: Kernel, inverse: Floats, A: Floats) -> Floats:
    r"""Gradient through K_I, whose adjoint is :math:`-\tfrac12 L^{-T} A L^{-1}`; ``inverse`` is L^-1."""
    G = -0.5 * inverse.T @ A @ inverse
    G[np.diag_indices(len(G))] *= 1.0 + basis.jitter
    return kernel.vjp(kernel.in_double(basis.X), None, G)
