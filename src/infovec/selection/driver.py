"""The driver: greedy inclusion over shards, in blocks. Blocks of one are the papers' algorithm."""

import time
from collections.abc import Sequence

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from ..runtime import NEVER, Deadline, Progress, StopReason, check, own_threads
from ..scores import Score
from ..shards import Candidates, Group, Inclusions, Representation, Shard, share, together
from .inclusion import stack
from .pool import Pool
from .schedule import Patience, Schedule

__all__ = ["Driver"]


class Driver:
    """Chooses rows one block at a time and keeps L, beta and the sites of the chosen ones.

    1. Every shard offers its best rows by the marginals it has; the best of all form the pool.
    2. Inside the pool the exact greedy algorithm includes a block of rows.
    3. Every shard absorbs the block.

    With blocks of one the pool is the single best row of all, which is algorithm 1 of NIPS03, SLH and LSH05.

    Parameters
    ----------
    shards : sequence of Shard
        The training set; all rows have distinct numbers. Any division of it gives the same model, to rounding, as long
        as no shard drops rows from its index: which it drops depends on what else it has.
    kernel, likelihood, score
        The model, and what to select by.
    capacity : int
        Largest active set.
    schedule : Schedule
        Sizes of blocks and pools.
    """

    def __init__(
        self,
        shards: Sequence[Shard] | Group,
        kernel: Kernel,
        likelihood: Likelihood,
        score: Score,
        capacity: int,
        schedule: Schedule = Schedule(),
    ) -> None:
        self.shards, self.kernel, self.likelihood, self.score = together(shards), kernel, likelihood, score
        self.schedule, self.capacity = schedule, capacity
        self.facts = self.shards.map("facts")
        self.n_rows = sum(facts.n_free for facts in self.facts)
        self.size, self._seconds = 0, 0.0
        self.active: Rows = np.empty(capacity, dtype=np.intp)
        self._L = np.zeros((capacity, capacity))
        self.beta, self.precision, self.site_mean, self.y = (np.empty(capacity) for _ in range(4))
        self.scores, self.seconds = np.empty(capacity), np.empty(capacity)
        self._X: list[Inputs] = []
        self._absorbing = False

    def include(self, rows: Rows, deadline: Deadline = NEVER) -> None:
        """Include given rows first, in order; rows that are not informative are passed over."""
        start = time.perf_counter()
        if len(rows):
            self.shards.broadcast("pin", rows)
        for row in rows:
            if deadline.listener.reason:
                break
            self._step(_merge(self.shards.map("this", int(row)), 1), 1, start)
        if len(rows):
            self.shards.broadcast("unpin")
        self._seconds += time.perf_counter() - start

    def run(self, wanted: int, deadline: Deadline = NEVER, patience: Patience | None = None) -> StopReason:
        """Include the most informative rows until ``wanted`` are in, or something else ends it.

        Whoever asks for an end gets it after the block under way: the rows included so far stand.
        """
        start = time.perf_counter()
        with own_threads():
            self._catch_up()
            reason = self._loop(wanted, deadline, start, patience)
            if patience and 0 < patience.best_size < self.size:
                self.rewind(patience.best_size)
        self._seconds += time.perf_counter() - start
        return deadline.listener.reason or reason

    def _loop(self, wanted: int, deadline: Deadline, start: float, patience: Patience | None) -> StopReason:
        while self.size < wanted:
            if self.size == self.n_rows:
                return StopReason.EXHAUSTED
            check()
            reason = deadline.reason if self.size else deadline.listener.reason  # one row is better than none
            if reason:
                return reason
            block, pool_size = self.schedule.sizes(self.size)
            self._refill()
            pool = _merge(self.shards.map("candidates", pool_size), pool_size)
            if not self._step(pool, min(block, wanted - self.size), start):
                return StopReason.EXHAUSTED if self.size == self.n_rows else StopReason.UNINFORMATIVE
            held_back, last = self.held_back() if deadline.listener.callback or patience else None, self.size - 1
            deadline.listener.tell(Progress(self.size, wanted, self.scores[last], self.seconds[last], held_back))
            if patience and held_back is not None and patience.ends(self.size, held_back):
                return StopReason.SETTLED
        return StopReason.COMPLETE

    def _refill(self) -> None:
        """Tell the shards that make stubs from nothing what they need for it."""
        if any(facts.refilled for facts in self.facts):
            self.shards.broadcast("refill", self.representation())

    def _step(self, candidates: Candidates, size: int, start: float) -> int:
        """Run a pool and tell all shards; return how many rows came in."""
        if not len(candidates.rows):
            return 0
        likelihood = self.likelihood.take(candidates.rows)
        min_var = self.facts[0].min_var
        pool = Pool(candidates, min(size, len(candidates.rows)), self.kernel, likelihood, self.score, min_var)
        block = pool.run()
        if len(block.rows):
            self._absorbing = True
            self.shards.broadcast("absorb", block)
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
            n = sum(facts.n_rows for facts in self.facts)
            self.shards.map_each(
                "enlarge",
                [
                    (capacity, None if max_entries is None else share(max_entries, facts.n_rows, n, capacity))
                    for facts in self.facts
                ],
            )
            self.capacity = capacity

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` inclusions."""
        beta, self.size = self.beta[: self.size], size
        self._X = [stack(self._X)[:size]]
        self.shards.broadcast("rewind", beta, self.active[:size])

    def release(self) -> None:
        """Give back the memory of the shards; what was found stays, and nothing can be added."""
        self.shards.release()
        self.facts = []

    def _catch_up(self) -> None:
        """Put shards right that an error or a second interruption left in the middle of a block."""
        if self._absorbing:
            whole = self.representation()
            self._X = [whole.X]
            self.shards.broadcast("restore", whole, self.active[: self.size])
            self._absorbing = False

    def representation(self) -> Representation:
        """Return the active set as shards need it to make stubs from nothing."""
        d = self.size
        X = stack(self._X)[:d] if self._X else self.shards.map("candidates", 0)[0].X
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

    def considered(self) -> Rows:
        """Return the rows that may still be included, the selection index J."""
        return np.concatenate(self.shards.map("considered"))

    def outside(self) -> Rows:
        """Return the rows that are considered and not included, with those held back."""
        return np.concatenate(self.shards.map("outside"))

    def log_likelihood_outside(self) -> float:
        """Sum of log Z over all rows that are considered and not included."""
        return float(self.shards.reduce("log_likelihood_outside"))

    def held_back(self) -> float | None:
        """Mean log likelihood of the rows held back, or None if there are none."""
        sums, counts = zip(*self.shards.map("log_likelihood_held_back"), strict=True)
        return sum(sums) / sum(counts) if sum(counts) else None


def _merge(offers: Sequence[Candidates], size: int) -> Candidates:
    """Return the best candidates of all shards, best first, as each shard offers its own."""
    if len(offers) == 1:
        return offers[0]
    columns = [list(column) for column in zip(*offers, strict=True)]
    stubs: Floats = np.concatenate(columns[3], axis=1)
    rows, y, *rest = (np.concatenate(columns[k]) for k in (0, 2, 4, 5, 6, 7))
    merged = Candidates(rows, stack(columns[1]), y, stubs, *rest)
    return merged.take(np.lexsort((merged.rows, -merged.key))[:size])  # of equal keys the first rows, in any division
