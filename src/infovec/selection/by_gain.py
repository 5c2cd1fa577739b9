"""Selection by the information gain of the projected posterior."""

import time
from collections.abc import Sequence

import numpy as np

from .._types import Floats, Mask, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..runtime import NEVER, Deadline, Progress, StopReason
from ..shards import Group, SiteShard, together
from .gain_blocks import choose_block
from .schedule import Patience, Schedule

__all__ = ["GainDriver"]

_FIRST = 4  # rows chosen at random before there is a posterior to gain from


class GainDriver:
    """Adds rows in blocks, each chosen given the projected posterior of those before (Thesis algorithm 2).

    Parameters
    ----------
    shards : sequence of SiteShard
        All rows; their numbers are positions in ``priority`` and ``held_back``.
    kernel, likelihood
        The model.
    capacity : int
        Largest active set.
    schedule : Schedule
        Sizes of blocks and pools.
    priority : array of float
        The first rows are those of the highest.
    held_back : array of bool
        Rows that never become active.
    """

    sites = None  # inference starts from nothing

    def __init__(
        self,
        shards: Sequence[SiteShard] | Group,
        kernel: Kernel,
        likelihood: Likelihood,
        capacity: int,
        schedule: Schedule,
        priority: Floats,
        held_back: Mask,
    ) -> None:
        self.shards, self.kernel, self.likelihood = together(shards), kernel, likelihood
        self.schedule, self.held_back, self.priority = schedule, held_back, priority
        self.size, self.n_rows = 0, int(np.sum(~held_back))
        self.active: Rows = np.empty(capacity, dtype=np.intp)
        self.scores, self.seconds = np.zeros(capacity), np.zeros(capacity)
        self._seconds = 0.0

    def _append(self, rows: Rows, gains: Floats, seconds: float) -> None:
        new = slice(self.size, self.size + len(rows))
        self.active[new], self.scores[new], self.seconds[new] = rows, gains, seconds
        self.size += len(rows)

    def include(self, rows: Rows, deadline: Deadline = NEVER) -> None:
        """Make given rows active first."""
        self._append(rows, np.zeros(len(rows)), 0.0)

    def run(self, wanted: int, deadline: Deadline = NEVER, patience: Patience | None = None) -> StopReason:
        """Add rows until ``wanted`` are in, or something else ends it."""
        start = time.perf_counter()
        if self.size == 0:
            order = np.argsort(-np.where(self.held_back, -1.0, self.priority))[: min(_FIRST, wanted, self.n_rows)]
            self._append(order, np.zeros(len(order)), 0.0)
        reason = None
        while self.size < wanted and not (reason := deadline.reason):
            block, pool = self.schedule.sizes(self.size)
            size, active = min(block, wanted - self.size), self.active[: self.size]
            barred = np.union1d(np.flatnonzero(self.held_back), active)
            rows, gains = choose_block(
                self.shards, self.kernel, self.likelihood, active, barred, size, max(pool, 6 * block)
            )
            if not len(rows):
                reason = StopReason.EXHAUSTED if self.size == self.n_rows else StopReason.UNINFORMATIVE
                break
            seconds = self._seconds + time.perf_counter() - start
            self._append(rows, gains, seconds)
            deadline.listener.tell(Progress(self.size, wanted, gains[-1], seconds, None))
        self._seconds += time.perf_counter() - start
        return deadline.listener.reason or reason or StopReason.COMPLETE

    def considered(self) -> Rows:
        """Return the rows that may still be included."""
        free = ~self.held_back
        free[self.active[: self.size]] = False
        return np.flatnonzero(free)

    def release(self) -> None:
        """Give back the memory of the shard; what was found stays, and nothing can be added."""
        self.shards.release()

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` rows."""
        self.size = size

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows."""
        more = max(capacity - len(self.active), 0)
        self.active = np.pad(self.active, (0, more))
        self.scores, self.seconds = np.pad(self.scores, (0, more)), np.pad(self.seconds, (0, more))
