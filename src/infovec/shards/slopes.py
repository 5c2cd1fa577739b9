"""What the rows of a shard add to the gradient of the evidence."""

from threading import Lock

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods.parts import in_parts
from ..numerics.cholesky import row_solver
from ..runtime import for_each, n_threads
from .messages import Beliefs, Slopes
from .on_rows import OnRows, OnRowsOfClasses
from .projections import Projections

__all__ = ["slopes", "slopes_of_classes", "through_rows"]


class _Total:
    """Terms of all chunks, from several threads."""

    def __init__(self, shard: Projections, n_parameters: int) -> None:
        d, self._lock = len(shard.basis.L), Lock()
        self.slopes = Slopes(np.zeros(shard.kernel.theta.size), np.zeros(n_parameters), np.zeros((d, d)))

    def add(self, *terms: Floats) -> None:
        with self._lock:
            for total, part in zip(self.slopes, terms, strict=True):
                total += part


def slopes(shard: OnRows, beliefs: Beliefs, half: Floats, inverse: Floats) -> Slopes:
    r"""Terms of the rows of a shard; half is Q^-1, inverse L^-1, and :math:`S = Q^{-T} Q^{-1}`.

    With :math:`w_i = \tfrac12 (g_i^2 - \nu_i)` the derivative of log Z_i in its variance, without blur none,

    .. math:: G_V = m (b - \Pi \mu)^T - S V \Pi - 2 V \mathrm{diag}(w), \qquad G_{K_{I,\cdot}} = L^{-T} G_V.
    """
    solve, total = row_solver(beliefs.Q, shard.dtype), _Total(shard, shard.likelihood.theta.size)
    mean = half.T @ beliefs.beta
    by_mean, half, inverse = (np.asarray(A, dtype=shard.dtype) for A in (mean @ inverse, half, inverse))
    active = _active(shard)

    def visit(chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        C = solve(V.copy())
        cavity = shard.cavity(at, C, beliefs.beta)
        tilted, _ = shard.tilted(at, cavity)
        likelihood, y = shard.likelihood.take(at), shard.y[at]
        var = cavity.cavity_var + shard.blur_var[at]
        by_parameter: Floats = in_parts(type(likelihood).d_log_z, likelihood, y, cavity.cavity_mean, var, n_threads())
        w = 0.5 * (tilted.g**2 - tilted.nu) if shard.blur else np.zeros(len(y))
        pull, pi, twice = (
            part.astype(shard.dtype)[:, None]
            for part in (shard.b[at] - shard.precision[at] * cavity.mean, shard.precision[at], 2.0 * w)
        )
        C *= pi
        G = C @ half  # S V Pi
        wV = np.multiply(V, twice, out=C)
        G += wV
        G = pull * by_mean - G @ inverse
        total.add(through_rows(shard, chunk, shard.kernel, active, G, w), by_parameter.sum(axis=1), 0.5 * (wV.T @ V))

    for_each(visit, shard.chunks)
    return total.slopes


def slopes_of_classes(shard: OnRowsOfClasses, mean: Floats, factors: Floats, S: Floats, inverse: Floats) -> Slopes:
    """Return the same for coupled classes: means, factors Q and covariances S of v in every class, and L^-1."""
    solve, total = [row_solver(Q, shard.dtype) for Q in factors], _Total(shard, shard.likelihood.theta.size)
    S, inverse, active = S.astype(shard.dtype), inverse.astype(shard.dtype), _active(shard)

    def visit(chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        cavity = shard.cavity(at, V, mean, solve, np.empty(V.shape, dtype=shard.dtype))
        tilted, _ = shard.tilted(at, cavity)
        k = shard.copies[at]
        w = 0.5 * k * (tilted.g**2 - tilted.nu).sum(axis=1) if shard.blur else np.zeros(len(at))
        pull = shard.b[at] - shard.precision[at] * cavity.mean
        G = _by_features(V, pull @ mean, shard.precision[at], S, w)
        by_kernel = through_rows(shard, chunk, shard.kernel, active, G @ inverse, w)
        var = cavity.cavity_var + shard.blur_var[at, None]
        by_parameter = shard.likelihood.take(at).d_log_z(shard.labels[at], cavity.cavity_mean, var, tilted) @ k
        total.add(by_kernel, by_parameter, (V * w.astype(shard.dtype)[:, None]).T @ V)

    for_each(visit, shard.chunks)
    return total.slopes


def _active(shard: Projections) -> Inputs:
    return shard.kernel.in_double(shard.basis.X)


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


def _by_features(V: Floats, pull: Floats, precision: Floats, S: Floats, w: Floats) -> Floats:
    """Adjoint of V, transposed, in the precision of V."""
    G = pull.astype(V.dtype) - (2.0 * w).astype(V.dtype)[:, None] * V
    pi = precision.astype(V.dtype)
    for c, S_c in enumerate(S):
        some = np.flatnonzero(pi[:, c] > 1e-9 * pi[:, c].max(initial=0.0))
        G[some] -= pi[some, c, None] * (V[some] @ S_c)
    return G
