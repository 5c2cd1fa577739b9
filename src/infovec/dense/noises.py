"""The likelihoods of Laplace's approximation for several classes."""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_softmax

from .._types import Floats, Rows
from ..numerics.cholesky import factorise
from .laplace_fit import Inner
from .race import race_curvature, race_trace_slope

__all__ = ["Logit", "Probit"]

_SINGULAR = "the kernel matrix is not positive definite; give a kernel that is a covariance on these rows"
_LEAST = 1e-200  # probability, whose root must not vanish


class Logit:
    r"""Multinomial logit; :math:`W_i = \mathrm{diag}(\pi_i) - \pi_i \pi_i^T`.

    One factorisation for each class and one more, :math:`O(C n^3)`.
    """

    def slopes(self, labels: Rows, f: Floats) -> tuple[float, Floats]:
        log_p = log_softmax(f, axis=1)
        rows = np.arange(len(labels))
        g = -np.exp(log_p)
        g[rows, labels] += 1.0
        return float(log_p[rows, labels].sum()), g

    def inner(self, labels: Rows, f: Floats, K: Floats) -> Inner:
        r"""M of the multinomial logit (Rasmussen and Williams eq. 3.38 to 3.44).

        .. math:: M_{cc'} = \delta_{cc'} E_c - E_c \Bigl(\sum_k E_k\Bigr)^{-1} E_{c'}, \qquad
                  E_c = D_c^{1/2} (I + D_c^{1/2} K_c D_c^{1/2})^{-1} D_c^{1/2}, \qquad D_c = \mathrm{diag}(\pi_c)

        and :math:`\log |I + K W| = \sum_c \log |I + D_c^{1/2} K_c D_c^{1/2}| + \log |\sum_c E_c|`.
        """
        root = np.sqrt(np.maximum(np.exp(log_softmax(f, axis=1)), _LEAST))
        n, C = f.shape
        E, log_det = np.empty((C, n, n)), 0.0
        for c, r in enumerate(root.T):
            L = factorise(np.eye(n) + r[:, None] * K[c % len(K)] * r, _SINGULAR).L
            half = solve_triangular(L, np.diag(r), lower=True, check_finite=False)
            E[c] = half.T @ half
            log_det += 2.0 * float(np.log(np.diagonal(L)).sum())
        L = factorise(E.sum(axis=0), _SINGULAR, shares=(0.0, 1e-14, 1e-12)).L
        G = np.stack([solve_triangular(L, e, lower=True, check_finite=False) for e in E])
        return Inner(E, G, -1.0, log_det + 2.0 * float(np.log(np.diagonal(L)).sum()))

    def trace_slope(self, labels: Rows, f: Floats, S: Floats) -> Floats:
        r"""Slope of :math:`\mathrm{tr} \, S W = \sum_a \pi_a S_{aa} - \pi^T S \pi`, which is W (diag S - 2 S pi)."""
        p = np.exp(log_softmax(f, axis=1))
        inside = np.einsum("iaa->ia", S) - 2.0 * np.einsum("iab,ib->ia", S, p)
        return p * (inside - (p * inside).sum(axis=1, keepdims=True))


class Probit:
    r"""Multinomial probit; W has no form that classes could share: :math:`O((C - 1)^3 n^3)`."""

    def slopes(self, labels: Rows, f: Floats) -> tuple[float, Floats]:
        found = race_curvature(labels, f)
        return float(found.log_prob.sum()), found.g

    def inner(self, labels: Rows, f: Floats, K: Floats) -> Inner:
        r"""M of any W of rank C - 1 (GR06 appendix E).

        .. math:: M = V (I + V^T K V)^{-1} V^T, \qquad W_i = V_i V_i^T
        """
        n, C = f.shape
        lam, U = np.linalg.eigh(race_curvature(labels, f).W)
        V = (U * np.sqrt(np.maximum(lam, 0.0))[:, None, :])[:, :, 1:]  # (n, C, C - 1): zero is the smallest
        B = np.empty((C - 1, n, C - 1, n))
        for p in range(C - 1):
            for q in range(p, C - 1):
                block = sum(V[:, c, p, None] * K[c % len(K)] * V[:, c, q] for c in range(C))
                B[p, :, q], B[q, :, p] = block, np.transpose(block)
        flat = B.reshape(n * (C - 1), -1)
        flat[np.diag_indices(len(flat))] += 1.0
        L = factorise(flat, _SINGULAR).L
        G = np.empty((C, len(L), n))
        for c in range(C):
            side = np.zeros((C - 1, n, n))
            side[:, np.arange(n), np.arange(n)] = V[:, c].T
            G[c] = solve_triangular(L, side.reshape(-1, n), lower=True, check_finite=False)
        return Inner(None, G, 1.0, 2.0 * float(np.log(np.diagonal(L)).sum()))

    def trace_slope(self, labels: Rows, f: Floats, S: Floats) -> Floats:
        return race_trace_slope(labels, f, S)
