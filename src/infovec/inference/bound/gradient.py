"""Exact gradient of the largest bound in the parameters of the kernels and in the biases."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..._types import Floats, Inputs
from ...numerics.cholesky import inverse_lower
from ...runtime import at_once, parts
from .maximum import Optimum
from .projection import Projection

__all__ = ["BoundGradient", "bound_gradient"]

_CHUNK_ENTRIES = 2**20  # numbers of the adjoint that are formed at once
_CHUNK_BYTES = 64  # for each of them: R, products with it, the adjoint, and what the kernel makes of it


class BoundGradient(NamedTuple):
    """Gradients in theta of every kernel, in the order of the projections, and of the likelihood."""

    kernels: list[Floats]
    likelihood: Floats


def bound_gradient(projections: Sequence[Projection], X: Inputs, optimum: Optimum) -> BoundGradient:
    r"""Gradient of the bound at its maximum, where the means count as constants.

    With weights :math:`\xi_c` of the means on k(x), q classes that have the kernel, and A = L^-T V^T,

    .. math:: G_{K_{\cdot,I}} = W \Bigl(\sum_c g_c \xi_c^T + q \, C (I + W C)^{-1} W A^T\Bigr), \qquad
              G_{K_I} = -\tfrac12 \sum_c \xi_c \xi_c^T - \tfrac{q}{2} A W C (I + W C)^{-1} W A^T, \qquad
              G_{k_{ii}} = -\tfrac{q}{2} w_i.

    The gradient in a bias is the sum of w g over the rows.
    """
    by_kernel = [_through_kernel(p, X, optimum) for p in projections]
    g = projections[0].weight[:, None] * optimum.g
    return BoundGradient(by_kernel, g.sum(axis=0))


def _through_kernel(p: Projection, X: Inputs, optimum: Optimum) -> Floats:
    kernel, q, (rows, X_active, L, jitter, _) = p.kernel, len(p.classes), p.basis
    weights, g = p.weights(optimum.z[:, p.classes]), p.weight[:, None] * optimum.g[:, p.classes]
    L_inverse, Q_inverse = inverse_lower(L), inverse_lower(p.Q)
    d = len(L)
    X_active = kernel.in_double(X_active)
    # A C (I + C)^-1 A^T = L^-T (Q Q^T - 2 I + (Q Q^T)^-1) L^-1 and C (I + C)^-1 A^T = R (Q^T - Q^-1) L^-1
    inside = p.Q @ p.Q.T - 2.0 * np.eye(d) + Q_inverse.T @ Q_inverse
    G = -0.5 * (weights @ weights.T + q * (L_inverse.T @ inside @ L_inverse))
    G[np.diag_indices(d)] *= 1.0 + jitter
    total = kernel.vjp(X_active, None, G)
    turn = q * ((p.Q.T - Q_inverse) @ L_inverse)
    diagonal, step = -0.5 * q * p.weight, max(at_once(_CHUNK_ENTRIES, _CHUNK_BYTES) // max(d, 1), 1)
    for at, R in _smaller(p.features.chunks(), step):
        G = g[at] @ weights.T + p.weight[at, None] * (R.astype(np.float64) @ turn)
        here = np.flatnonzero((rows >= at.start) & (rows < at.stop))
        own = rows[here] - at.start
        diagonal[rows[here]] += G[own, here]  # a row with itself is on the diagonal
        G[own, here] = 0.0
        part = kernel.in_double(X[at])
        total = total + kernel.vjp(part, X_active, G) + kernel.diag_vjp(part, diagonal[at])
    return total


def _smaller(chunks: Iterable[tuple[slice, Floats]], most: int) -> Iterator[tuple[slice, Floats]]:
    """Divide chunks of rows into smaller ones."""
    for at, R in chunks:
        for part in parts(len(R), most):
            yield slice(at.start + part.start, at.start + part.stop), R[part]
