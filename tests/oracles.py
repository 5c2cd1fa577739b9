"""Dense textbook formulas and brute force. Imports nothing from infovec."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar


def fd_gradient(function: Callable, theta: np.ndarray, step: float = 6e-6) -> np.ndarray:
    """Central differences with a step near eps^(1/3); parameters along axis 0."""
    theta = np.asarray(theta, dtype=float)
    rows = []
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = step * max(1.0, abs(theta[k]))
        rows.append((np.asarray(function(theta + h)) - np.asarray(function(theta - h))) / (2 * h[k]))
    return np.array(rows)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(30)
_OFFSETS = np.concatenate([[0.0], np.logspace(-7, 5.5, 51)])


def tilted_by_panels(log_prob: Callable, mean: float, var: float, centres=(0.0,)) -> tuple[float, ...]:
    """log Z, g, nu of p(y|f) N(f|mean, var) by brute force: 30 Gauss-Legendre nodes on each of some
    hundred panels that crowd, on all scales from 1e-7 to 1e5, around the mean, the mode and ``centres``.
    """
    sd = np.sqrt(var)

    def psi(f):
        with np.errstate(over="ignore"):
            return log_prob(f) - 0.5 * ((f - mean) / sd) ** 2 - 0.5 * np.log(2 * np.pi * var)

    def crowd(points, scale=1.0):
        return np.concatenate([np.concatenate([p - scale * _OFFSETS, p + scale * _OFFSETS]) for p in points])

    edges = np.unique(np.concatenate([crowd([mean, *centres]), crowd([mean], sd)]))
    best = int(np.argmax(psi(edges)))
    low, high = edges[max(best - 1, 0)], edges[min(best + 1, len(edges) - 1)]
    mode = minimize_scalar(
        lambda f: -psi(np.array(f)), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    edges = np.unique(np.concatenate([edges, crowd([mode]), crowd([mode], min(sd, 1.0))]))
    half = 0.5 * np.diff(edges)[:, None]
    f = (edges[:-1, None] + half * (_NODES + 1.0)).ravel()
    terms = psi(f) + np.log(half * _WEIGHTS).ravel()
    top = terms.max()
    weights = np.exp(terms - top)
    total = weights.sum()
    weights /= total
    x = (f - mean) / sd
    first = weights @ x
    spread = weights @ (x - first) ** 2
    return top + np.log(total), first / sd, (1.0 - spread) / var


class DenseADF:
    """The IVM on the full n x n covariance: moment matching by LSH05 eq. 15-16, nothing clever."""

    def __init__(self, K: np.ndarray) -> None:
        self.mean = np.zeros(len(K))
        self.cov = np.array(K, dtype=float)

    def include(self, i: int, g: float, nu: float) -> None:
        s = self.cov[:, i].copy()
        self.mean = self.mean + g * s
        self.cov = self.cov - nu * np.outer(s, s)


def gaussian_entropy(cov: np.ndarray) -> float:
    return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * cov)[1]


def gaussian_relative_entropy(m1, S1, m0, S0) -> float:
    """D[N(m1, S1) || N(m0, S0)]."""
    solve = np.linalg.solve
    d = m1 - m0
    logdets = np.linalg.slogdet(S0)[1] - np.linalg.slogdet(S1)[1]
    return 0.5 * (logdets + np.trace(solve(S0, S1)) + d @ solve(S0, d) - len(m1))


def gaussian_from_sites(K, active, precision, site_mean) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and covariance of all rows given Gaussian sites on the active ones."""
    K_I = K[np.ix_(active, active)]
    W = np.linalg.solve(K_I + np.diag(1.0 / precision), K[active])
    return W.T @ site_mean, K - K[active].T @ W
