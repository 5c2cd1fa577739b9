"""Exact greedy selection inside a pool of candidates (NIPS03 algorithm 1, with the pool for J)."""

import numpy as np

from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..scores import Score
from ..shards import Candidates, Inclusions, break_ties, open_scores
from .inclusion import PoolStubs, covariance

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
        self, candidates: Candidates, size: int, kernel: Kernel, likelihood: Likelihood, score: Score, min_var: float
    ) -> None:
        self.candidates, self.likelihood, self.score, self.min_var = candidates, likelihood, score, min_var
        self.key, self.taken = candidates.key, np.isneginf(candidates.key)
        self.priority = np.linspace(1.0, 0.0, len(candidates.rows))
        alone = len(candidates.rows) == 1
        A = candidates.var[:, None] if alone else covariance(kernel, candidates.X, candidates.stubs)
        self.stubs = PoolStubs(A.__getitem__, candidates.stubs, candidates.mean.copy(), candidates.var.copy(), size)
        self.size = size
        self.precision: list[float] = []
        self.site_mean: list[float] = []
        self.scores: list[float] = []

    @property
    def order(self) -> list[int]:
        """Candidates that were included."""
        return self.stubs.order

    def run(self) -> Inclusions:
        """Include the best row again and again until ``size`` are in or none is worth it."""
        refused = False
        while len(self.order) < self.size:
            if self.order or refused:
                value = open_scores(
                    self.score, self.likelihood, self.candidates.y, self.stubs.mean, self.stubs.var,
                    self.candidates.prior_var, self.taken, self.min_var,
                )  # fmt: skip
                self.key = break_ties(value, self.priority)
            i = int(np.argmax(self.key))
            if not np.isfinite(self.key[i]):
                break
            refused = not self._include(i)
        return self.stubs.block(self.candidates.rows, self.candidates.X)

    def _include(self, i: int) -> bool:
        """Include a row, unless its site is flat when looked at alone: one that is lost in rounding among others."""
        at = slice(i, i + 1)
        y, mean, var = self.candidates.y[at], self.stubs.mean[at], self.stubs.var[at]
        likelihood = self.likelihood.take(np.array([i]))
        tilted = likelihood.tilted(y, mean, var)
        site = likelihood.site(y, mean, var, tilted)
        self.taken[i] = True
        if not site.precision[0] > 0.0:
            return False
        self.scores.append(float(self.score(*tilted, mean, var)[0]))
        pi, b = float(site.precision[0]), float(site.b[0])
        self.precision.append(pi)
        self.site_mean.append(b / pi)
        self.stubs.include(i, pi, b)
        return True
