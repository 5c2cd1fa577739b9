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

    def __init__(self, shard: Projections, n_parameters: int, moving: bool = False) -> None:
        d, self._lock = len(shard.basis.L), Lock()
        inputs = np.zeros((d, shard.basis.X.shape[1] if moving else 0))
        self.slopes = Slopes(
            np.zeros(shard.kernel.theta.size), np.zeros(n_parameters), np.zeros((d, d)), inputs, np.zeros(1)
        )

    def add(self, *terms: Floats) -> None:
        with self._lock:
            for total, part in zip(self.slopes, terms, strict=True):
                np.add(total, part, out=total)


def slopes(shard: OnRows, beliefs: Beliefs, half: Floats, inverse: Floats, moving: bool = False) -> Slopes:
    r"""Terms of the rows of a shard; half is Q^-1, inverse L^-1, and :math:`S = Q^{-T} Q^{-1}`.

    With :math:`w_i = \tfrac12 (g_i^2 - \nu_i)` the derivative of log Z_i in its variance, without blur none,

    .. math:: G_V = m (b - \Pi \mu)^T - S V \Pi - 2 V \mathrm{diag}(w), \qquad G_{K_{I,\cdot}} = L^{-T} G_V.

    Active inputs that are ``moving`` have their gradient too.
    """
    solve, total = row_solver(beliefs.Q, shard.dtype), _Total(shard, shard.likelihood.theta.size, moving)
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
        left = np.atleast_1d(0.5 * shard.precision[at] @ shard.variance_left[at])
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
        by_kernel, by_inputs = through_rows(shard, chunk, shard.kernel, active, G, w, moving)
        total.add(by_kernel, by_parameter.sum(axis=1), 0.5 * (wV.T @ V), by_inputs, left)

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
        by_kernel, no_inputs = through_rows(shard, chunk, shard.kernel, active, G @ inverse, w)
        var = cavity.cavity_var + shard.blur_var[at, None]
        by_parameter = shard.likelihood.take(at).d_log_z(shard.labels[at], cavity.cavity_mean, var, tilted) @ k
        total.add(by_kernel, by_parameter, (V * w.astype(shard.dtype)[:, None]).T @ V, no_inputs, np.zeros(1))

    for_each(visit, shard.chunks)
    return total.slopes


def _active(shard: Projections) -> Inputs:
    return shard.kernel.in_double(shard.basis.X)


def through_rows(
    shard: Projections, chunk: slice, kernel: Kernel, active: Inputs, G: Floats, w: Floats, moving: bool = False
) -> tuple[Floats, Floats]:
    """Gradients through K(X, X_I), with G its adjoint, and through diag K; a row with itself is on the diagonal.

    The second is that in the active inputs, if they are moving: then none of them is a row any more.
    """
    here, which = shard.own(chunk)
    diagonal = w.copy()
    diagonal[here] += G[here, which]
    G[here, which] = 0.0
    X, total = shard.X[chunk], np.zeros(kernel.theta.size)
    inputs = np.zeros((len(shard.basis.L), active.shape[1] if moving else 0))
    for part in shard.pieces(chunk):  # in double precision, of which there are several copies
        some, by_K = kernel.in_double(X[part]), G[part].astype(np.float64, copy=False)
        if moving:
            by_theta, by_inputs = kernel.vjp_with_inputs(some, active, by_K)
            inputs += by_inputs
        else:
            by_theta = kernel.vjp(some, active, by_K)
        total += by_theta + kernel.diag_vjp(some, diagonal[part])
    return total, inputs


def _by_features(V: Floats, pull: Floats, precision: Floats, S: Floats, w: Floats) -> Floats:
    """Adjoint of V, transposed, in the precision of V."""
    G = pull.astype(V.dtype) - (2.0 * w).astype(V.dtype)[:, None] * V
    pi = precision.astype(V.dtype)
    for c, S_c in enumerate(S):
        some = np.flatnonzero(np.abs(pi[:, c]) > 1e-9 * np.abs(pi[:, c]).max(initial=0.0))
        G[some] -= pi[some, c, None] * (V[some] @ S_c)
    return G
