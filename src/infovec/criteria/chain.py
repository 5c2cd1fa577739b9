"""The chain rule of every criterion: from marginals and sites to the parameters of the kernel."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.parts import in_parts
from ..numerics.cholesky import factorise, inverse_lower
from ..posterior import FactorisedPosterior
from ..runtime import at_once
from .held_fixed import Criterion, Given

__all__ = ["ActiveSlopes", "Chain", "RowTerms", "log_partitions"]

_CHUNK_ENTRIES = 2**21  # numbers of a chunk of K_J,I
_CHUNK_BYTES = 64  # for each of them: K, M, E, its multiple, the adjoint and what the kernel makes of it
_FEWEST = 64  # rows in a chunk: fewer would take longer to add up than to make
_ROUNDING = 1e-13  # share of the prior variance below which a variance is rounding


class RowTerms(NamedTuple):
    """Terms of a criterion, one for each row, with their derivatives in its marginal and in the likelihood's theta."""

    value: Floats
    by_mean: Floats
    by_var: Floats
    by_likelihood: Floats  # (q, n)


Terms: TypeAlias = Callable[[Likelihood, Floats, Floats, Floats], RowTerms]


def log_partitions(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats) -> RowTerms:
    r"""Log Z of each row; :math:`\partial \log Z / \partial a = \tfrac12 (g^2 - \nu)`."""
    log_z, g, nu = likelihood.tilted(y, mean, var)
    return RowTerms(log_z, g, 0.5 * (g**2 - nu), likelihood.d_log_z(y, mean, var))


@dataclass
class ActiveSlopes:
    """Derivatives of the terms of active rows in v, diag C, the sites' means m and variances s = 1 / pi, and in A."""

    by_v: Floats
    by_c: Floats
    by_m: Floats
    by_s: Floats
    by_matrix: Floats  # by A


class Chain:
    r"""The factorised posterior at given parameters, and the way back from its marginals to them.

    With :math:`A = K_I + \Pi^{-1}`, :math:`C = A^{-1} = T^T T` and :math:`v = C m` all marginals are

    .. math:: h_j = k_j^T v, \quad a_j = k_{jj} - k_j^T C k_j \quad (j \in J), \qquad
              h_i = m_i - v_i / \pi_i, \quad a_i = (1 - C_{ii} / \pi_i) / \pi_i \quad (i \in I)

    (SLH C.2: :math:`C = E^{(3)} E^{(3) T}`, :math:`E^{(1)} = K_{J, I} C`). What a criterion passes on through A goes to
    the parameters of the kernel, and to those of a likelihood whose sites follow it.

    Parameters
    ----------
    given : Given
    kernel, likelihood : the parameters
    """

    def __init__(self, given: Given, kernel: Kernel, likelihood: Likelihood) -> None:
        self.given, self.kernel, self.likelihood = given.following(likelihood), kernel, likelihood
        self.X_active = kernel.in_double(self.given.X_active)
        pi, m = self.given.precision, self.given.site_mean
        root = np.sqrt(pi)
        B = root[:, None] * np.asarray(kernel(self.X_active), dtype=np.float64) * root
        B[np.diag_indices(len(B))] += 1.0
        L, _ = factorise(B, "the kernel is not positive definite on the active rows; add White(...) to it")
        self.T = inverse_lower(L) * root
        beta = self.T @ m
        self.v = self.T.T @ beta
        self.C = self.T.T @ self.T
        self.c = np.diagonal(self.C)
        self.posterior = FactorisedPosterior(kernel, self.X_active, pi, m, L, beta)
        self.by_kernel, self.by_likelihood = np.zeros(kernel.theta.size), np.zeros(likelihood.theta.size)
        self.by_A, self.by_m = np.zeros_like(self.C), np.zeros_like(self.v)

    def _chunks(self) -> Iterator[slice]:
        d, n = max(len(self.v), 1), len(self.given.rows)
        step = at_once(max(256, _CHUNK_ENTRIES // d), _CHUNK_BYTES * d, _FEWEST)
        return (slice(i, min(i + step, n)) for i in range(0, n, step))

    @np.errstate(invalid="ignore")
    def outside(self, terms: Terms, through_kernel: bool = True) -> float:
        r"""Sum the terms over the rows of J, and pass their slopes on (SLH eq. 14, Thesis C.8 to C.10).

        .. math:: dh_j = (dk_j)^T v - E_j (dA) v, \qquad da_j = dk_{jj} - 2 E_j dk_j + E_j (dA) E_j^T

        A chunk of rows at a time: O(|J| d^2) in time, never more than a chunk of K_J,I in memory.
        """
        total, block = 0.0, self.kernel.on(self.X_active)
        for chunk in self._chunks():
            X = self.kernel.in_double(self.given.X[chunk])
            K = np.asarray(block(X), dtype=np.float64)
            M = K @ self.T.T
            prior = np.asarray(self.kernel.diag(X), dtype=np.float64)
            var = prior - np.einsum("ij,ij->i", M, M)
            rounding = var < _ROUNDING * prior
            likelihood = self.likelihood.take(self.given.rows[chunk])
            at: RowTerms = in_parts(
                terms, likelihood, self.given.y[chunk], K @ self.v, np.where(rounding, _ROUNDING * prior, var)
            )
            total += float(np.sum(at.value))
            self.by_likelihood += at.by_likelihood.sum(axis=1)
            if through_kernel:
                w = np.where(rounding, 0.0, at.by_var)
                E = M @ self.T
                scaled = w[:, None] * E
                by_m = E.T @ at.by_mean
                self.by_m += by_m
                self.by_A += scaled.T @ E - np.outer(by_m, self.v)
                G = np.outer(at.by_mean, self.v) - 2.0 * scaled
                self.by_kernel += self.kernel.vjp(X, self.X_active, G) + self.kernel.diag_vjp(X, w)
        return total

    @np.errstate(invalid="ignore")  # slopes that are no numbers lead nowhere, and are not gone along
    def finish(self, value: float, slopes: ActiveSlopes) -> Criterion:
        r"""Pass on the slopes of the active rows: :math:`dv = C (dm - (dA) v)`, :math:`dC = -C (dA) C`."""
        C, v = self.C, self.v
        back = C @ slopes.by_v
        G = self.by_A + slopes.by_matrix - np.outer(back, v) - (C * slopes.by_c) @ C
        G = 0.5 * (G + G.T)
        by_likelihood = self.by_likelihood
        if self.likelihood.conjugate:  # its sites move with it
            own = self.likelihood.take(self.given.active)
            by_s, by_m = own.d_site(self.given.y_active)
            by_likelihood = by_likelihood + by_s @ (np.diagonal(G) + slopes.by_s)
            by_likelihood = by_likelihood + by_m @ (slopes.by_m + back + self.by_m)
        return Criterion(value, self.by_kernel + self.kernel.vjp(self.X_active, None, G), by_likelihood)
