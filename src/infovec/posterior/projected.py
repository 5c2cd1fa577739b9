"""The projected posterior: all rows have sites, on their projections onto the active set."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from .._types import Floats
from ..errors import NotPositiveDefinite
from ..kernels import Kernel
from ..numerics.cholesky import factorise, inverse_lower, solve_lower
from .base import Posterior

__all__ = ["ProjectedPosterior"]

_ROUNDING = (1e-12, 1e-10)  # to add to eigenvalues between zero and one until a factor exists
_SHARP = 1e6  # largest pivot of M from which the variance left is a difference of numbers that are nearly the same
_SINGLE, _MOST = 1e-7, 1e-2  # share of the largest pivot of M that may be rounding of single precision, and no more


@dataclass(frozen=True, repr=False)
class ProjectedPosterior(Posterior):
    r"""Posterior process with u_I = L v, where v has mean Q^-T beta and covariance (Q Q^T)^-1 (Thesis 4.4.2).

    Parameters
    ----------
    kernel : Kernel
    X : inputs of the active rows, in order of inclusion
    L : array of shape (d, d)
        Factor of their prior covariance.
    Q : array of shape (d, d)
        Factor of I + V Pi V^T.
    beta : array of shape (d,)
        Q^-1 V b.
    """

    L: Floats
    Q: Floats
    beta: Floats

    @cached_property
    def _mean_v(self) -> Floats:
        return solve_lower(self.Q, self.beta, transposed=True)

    @cached_property
    def weights(self) -> Floats:
        r"""Weights of the mean on k(x): :math:`L^{-T} Q^{-T} \beta` (Thesis 4.4.2)."""
        return solve_lower(self.L, self._mean_v, transposed=True)

    @cached_property
    def reduction(self) -> Floats:
        r"""The two triangular solves of Thesis eq. 4.13, merged.

        .. math:: |l|^2 - |l^M|^2 = l^T (I - M^{-1}) l = |T k|^2, \qquad l = L^{-1} k, \quad l^M = Q^{-1} l

        with :math:`I - M^{-1} = U^T U`, U lower triangular, and :math:`T = U L^{-1}`.
        """
        half = inverse_lower(self.Q)
        U = _lower_on_the_right(np.eye(len(half)) - half.T @ half, min(_SINGLE * self._strongest, _MOST))
        return np.ascontiguousarray(solve_lower(self.L, U.T, transposed=True).T)

    def variance(self, K: Floats, prior_var: Floats) -> Floats:
        """Variance of inputs; by two solves where little is left of it, or more than a priori (Thesis eq. 4.13).

        What the rows leave, the squared length of l^M, is then exact to rounding of itself, not of the prior variance.
        """
        try:
            if self._strongest < _SHARP:
                return super().variance(K, prior_var)
        except NotPositiveDefinite:  # the posterior is wider than the prior somewhere, which no |T k|^2 can say
            pass
        before = solve_lower(self.L, K.T)
        after = solve_lower(self.Q, before)
        apart = np.maximum(prior_var - np.einsum("ij,ij->j", before, before), 0.0)
        return np.asarray(apart + np.einsum("ij,ij->j", after, after))

    def features(self, K: Floats) -> tuple[Floats, Floats]:
        try:
            if self._strongest < _SHARP:
                return super().features(K)
        except NotPositiveDefinite:
            pass
        before = solve_lower(self.L, K.T)
        return before.T, solve_lower(self.Q, before).T

    @cached_property
    def _strongest(self) -> float:
        """Largest pivot of M: about the prior variance over the smallest one that is left."""
        return float(np.max(np.einsum("ij,ij->i", self.Q, self.Q), initial=1.0))

    def first(self, k: int) -> "ProjectedPosterior":
        r"""Return the posterior as new inputs see it through the first k active inputs alone.

        .. math:: \mathrm{E}\, v_{1..k} = (Q^{-T} \beta)_{1..k}, \qquad
                  \mathrm{Cov}\, v_{1..k} = \bigl((Q Q^T)^{-1}\bigr)_{1..k, 1..k} = (Q_k Q_k^T)^{-1}

        The sites of all rows stay as they are: it is not the posterior of a fit with k active rows.
        """
        R = np.linalg.qr(inverse_lower(self.Q)[:, :k], mode="r")  # Cov v_1..k = R^T R
        inverse = solve_triangular(R, np.eye(k))
        Q = np.linalg.cholesky(inverse @ inverse.T)
        return ProjectedPosterior(self.kernel, self.X[:k], self.L[:k, :k], Q, Q.T @ self._mean_v[:k])

    def in_unit(self, kernel: Kernel, scale: float) -> "ProjectedPosterior":
        """Return the posterior of ``scale`` times the function, whose kernel is given."""
        return replace(self, kernel=kernel, L=scale * self.L)

    def projected(self, V: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of gamma = V v, one row of V for each row (Thesis 4.14)."""
        C = solve_lower(self.Q, V.T)
        return V @ self._mean_v, np.einsum("ij,ij->j", C, C)

    def relative_entropy(self) -> float:
        r"""Relative entropy to the prior, in nats (Thesis eq. 4.17).

        .. math:: D[Q \| P] = \tfrac12 \bigl(\log|M| + \mathrm{tr} M^{-1} - d + |Q^{-T} \beta|^2\bigr)
        """
        half = inverse_lower(self.Q)
        log_det = 2.0 * float(np.sum(np.log(np.diagonal(self.Q))))
        return 0.5 * (log_det + float(np.sum(half**2)) - len(half) + float(self._mean_v @ self._mean_v))


def _lower_on_the_right(A: Floats, rounding: float) -> Floats:
    """Return the lower triangular U with A = U^T U, for a matrix that is positive semidefinite up to rounding."""
    message = "some site has so negative a precision that the posterior is wider than the prior"
    try:
        return factorise(A[::-1, ::-1], message, _ROUNDING, by=1.0).L[::-1, ::-1].T
    except NotPositiveDefinite:
        values, vectors = np.linalg.eigh(A)
        if values[0] < -rounding:
            raise
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return np.asarray(np.linalg.qr(root[:, ::-1], mode="r"))[::-1, ::-1]
