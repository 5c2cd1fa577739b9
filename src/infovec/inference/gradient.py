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

__all__ = ["Gradient", "Moved", "evidence_gradient", "moved_gradient", "through_active"]


class Gradient(NamedTuple):
    """Gradients in theta of the kernel and of the likelihood."""

    kernel: Floats
    likelihood: Floats


class Moved(NamedTuple):
    """Gradients in theta of kernel and likelihood and in the active inputs, and what these leave open."""

    kernel: Floats
    likelihood: Floats
    inputs: Floats
    left: float  # half of the sum of pi_i l_i^2: nats that the rows tell, and the active inputs do not take up


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
    total, G = _slopes(shards, basis, found, False)
    with own_threads():
        return Gradient(total.kernel + kernel.vjp(kernel.in_double(basis.X), None, G), total.likelihood)


def moved_gradient(shards: Sequence[SiteShard] | Group, basis: Basis, kernel: Kernel, found: Inference) -> Moved:
    r"""Gradient of the EP evidence where active inputs move, and are no rows of the shards.

    The adjoints are those of ``evidence_gradient``, passed on to the active inputs as well:

    .. math:: \frac{\partial}{\partial z_a} = \sum_i G_{a i} \frac{\partial k(z_a, x_i)}{\partial z_a}
              + \sum_b (G_{K_I} + G_{K_I}^T)_{ab} \frac{\partial k(z_a, z_b)}{\partial z_a}.
    """
    total, G = _slopes(shards, basis, found, True)
    X = kernel.in_double(basis.X)
    with own_threads():
        by_kernel = total.kernel + kernel.vjp(X, None, G)
        inputs = total.inputs + kernel.square_input_vjp(X, G)
    return Moved(by_kernel, total.likelihood, inputs, float(total.left[0]))


def _slopes(shards: Sequence[SiteShard] | Group, basis: Basis, found: Inference, moving: bool) -> tuple[Slopes, Floats]:
    """Return what the rows add to the gradient, and the adjoint of K_I."""
    half, inverse = inverse_lower(found.beliefs.Q), inverse_lower(basis.L)
    with own_threads():
        total: Slopes = together(shards).reduce("slopes", found.beliefs, half, inverse, moving)
        mean = half.T @ found.beliefs.beta
        A = np.outer(mean, mean) + half.T @ half - np.eye(len(mean)) - 2.0 * total.VwV
        return total, through_active(basis, inverse, A)


def through_active(basis: Basis, inverse: Floats, A: Floats) -> Floats:
    r"""Return the adjoint of K_I, :math:`-\tfrac12 L^{-T} A L^{-1}`; ``inverse`` is L^-1."""
    G = -0.5 * inverse.T @ A @ inverse
    G[np.diag_indices(len(G))] *= 1.0 + basis.jitter
    return np.asarray(G)
