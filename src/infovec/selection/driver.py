"""The driver: greedy inclusion over shards, in blocks. Blocks of one are the papers' algorithm."""

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
from ..runtime import Interruption, check, own_threads
from ..scores import Score
from ..shards import Candidates, Inclusions, LocalShard, RefilledShard, Representation
from .pool import Pool
from .schedule import Patience, Schedule

__all__ = ["Callback", "Driver", "Progress", "StopReason"]


class StopReason(StrEnum):
    """Why selection ended."""

    COMPLETE = "the active set has the size asked for"
    EXHAUSTED = "all rows are included"
    UNINFORMATIVE = "no remaining row is informative"
    SETTLED = "rows held back are predicted no better"
    TIME = "the time is used up"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted from the keyboard"


class Progress(NamedTuple):
    """State of a selection, as a callback sees it after every block."""

    included: int
    wanted: int
    score: float
    seconds: float
    held_back: float | None  # mean log likelihood of rows held back, if there are any
    log_evidence: float | None = None  # during inference with all rows, which follows; ``score`` is the largest change


Callback: TypeAlias = Callable[[Progress], object]
"""Called after every block; a true answer ends the selection."""


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
        self.schedule, self.capacity = schedule, capacity
        self.n_rows = sum(int(np.sum(~shard.held_back)) for shard in shards)
        self.size, self._seconds = 0, 0.0
        self.active: Rows = np.empty(capacity, dtype=np.intp)
        self._L = np.zeros((capacity, capacity))
        self.beta, self.precision, self.site_mean, self.y = (np.empty(capacity) for _ in range(4))
        self.scores, self.seconds = np.empty(capacity), np.empty(capacity)
        self._X: list[Inputs] = []
        self._absorbing = self._interrupted = False

    def include(self, rows: Rows) -> None:
        """Include given rows first, in order; rows that are not informative are passed over."""
        start = time.perf_counter()
        for shard in self.shards:
            shard.pinned = shard.held_back | np.isin(shard.rows, rows)
        with Interruption() as interruption:
            for row in rows:
                if interruption.asked:
                    break
                offered = [shard.this(row) for shard in self.shards]
                self._step(_merge(offered, 1), 1, start)
        for shard in self.shards:
            shard.pinned = shard.held_back
        self._interrupted = interruption.asked and interruption.outermost  # for the run that follows
        self._seconds += time.perf_counter() - start

    def run(
        self,
        wanted: int,
        callback: Callback | None = None,
        max_seconds: float = np.inf,
        patience: Patience | None = None,
    ) -> StopReason:
        """Include the most informative rows until ``wanted`` are in, or something else ends it.

        An interruption from the keyboard ends it too, after the block under way: the rows included so far stand.
        """
        start = time.perf_counter()
        with Interruption() as interruption, own_threads():
            before, self._interrupted = self._interrupted, False
            self._catch_up()
            if before:
                reason = StopReason.INTERRUPTED
            else:
                reason = self._loop(wanted, callback, start, max_seconds, patience, interruption)
            if patience and 0 < patience.best_size < self.size:
                self.rewind(patience.best_size)
        self._seconds += time.perf_counter() - start
        return StopReason.INTERRUPTED if interruption.asked else reason

    def _loop(
        self,
        wanted: int,
        callback: Callback | None,
        start: float,
        max_seconds: float,
        patience: Patience | None,
        interruption: Interruption,
    ) -> StopReason:
        while self.size < wanted:
            if self.size == self.n_rows:
                return StopReason.EXHAUSTED
            check()
            if interruption.asked:
                return StopReason.INTERRUPTED
            if self.size and time.perf_counter() - start > max_seconds:  # a model of one row is better than none
                return StopReason.TIME
            block, pool_size = self.schedule.sizes(self.size)
            for shard in self.shards:
                if isinstance(shard, RefilledShard):
                    shard.refill(self.representation())
            pool = _merge([shard.candidates(pool_size) for shard in self.shards], pool_size)
            if not self._step(pool, min(block, wanted - self.size), start):
                return StopReason.EXHAUSTED if self.size == self.n_rows else StopReason.UNINFORMATIVE
            held_back = self.held_back() if callback or patience else None
            last = self.size - 1
            if callback and callback(Progress(self.size, wanted, self.scores[last], self.seconds[last], held_back)):
                return StopReason.CALLBACK
            if patience and held_back is not None and patience.ends(self.size, held_back):
                return StopReason.SETTLED
        return StopReason.COMPLETE

    def _step(self, candidates: Candidates, size: int, start: float) -> int:
        """Run a pool and tell all shards; return how many rows came in."""
        if not len(candidates.rows):
            return 0
        likelihood = self.likelihood.take(candidates.rows)
        min_var = self.shards[0].min_var
        pool = Pool(candidates, min(size, len(candidates.rows)), self.kernel, likelihood, self.score, min_var)
        block = pool.run()
        if len(block.rows):
            self._absorbing = True
            for shard in self.shards:
                shard.absorb(block)
            self._append(block, pool, self._seconds + time.perf_counter() - start)
            self._absorbing = False
        return len(block.rows)

    def _append(self, block: Inclusions, pool: Pool, seconds: float) -> None:
        t, new = self.size, slice(self.size, self.size + len(block.rows))
        self.active[new], self.beta[new] = block.rows, block.beta
        self._L[new, :t], self._L[new, new] = block.L_left, block.L_corner
        self.precision[new], self.site_mean[new] = pool.precision, pool.site_mean
        self.y[new] = pool.candidates.y[pool.order]
        self.scores[new], self.seconds[new] = pool.scores, seconds
        self._X.append(block.X)
        self.size += len(block.rows)

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more inclusions; nothing is computed anew."""
        more = capacity - self.capacity
        if more > 0:
            self._L = np.pad(self._L, (0, more))
            for name in ("active", "beta", "precision", "site_mean", "y", "scores", "seconds"):
                setattr(self, name, np.pad(getattr(self, name), (0, more)))
            for shard in self.shards:
                shard.enlarge(capacity, max_entries)
            self.capacity = capacity

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` inclusions."""
        beta, self.size = self.beta[: self.size], size
        self._X = [_stack(self._X)[:size]]
        for shard in self.shards:
            shard.rewind(beta, self.active[:size])

    def _catch_up(self) -> None:
        """Put shards right that an error or a second interruption left in the middle of a block."""
        if self._absorbing:
            whole = self.representation()
            self._X = [whole.X]
            for shard in self.shards:
                shard.restore(whole, self.active[: self.size])
            self._absorbing = False

    def representation(self) -> Representation:
        """Return the active set as shards need it to make stubs from nothing."""
        d = self.size
        X = _stack(self._X)[:d] if self._X else self.shards[0].X[:0]
        return Representation(X, np.sqrt(self.precision[:d]), self._L[:d, :d], self.beta[:d])

    def posterior(self, X: Inputs) -> FactorisedPosterior:
        """Return the posterior given the rows included so far; X holds the inputs of all training rows."""
        d = self.size
        X = self.kernel.in_double(X[self.active[:d]])
        sites = self.precision[:d].copy(), self.site_mean[:d].copy()
        return FactorisedPosterior(self.kernel, X, *sites, self._L[:d, :d].copy(), self.beta[:d].copy())

    @property
    def sites(self) -> tuple[Rows, Floats, Floats]:
        """Active rows with the precisions and shifts of their sites."""
        d = self.size
        return self.active[:d], self.precision[:d], self.precision[:d] * self.site_mean[:d]

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over all rows that are considered and not included."""
        return sum(shard.log_likelihood_outside() for shard in self.shards)

    def held_back(self) -> float | None:
        """Mean log likelihood of the rows held back, or None if there are none."""
        sums, counts = zip(*(shard.log_likelihood_held_back() for shard in self.shards), strict=True)
        return sum(sums) / sum(counts) if sum(counts) else None


def _stack(parts: Sequence[Inputs]) -> Inputs:
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _merge(offers: Sequence[Candidates], size: int) -> Candidates:
    """Return the best candidates of all shards, best first, as each shard offers its own."""
    if len(offers) == 1:
        return offers[0]
    columns = [list(column) for column in zip(*offers, strict=True)]
    stubs: Floats = np.concatenate(columns[3], axis=1)
    rows, y, *rest = (np.concatenate(columns[k]) for k in (0, 2, 4, 5, 6, 7))
    merged = Candidates(rows, _stack(columns[1]), y, stubs, *rest)
    return merged.take(np.argsort(-merged.key, kind="stable")[:size])
