"""Exact greedy selection inside a pool of candidates (NIPS03 algorithm 1, with the pool for J)."""

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..runtime import for_each, parts
from ..scores import Score
from ..shards import Candidates, Inclusions, break_ties, open_scores

__all__ = ["Pool"]


class Pool:
    """Candidates whose marginals follow every inclusion made among them.

    Parameters
    ----------
    candidates : Candidates
        Best first, with their keys.
    size : int
        How many to include at most.
    likelihood : Likelihood
        Of these rows.
    min_var : float
        Share of the prior variance that counts as rounding.
    """

    def __init__(
        self,
        candidates: Candidates,
        size: int,
        kernel: Kernel,
        likelihood: Likelihood,
        score: Score,
        min_var: float,
    ) -> None:
        k, t = len(candidates.rows), len(candidates.stubs)
        self.candidates, self.likelihood, self.score, self.min_var = (
            candidates,
            likelihood,
            score,
            min_var,
        )
        self.mean, self.var, self.key = (
            candidates.mean.copy(),
            candidates.var.copy(),
            candidates.key,
        )
        self.taken, self.priority = np.isneginf(candidates.key), np.linspace(1.0, 0.0, k)
        self.A = _covariance(candidates, kernel)
        self.R = np.empty((size, k))  # new rows of M, on the pool
        self.L_left, self.L_corner = np.empty((size, t)), np.zeros((size, size))
        self.order: list[int] = []
        self.precision: list[float] = []
        self.site_mean: list[float] = []
        self.beta: list[float] = []
        self.scores: list[float] = []

    def run(self) -> Inclusions:
        """Include the best row again and again until ``size`` are in or none is worth it."""
        refused = False
        while len(self.order) < len(self.R):
            if self.order or refused:
                value = open_scores(
                    self.score, self.likelihood, self.candidates.y, self.mean, self.var, self.candidates.prior_var,
                    self.taken, self.min_var,
                )  # fmt: skip
                self.key = break_ties(value, self.priority)
            i = int(np.argmax(self.key))
            if not np.isfinite(self.key[i]):
                break
            refused = not self._include(len(self.order), i)
        chosen, q = np.array(self.order, dtype=np.intp), len(self.order)
        return Inclusions(
            self.candidates.rows[chosen], self.candidates.X[chosen], np.sqrt(self.precision),
            self.L_left[:q], self.L_corner[:q, :q], np.array(self.beta),
        )  # fmt: skip

    def _include(self, q: int, i: int) -> bool:
        """Include a row, unless its site is flat when looked at alone: one that is lost in rounding among others."""
        at = slice(i, i + 1)
        y, mean, var = self.candidates.y[at], self.mean[at], self.var[at]
        likelihood = self.likelihood.take(np.array([i]))
        tilted = likelihood.tilted(y, mean, var)
        site = likelihood.site(y, mean, var, tilted)
        self.taken[i] = True
        if not site.precision[0] > 0.0:
            return False
        self.scores.append(float(self.score(*tilted, mean, var)[0]))
        pi, b, h, a = (float(v[0]) for v in (site.precision, site.b, mean, var))
        root, corner = np.sqrt(pi), np.sqrt(1.0 + pi * a)  # SLH C.1: pi^1/2 and l
        R = self.R
        R[q] = (root / corner) * (self.A[i] - R[:q, i] @ R[:q])  # mu
        self.beta.append((b - pi * h) / (root * corner))  # alpha l pi^-1/2
        self.L_left[q] = root * self.candidates.stubs[:, i]
        self.L_corner[q, :q], self.L_corner[q, q] = root * R[:q, i], corner
        self.mean += self.beta[q] * R[q]
        self.var -= R[q] ** 2
        self.order.append(i)
        self.precision.append(pi)
        self.site_mean.append(b / pi)
        return True


def _covariance(candidates: Candidates, kernel: Kernel) -> Floats:
    """Posterior covariance of the pool, K_C - M_C' M_C; of a single row its variance."""
    if len(candidates.rows) == 1:
        return candidates.var[:, None]
    A = np.array(kernel(candidates.X), dtype=np.float64)
    stubs = candidates.stubs

    def subtract(part: slice) -> None:
        A[part] -= stubs[:, part].T @ stubs

    for_each(subtract, parts(len(A), max(64, -(-len(A) // 4))))
    return A
