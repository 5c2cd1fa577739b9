"""The driver: greedy inclusion over shards, in blocks. A block of one from a pool of one is the papers' algorithm."""

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from ..scores import Score
from ..shards import Candidates, Inclusions, LocalShard
from .pool import Pool
from .schedule import Schedule

__all__ = ["Driver", "Progress", "StopReason"]


class StopReason(StrEnum):
    """Why selection ended."""

    COMPLETE = "the active set has the size asked for"
    EXHAUSTED = "all rows are included"
    UNINFORMATIVE = "no remaining row is informative"


class Progress(NamedTuple):
    """State of a selection, as a callback sees it after every block."""

    included: int
    wanted: int
    score: float
    seconds: float


Callback: TypeAlias = Callable[[Progress], None]


class Driver:
    """Chooses rows one block at a time and keeps L, beta and the sites of the chosen ones.

    1. Every shard offers its best rows by the marginals it has; the best of all form the pool.
    2. Inside the pool the exact greedy algorithm includes a block of rows.
    3. Every shard absorbs the block.

    With blocks of one the pool is the single best row of all, which is algorithm 1 of NIPS03, SLH and LSH05.

    Parameters
    ----------
    shards : sequence of LocalShard
        The training set; all rows have distinct numbers.
    kernel, likelihood, score
        The model, and what to select by.
    capacity : int
        Largest active set.
    schedule : Schedule
        Sizes of blocks and pools.
    """

    def __init__(
        self,
        shards: Sequence[LocalShard],
        kernel: Kernel,
        likelihood: Likelihood,
        score: Score,
        capacity: int,
        schedule: Schedule = Schedule(),
    ) -> None:
        self.shards, self.kernel, self.likelihood, self.score = shards, kernel, likelihood, score
        self.schedule = schedule
        self.n_rows = sum(len(shard.rows) for shard in shards)
        self.size = 0
        self.active: Rows = np.empty(capacity, dtype=np.intp)
        self._L = np.zeros((capacity, capacity))
        self.beta, self.precision, self.site_mean, self.y = (np.empty(capacity) for _ in range(4))
        self.scores, self.seconds = np.empty(capacity), np.empty(capacity)
        self._start = time.perf_counter()

    def include(self, rows: Rows) -> None:
        """Include given rows first, in order; rows that are not informative are passed over."""
        for row in rows:
            offered = [shard.these(np.array([row])) for shard in self.shards]
            self._step(_merge(offered), 1)

    def run(self, wanted: int, callback: Callback | None = None) -> StopReason:
        """Include the most informative rows until ``wanted`` are in."""
        while self.size < wanted:
            if self.size == self.n_rows:
                return StopReason.EXHAUSTED
            block, pool_size = self.schedule.sizes(self.size)
            pool = _merge([shard.candidates(pool_size) for shard in self.shards])
            best = np.argsort(-pool.key, kind="stable")[:pool_size]
            if not self._step(pool.take(best), min(block, wanted - self.size)):
                return StopReason.EXHAUSTED if self.size == self.n_rows else StopReason.UNINFORMATIVE
            if callback is not None:
                last = self.size - 1
                callback(Progress(self.size, wanted, self.scores[last], self.seconds[last]))
        return StopReason.COMPLETE

    def _step(self, candidates: Candidates, size: int) -> int:
        """Run a pool and tell all shards; return how many rows came in."""
        if not len(candidates.rows):
            return 0
        likelihood = self.likelihood.take(candidates.rows)
        min_var = self.shards[0].min_var
        pool = Pool(
            candidates,
            min(size, len(candidates.rows)),
            self.kernel,
            likelihood,
            self.score,
            min_var,
        )
        block = pool.run()
        if len(block.rows):
            for shard in self.shards:
                shard.absorb(block)
            self._append(block, pool)
        return len(block.rows)

    def _append(self, block: Inclusions, pool: Pool) -> None:
        t, new = self.size, slice(self.size, self.size + len(block.rows))
        self.active[new], self.beta[new] = block.rows, block.beta
        self._L[new, :t], self._L[new, new] = block.L_left, block.L_corner
        self.precision[new], self.site_mean[new] = pool.precision, pool.site_mean
        self.y[new] = pool.candidates.y[pool.order]
        self.scores[new], self.seconds[new] = pool.scores, time.perf_counter() - self._start
        self.size += len(block.rows)

    def posterior(self, X: Inputs) -> FactorisedPosterior:
        """Return the posterior given the rows included so far; X holds the inputs of all training rows."""
        d = self.size
        X = X[self.active[:d]]
        X = X if X.dtype == object else X.astype(np.float64)
        sites = self.precision[:d].copy(), self.site_mean[:d].copy()
        return FactorisedPosterior(self.kernel, X, *sites, self._L[:d, :d].copy(), self.beta[:d].copy())

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over all rows that are not included."""
        return sum(shard.log_likelihood_outside() for shard in self.shards)


def _merge(offers: Sequence[Candidates]) -> Candidates:
    """All candidates of all shards."""
    if len(offers) == 1:
        return offers[0]
    columns = [list(column) for column in zip(*offers, strict=True)]
    X = sparse.vstack(columns[1], format="csr") if sparse.issparse(columns[1][0]) else np.concatenate(columns[1])
    stubs: Floats = np.concatenate(columns[3], axis=1)
    rows, y, *rest = (np.concatenate(columns[k]) for k in (0, 2, 4, 5, 6, 7))
    return Candidates(rows, X, y, stubs, *rest)
