"""Selection by the information gain of the projected posterior, with the face of a driver."""

import time

import numpy as np

from .._types import Floats, Mask, Rows
from ..runtime import Interruption
from ..shards import ProjectedShard
from .driver import Callback, Progress, StopReason
from .gain_blocks import choose_block
from .schedule import Patience, Schedule

__all__ = ["GainDriver"]

_FIRST = 4  # rows chosen at random before there is a posterior to gain from


class GainDriver:
    """Adds rows in blocks, each chosen given the projected posterior of those before (Thesis algorithm 2).

    Parameters
    ----------
    shard : ProjectedShard
        All rows.
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
        self, shard: ProjectedShard, capacity: int, schedule: Schedule, priority: Floats, held_back: Mask
    ) -> None:
        self.shard, self.schedule, self.held_back, self.priority = shard, schedule, held_back, priority
        self.size, self.n_rows, self.shards = 0, int(np.sum(~held_back)), [shard]
        self.active: Rows = np.empty(capacity, dtype=np.intp)
        self.scores, self.seconds = np.zeros(capacity), np.zeros(capacity)
        self._seconds = 0.0

    def _append(self, rows: Rows, gains: Floats, seconds: float) -> None:
        new = slice(self.size, self.size + len(rows))
        self.active[new], self.scores[new], self.seconds[new] = rows, gains, seconds
        self.size += len(rows)

    def include(self, rows: Rows) -> None:
        """Make given rows active first."""
        self._append(rows, np.zeros(len(rows)), 0.0)

    def run(
        self,
        wanted: int,
        callback: Callback | None = None,
        max_seconds: float = np.inf,
        patience: Patience | None = None,
    ) -> StopReason:
        """Add rows until ``wanted`` are in, or something else ends it."""
        start = time.perf_counter()
        if self.size == 0:
            order = np.argsort(-np.where(self.held_back, -1.0, self.priority))[: min(_FIRST, wanted, self.n_rows)]
            self._append(order, np.zeros(len(order)), 0.0)
        with Interruption() as interruption:
            reason = StopReason.COMPLETE
            while self.size < wanted:
                if interruption.asked or time.perf_counter() - start > max_seconds:
                    reason = StopReason.INTERRUPTED if interruption.asked else StopReason.TIME
                    break
                block, pool = self.schedule.sizes(self.size)
                size, active = min(block, wanted - self.size), self.active[: self.size]
                rows, gains = choose_block(self.shard, active, self.held_back, size, max(pool, 6 * block))
                if not len(rows):
                    reason = StopReason.EXHAUSTED if self.size == self.n_rows else StopReason.UNINFORMATIVE
                    break
                seconds = self._seconds + time.perf_counter() - start
                self._append(rows, gains, seconds)
                if callback and callback(Progress(self.size, wanted, gains[-1], seconds, None)):
                    reason = StopReason.CALLBACK
                    break
        self._seconds += time.perf_counter() - start
        return reason

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` rows."""
        self.size = size

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows."""
        more = max(capacity - len(self.active), 0)
        self.active = np.pad(self.active, (0, more))
        self.scores, self.seconds = np.pad(self.scores, (0, more)), np.pad(self.seconds, (0, more))
