"""Greedy selection by the exact decrease of the objective, for a few random candidates (Smola and Bartlett 2001)."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from infovec.learning import Model

__all__ = ["CANDIDATES", "decrease", "select"]

CANDIDATES = 30  # k of the Thesis


@dataclass
class _State:
    """Features V = K L^-T of all rows, Q Q^T = I + V^T V / noise, and beta = Q^-1 V^T y / noise."""

    V: np.ndarray
    Q: np.ndarray
    beta: np.ndarray
    size: int = 0


def select(model: Model, X: np.ndarray, y: np.ndarray, d: int, seed: int) -> np.ndarray:
    """Return d rows in order of inclusion; O(n d) for each candidate, 30 of them for each inclusion."""
    rng = np.random.default_rng(seed)
    n, noise = len(y), float(model.likelihood.variance)
    state = _State(np.zeros((n, d)), np.zeros((d, d)), np.zeros(d))
    prior = model.kernel.diag(X)
    chosen = np.zeros(n, dtype=bool)
    active = np.empty(d, dtype=np.intp)
    for t in range(d):
        rows = rng.permutation(np.flatnonzero(~chosen))[:CANDIDATES]
        W, C, pivot, beta = decrease(model, X, y, state, rows, prior, noise)
        best = int(np.argmax(beta**2))
        state.V[:, t] = W[:, best]
        state.Q[t, :t], state.Q[t, t], state.beta[t] = C[:, best], pivot[best], beta[best]
        state.size, active[t], chosen[rows[best]] = t + 1, rows[best], True
    return active


def decrease(
    model: Model, X: np.ndarray, y: np.ndarray, state: _State, rows: np.ndarray, prior: np.ndarray, noise: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""New feature, row of Q, its pivot and entry of beta for each candidate; the objective falls by beta^2 / 2.

    The objective is minus the log posterior of the weights, :math:`|y - V v|^2 / 2 \sigma^2 + |v|^2 / 2`, whose
    minimum over v is :math:`|y|^2 / 2 \sigma^2 - |\beta|^2 / 2`.
    """
    t = state.size
    V, Q = state.V[:, :t], state.Q[:t, :t]
    K = model.kernel(X, X[rows])
    left = prior[rows] - np.einsum("ij,ij->i", V[rows], V[rows])
    W = (K - V @ V[rows].T) / np.sqrt(np.maximum(left, 1e-10 * prior[rows]))
    C = solve_triangular(Q, V.T @ W / noise, lower=True) if t else np.zeros((0, len(rows)))
    pivot = np.sqrt(1.0 + np.einsum("ij,ij->j", W, W) / noise - np.einsum("ij,ij->j", C, C))
    return W, C, pivot, (W.T @ y / noise - C.T @ state.beta[:t]) / pivot
