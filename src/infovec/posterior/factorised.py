"""The posterior of the informative vector machine: Gaussian sites on the active rows only."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..numerics.cholesky import beyond_identity, inverse_lower, solve_lower
from .base import Posterior

__all__ = ["ActiveMarginals", "FactorisedPosterior"]


class ActiveMarginals(NamedTuple):
    """Marginals of the active rows, and what is left of them when their own site is taken out."""

    mean: Floats
    var: Floats
    cavity_mean: Floats
    cavity_var: Floats
    cavity_share: Floats  # 1 - pi a


@dataclass(frozen=True, repr=False)
class FactorisedPosterior(Posterior):
    r"""Posterior process given sites N(u_i | m_i, 1 / pi_i) on the active inputs (SLH eq. 4).

    .. math:: B = I + \Pi^{1/2} K_I \Pi^{1/2} = L L^T, \qquad \beta = L^{-1} \Pi^{1/2} m

    It knows the active inputs and nothing of the other training rows.

    Parameters
    ----------
    kernel : Kernel
    X : inputs of the active rows, in order of inclusion
    precision, site_mean : array of shape (d,)
        pi and m.
    L : array of shape (d, d)
    beta : array of shape (d,)
    """

    kernel: Kernel
    X: Inputs
    precision: Floats
    site_mean: Floats
    L: Floats
    beta: Floats

    @classmethod
    def given(cls, kernel: Kernel, X: Inputs, precision: Floats, site_mean: Floats) -> Self:
        """Return the posterior given sites, from nothing but them."""
        root = np.sqrt(precision)
        L = beyond_identity(root[:, None] * np.asarray(kernel(X), dtype=np.float64) * root)
        return cls(kernel, X, precision, site_mean, L, solve_lower(L, root * site_mean))

    @cached_property
    def weights(self) -> Floats:
        r"""Weights of the mean on k(x): :math:`\Pi^{1/2} L^{-T} \beta` (NIPS03 eq. 5)."""
        return np.sqrt(self.precision) * solve_lower(self.L, self.beta, transposed=True)

    @cached_property
    def reduction(self) -> Floats:
        r"""Matrix of the stubs of new inputs: :math:`T = L^{-1} \Pi^{1/2}` (SLH 3.1)."""
        return np.ascontiguousarray(inverse_lower(self.L) * np.sqrt(self.precision))

    def active_marginals(self) -> ActiveMarginals:
        r"""Marginals of the active rows from L, Pi and beta alone, without cancellation.

        .. math:: 1 - \pi_i a_i = (B^{-1})_{ii}, \qquad h_I = \Pi^{-1/2} (L - L^{-T}) \beta

        and the cavity (SLH B.1) :math:`a_{\setminus i} = a_i / (1 - \pi_i a_i)`,
        :math:`h_{\setminus i} = (h_i - a_i b_i) / (1 - \pi_i a_i)`.
        """
        inverse = inverse_lower(self.L)
        share = np.minimum(np.einsum("ij,ij->j", inverse, inverse), 1.0 - 1e-15)
        var = (1.0 - share) / self.precision
        mean = (self.L @ self.beta - inverse.T @ self.beta) / np.sqrt(self.precision)
        cavity_mean = (mean - (1.0 - share) * self.site_mean) / share
        return ActiveMarginals(mean, var, cavity_mean, var / share, share)

    def first(self, k: int) -> "FactorisedPosterior":
        """Return what the posterior was after the first k inclusions: the leading blocks of B, L and beta."""
        return FactorisedPosterior(
            self.kernel, self.X[:k], self.precision[:k], self.site_mean[:k], self.L[:k, :k], self.beta[:k]
        )

    def in_unit(self, kernel: Kernel, scale: float) -> "FactorisedPosterior":
        """Return the posterior of ``scale`` times the function, whose kernel is given."""
        return replace(self, kernel=kernel, precision=self.precision / scale**2, site_mean=scale * self.site_mean)

    @property
    def log_det_B(self) -> float:
        """Log determinant of B."""
        return 2.0 * float(np.sum(np.log(np.diagonal(self.L))))

    def relative_entropy(self) -> float:
        r"""Relative entropy to the prior, in nats.

        .. math:: D[Q \| P] = \tfrac12 \bigl(\log|B| + \mathrm{tr} B^{-1} - d + h_I^T K_I^{-1} h_I\bigr)
        """
        active = self.active_marginals()
        quadratic = float(self.weights @ active.mean)
        return 0.5 * (self.log_det_B + float(active.cavity_share.sum()) - len(self.beta) + quadratic)
