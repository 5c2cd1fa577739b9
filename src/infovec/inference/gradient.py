"""Exact gradient of the evidence of the projected posterior, of one function or of many classes, on an active set."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..numerics.cholesky import inverse_lower, row_solver
from ..runtime import for_each, own_threads
from ..shards import Basis, Beliefs, CoupledShard, ProjectedShard, Projections, solvers
from .settle import Inference

__all__ = ["Gradient", "coupled_gradient", "evidence_gradient"]

_FAINT = 1e-9  # share of the largest precision of a class below which sites do not count


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
    Q, beta = found.beliefs
    return _gradient(shards, basis, kernel, likelihood, Beliefs(Q[None], beta[None]), _of_one_function)


def coupled_gradient(
    shards: Sequence[CoupledShard], basis: Basis, kernel: Kernel, likelihood: ClassLikelihood, found: Inference
) -> Gradient:
    r"""Gradient of the EP evidence of many classes at its fixed point, where the sites count as constants.

    Each class adds what its function would alone; through the blur all of them see the same l^2. With m_c and S_c the
    posterior mean and covariance of v in class c, and :math:`w_i = \tfrac12 \sum_c (g_{ic}^2 - \nu_{ic})`, times the
    copies of the row,

    .. math:: G_V = \sum_c \bigl(m_c (b_c - \Pi_c \mu_c)^T - S_c V \Pi_c\bigr) - 2 V \mathrm{diag}(w), \qquad
              G_{K_I} = -\tfrac12 L^{-T} \bigl(\sum_c (m_c m_c^T + S_c - I) - 2 V \mathrm{diag}(w) V^T\bigr) L^{-1}.
    """
    return _gradient(shards, basis, kernel, likelihood, found.beliefs, _of_classes)


class _Known(NamedTuple):
    """The posterior of v for every function, in the first dimension, and L^-1."""

    Q: Floats
    beta: Floats
    half: Floats  # Q^-1
    mean: Floats
    S: Floats
    inverse: Floats


class _Terms(NamedTuple):
    """What the rows of a chunk add to the gradient."""

    by_likelihood: Floats
    G: Floats  # adjoint of their covariances with the active rows
    w: Floats  # adjoint of their variances
    VwV: Floats


Shard = TypeVar("Shard", ProjectedShard, CoupledShard)


def _gradient(
    shards: Sequence[Shard],
    basis: Basis,
    kernel: Kernel,
    likelihood: Likelihood | ClassLikelihood,
    beliefs: Beliefs,
    terms_of: Callable[[Shard, _Known], Callable[[slice], _Terms]],
) -> Gradient:
    """Add up the terms of all rows, chunk by chunk, and those of the active set."""
    half = np.stack([inverse_lower(Q) for Q in beliefs.Q])
    mean = np.stack([one.T @ beta for one, beta in zip(half, beliefs.beta, strict=True)])
    known = _Known(*beliefs, half, mean, np.stack([one.T @ one for one in half]), inverse_lower(basis.L))
    by_kernel, by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
    A, lock = mean.T @ mean + known.S.sum(axis=0) - len(mean) * np.eye(len(basis.L)), Lock()
    active = basis.X.astype(np.float64) if kernel.numeric else basis.X

    def add(shard: Shard) -> None:
        terms = terms_of(shard, known)

        def visit(chunk: slice) -> None:
            found = terms(chunk)
            part = _through_rows(shard, chunk, kernel, active, found.G, found.w)
            with lock:
                np.add(by_likelihood, found.by_likelihood, out=by_likelihood)
                np.add(by_kernel, part, out=by_kernel)
                np.subtract(A, 2.0 * found.VwV, out=A)

        for_each(visit, shard.chunks)

    with own_threads():
        for shard in shards:
            add(shard)
        return Gradient(by_kernel + _through_active(basis, kernel, active, known.inverse, A), by_likelihood)


def _of_one_function(shard: ProjectedShard, known: _Known) -> Callable[[slice], _Terms]:
    solve, beta = row_solver(known.Q[0], shard.dtype), known.beta[0]
    matrices = (known.mean[0] @ known.inverse, known.half[0], known.inverse)
    mean, half, inverse = (np.asarray(A, dtype=shard.dtype) for A in matrices)

    def terms(chunk: slice) -> _Terms:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        C = solve(V.copy())
        cavity = shard.cavity(at, C, beta)
        tilted, _ = shard.tilted(at, cavity)
        likelihood, y = shard.likelihood.take(at), shard.y[at]
        by_likelihood = likelihood.d_log_z(y, cavity.cavity_mean, cavity.cavity_var + shard.blur_var[at]).sum(axis=1)
        w = 0.5 * (tilted.g**2 - tilted.nu) if shard.blur else np.zeros(len(y))
        pull, pi, twice = (
            part.astype(shard.dtype)[:, None]
            for part in (shard.b[at] - shard.precision[at] * cavity.mean, shard.precision[at], 2.0 * w)
        )
        C *= pi
        G = C @ half  # S V Pi
        wV = np.multiply(V, twice, out=C)
        G += wV
        return _Terms(by_likelihood, pull * mean - G @ inverse, w, 0.5 * (wV.T @ V))

    return terms


def _of_classes(shard: CoupledShard, known: _Known) -> Callable[[slice], _Terms]:
    solve, S, inverse = solvers(known.Q, shard.dtype), known.S.astype(shard.dtype), known.inverse.astype(shard.dtype)

    def terms(chunk: slice) -> _Terms:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        cavity = shard.cavity(at, V, known.mean, solve, np.empty(V.shape, dtype=shard.dtype))
        tilted, _ = shard.tilted(at, cavity)
        k, pi = shard.copies[at], shard.precision[at]
        w = 0.5 * k * (tilted.g**2 - tilted.nu).sum(axis=1) if shard.blur else np.zeros(len(at))
        wV = V * w.astype(shard.dtype)[:, None]
        G = ((shard.b[at] - pi * cavity.mean) @ known.mean).astype(shard.dtype) - 2.0 * wV
        pi = pi.astype(shard.dtype)
        for c, S_c in enumerate(S):
            some = np.flatnonzero(pi[:, c] > _FAINT * pi[:, c].max(initial=0.0))
            G[some] -= pi[some, c, None] * (V[some] @ S_c)
        return _Terms(shard.likelihood.d_log_z(tilted) @ k, G @ inverse, w, wV.T @ V)

    return terms


def _through_rows(shard: Projections, chunk: slice, kernel: Kernel, active: Inputs, G: Floats, w: Floats) -> Floats:
    """Gradient through K(X, X_I), with G its adjoint, and through diag K; a row with itself is on the diagonal."""
    here, which = shard.own(chunk)
    diagonal = w.copy()
    diagonal[here] += G[here, which]
    G[here, which] = 0.0
    X, total = shard.X[chunk], np.zeros(kernel.theta.size)
    for part in shard.pieces(chunk):  # in double precision, of which there are several copies
        some = X[part].astype(np.float64) if kernel.numeric else X[part]
        total += kernel.vjp(some, active, G[part].astype(np.float64, copy=False))
        total += kernel.diag_vjp(some, diagonal[part])
    return total


def _through_active(basis: Basis, kernel: Kernel, active: Inputs, inverse: Floats, A: Floats) -> Floats:
    r"""Gradient through K_I, whose adjoint is :math:`-\tfrac12 L^{-T} A L^{-1}`; ``inverse`` is L^-1."""
    G = -0.5 * inverse.T @ A @ inverse
    G[np.diag_indices(len(G))] *= 1.0 + basis.jitter
    return kernel.vjp(active, None, G)
