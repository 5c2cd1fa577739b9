"""Laplace's approximation for several classes: logit (Williams and Barber 1998) and probit (GR06 appendix E).

Both likelihoods are concave in the latent values of a row and do not change when a number is added to all of them. What
makes them different is how the curvature W of the rows is put together, and what that costs.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple, Protocol

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import NotConverged
from ..kernels import Kernel
from ..runtime import check, limited

__all__ = [
    "Inner",
    "LaplaceEvidence",
    "LaplaceFit",
    "LaplaceLatent",
    "Noise",
    "laplace",
    "laplace_adjoint",
    "laplace_evidence",
    "laplace_latent",
]

_STEPS, _HALVINGS = 100, 40
_SMALL = 700  # rows up to which threads of the linear algebra are in each other's way
_TOLERANCE = 1e-10  # gain for each row that a step promises, below which it is the last


class Inner(NamedTuple):
    r"""The matrix :math:`M = W (I + K W)^{-1}`, whose block for classes c and c' is
    :math:`\delta_{cc'} E_c + s \, G_c^T G_{c'}`, and the log determinant of I + K W.
    """  # noqa: D205

    E: Floats | None  # (C, n, n), or none
    G: Floats  # (C, r, n)
    sign: float
    log_det: float

    def times(self, A: Floats) -> Floats:
        """M A of an array of shape (n, C), or (n, k, C)."""
        if A.ndim == 2:
            outer = np.einsum("crn,nc->r", self.G, A)
            found = self.sign * np.einsum("crn,r->nc", self.G, outer)
            return found if self.E is None else found + np.einsum("cmn,nc->mc", self.E, A)
        by_class = _by_class(A)
        outer = np.matmul(self.G, by_class).sum(axis=0)
        found = self.sign * np.matmul(self.G.transpose(0, 2, 1), outer)
        return _as_given(found if self.E is None else found + np.matmul(self.E, by_class), A)

    def own_blocks(self) -> Floats:
        """The blocks of each class with itself, shape (C, n, n)."""
        blocks = self.sign * np.matmul(self.G.transpose(0, 2, 1), self.G)
        return blocks if self.E is None else blocks + self.E

    def between(self, K: Floats) -> Floats:
        """Rows of K M K^T, each with itself: (m, C, C) of matrices of shape (1 or C, m, n)."""
        C, m = len(self.G), K.shape[1]
        out = np.empty((m, C, C))
        H = np.stack([G @ K[c % len(K)].T for c, G in enumerate(self.G)])  # (C, r, m)
        np.einsum("crm,drm->mcd", H, H, out=out, optimize=True)
        out *= self.sign
        if self.E is not None:
            own = np.stack([np.einsum("mn,mn->m", k @ E, k) for E, k in zip(self.E, _each(K, C), strict=True)], axis=1)
            out[:, np.arange(C), np.arange(C)] += own
        return out


class Noise(Protocol):
    """What Laplace's approximation needs of a likelihood."""

    def slopes(self, labels: Rows, f: Floats) -> tuple[float, Floats]:
        """Log P of all labels together, and its slopes in the latent values, shape (n, C)."""

    def inner(self, labels: Rows, f: Floats, K: Floats) -> Inner:
        """M of kernel matrices of shape (1 or C, n, n)."""

    def trace_slope(self, labels: Rows, f: Floats, S: Floats) -> Floats:
        """Slope of tr S W in the latent values, for a matrix S of shape (C, C) of each row."""


class LaplaceFit(NamedTuple):
    """The mode of the posterior, and what its covariance is made of."""

    log_evidence: float
    latent: Floats  # (n, C): the mode
    weights: Floats  # (n, C): K^-1 times the mode, which is the slope of log P there
    inner: Inner
    steps: int


class LaplaceLatent(NamedTuple):
    """Latent values of new rows: means (m, C) and covariances of the classes (m, C, C)."""

    mean: Floats
    cov: Floats


def laplace(noise: Noise, K: Floats, labels: Rows, n_classes: int, start: Floats | None = None) -> LaplaceFit:
    r"""Find the mode of the posterior by Newton's method, and the evidence (Rasmussen and Williams algorithm 3.3).

    .. math:: \log Z = \log P(y \mid f) - \tfrac12 f^T K^{-1} f - \tfrac12 \log |I + K W|

    The mode is the only one. A step that does not gain at least a share of what it promises is halved.

    Parameters
    ----------
    noise : Logit or Probit
    K : array of shape (n, n) or (C, n, n)
    labels : array of int, shape (n,)
    n_classes : int
    start : array of shape (n, C), optional
        Weights to begin with, as those of a similar kernel; left aside where zeros are better.
    """
    with limited(1) if len(labels) <= _SMALL else nullcontext():
        return _mode(noise, K if K.ndim == 3 else K[None], labels, n_classes, start)


def _mode(noise: Noise, K: Floats, labels: Rows, n_classes: int, start: Floats | None) -> LaplaceFit:
    a = f = np.zeros((len(labels), n_classes))
    log_prob, g = noise.slopes(labels, f)
    if start is not None:
        there = product(K, start)
        found = noise.slopes(labels, there)
        if found[0] - 0.5 * float(np.vdot(start, there)) > log_prob:  # else it is of no use
            a, f, (log_prob, g) = start, there, found
    for count in range(1, _STEPS + 1):
        check()
        inner = noise.inner(labels, f, K)
        rest = g - a
        step = rest - inner.times(product(K, rest))  # (I + W K)^-1 (g - a)
        along = product(K, step)
        promise = float(np.vdot(rest, along))
        a, f, (log_prob, g) = _shorter(noise, labels, (a, f), (step, along), (log_prob, promise))
        if promise <= _TOLERANCE * len(labels):
            inner = noise.inner(labels, f, K)
            value = log_prob - 0.5 * float(np.vdot(a, f)) - 0.5 * inner.log_det
            return LaplaceFit(value, f, a, inner, count)
    raise NotConverged(
        f"the mode of the posterior was not found in {_STEPS} steps: the kernel varies too much, up to "
        f"{np.max(np.einsum('cii->ci', K)):.2g}; give one of smaller variance"
    )


def _shorter(
    noise: Noise,
    labels: Rows,
    at: tuple[Floats, Floats],
    step: tuple[Floats, Floats],
    before: tuple[float, float],
) -> tuple[Floats, Floats, tuple[float, Floats]]:
    """Go along a step as far as it gains: weights, latent values, log P and its slopes there."""
    (a, f), (da, df), (log_prob, promise) = at, step, before
    value, length = log_prob - 0.5 * float(np.vdot(a, f)), 1.0
    for _ in range(_HALVINGS):
        new = a + length * da, f + length * df
        found = noise.slopes(labels, new[1])
        if found[0] - 0.5 * float(np.vdot(*new)) >= value + 1e-4 * length * promise - 1e-12 * abs(value):
            break
        length *= 0.5
    return *new, found


def laplace_adjoint(noise: Noise, fit: LaplaceFit, K: Floats, labels: Rows) -> Floats:
    r"""Derivative of the evidence in the kernel matrices, in the shape of K.

    .. math:: G_{K_c} = \tfrac12 \bigl(a_c a_c^T - M_{cc} + u_c a_c^T + a_c u_c^T\bigr), \qquad
              u = (I + W K)^{-1} s, \qquad s_i = -\tfrac12 \frac{\partial \, \mathrm{tr} \, S_i W_i}{\partial f_i}

    with the posterior covariance S of the classes of a row. The last two terms are there because the mode moves.
    Matrices of classes that share a kernel are added.
    """
    parts, a = (K if K.ndim == 3 else K[None]), fit.weights
    S = -fit.inner.between(parts)
    _add_diagonal(S, np.einsum("cii->ic", parts))
    s = -0.5 * noise.trace_slope(labels, fit.latent, S)
    u = s - fit.inner.times(product(parts, s))
    if K.ndim == 2:
        return 0.5 * (a @ a.T + u @ a.T + a @ u.T - fit.inner.own_blocks().sum(axis=0))
    outer = np.einsum("ic,jc->cij", a + 2.0 * u, a)
    return 0.5 * (0.5 * (outer + outer.transpose(0, 2, 1)) - fit.inner.own_blocks())


class LaplaceEvidence(NamedTuple):
    """Log evidence, its gradient in theta of each kernel, and the fit."""

    value: float
    gradient: list[Floats]
    fit: LaplaceFit


def laplace_evidence(
    noise: Noise,
    kernels: Sequence[Kernel],
    X: Inputs,
    labels: Rows,
    n_classes: int,
    start: Floats | None = None,
) -> LaplaceEvidence:
    """Evidence and its exact gradient in the parameters of one kernel that all classes share, or of one for each.

    Parameters
    ----------
    noise : Logit or Probit
    kernels : sequence of one Kernel or C
    X : array of shape (n, p)
    labels : array of int, shape (n,)
    n_classes : int
    start : array of shape (n, C), optional
        Weights to begin with.
    """
    matrices = [np.asarray(kernel(kernel.in_double(X)), dtype=np.float64) for kernel in kernels]
    K = matrices[0] if len(matrices) == 1 else np.stack(matrices)
    fit = laplace(noise, K, labels, n_classes, start)
    G = laplace_adjoint(noise, fit, K, labels)
    adjoints = [G] if len(matrices) == 1 else list(G)
    gradient = [kernel.vjp(kernel.in_double(X), None, g) for kernel, g in zip(kernels, adjoints, strict=True)]
    return LaplaceEvidence(fit.log_evidence, gradient, fit)


def laplace_latent(fit: LaplaceFit, K_star: Floats, k_diag: Floats) -> LaplaceLatent:
    r"""Latent values of new rows (Rasmussen and Williams algorithm 3.4).

    .. math:: \mu_c = k_c^T a_c, \qquad V[f_c, f_{c'}] = \delta_{cc'} k_c(x, x) - k_c^T M_{cc'} k_{c'}

    Parameters
    ----------
    fit : LaplaceFit
    K_star : array of shape (m, n) or (C, m, n)
        Of new and training rows.
    k_diag : array of shape (m,) or (C, m)
    """
    cross = K_star if K_star.ndim == 3 else K_star[None]
    cov = -fit.inner.between(cross)
    _add_diagonal(cov, np.atleast_2d(k_diag).T)
    return LaplaceLatent(product(cross, fit.weights), cov)


def _add_diagonal(S: Floats, diagonal: Floats) -> None:
    at = np.arange(S.shape[1])
    S[:, at, at] += diagonal


def product(K: Floats, A: Floats) -> Floats:
    """K A of kernel matrices of shape (1 or C, m, n) and an array of shape (n, C), or (n, k, C)."""
    if len(K) == 1:
        return np.asarray((K[0] @ A.reshape(len(A), -1)).reshape(K.shape[1], *A.shape[1:]))
    return _as_given(np.matmul(K, _by_class(A)), A)


def _by_class(A: Floats) -> Floats:
    """An array of shape (n, C) or (n, k, C) as (C, n, k)."""
    n, C = len(A), A.shape[-1]
    return np.ascontiguousarray(A.reshape(n, -1, C).transpose(2, 0, 1))


def _as_given(found: Floats, A: Floats) -> Floats:
    """The array of shape (C, m, k) in the order of A."""
    return np.asarray(found.transpose(1, 2, 0).reshape(found.shape[1], *A.shape[1:]))


def _each(K: Floats, C: int) -> list[Floats]:
    return [K[c % len(K)] for c in range(C)]
