"""One active set for many classes: the classes take turns, each selecting for itself against the rest."""

import time
from collections.abc import Callable

import numpy as np

from .._types import Floats, Rows
from ..runtime import NEVER, Deadline, Progress, StopReason
from .driver import Driver
from .schedule import Patience

__all__ = ["InTurns"]


class InTurns:
    """Selects rows for many classes by machines of one class against the rest, in turns.

    Each machine goes on until, together, they have enough distinct rows: for d rows of C classes each includes little
    more than d / C, so that all of them together cost less than one machine with d.

    Parameters
    ----------
    make : callable
        Returns the driver of one class for a number of rows to make room for.
    n_classes, capacity, n_rows : int
        Number of classes, largest active set, and rows that may be included.
    max_entries : int, optional
        Numbers in the stubs of each machine, at most.
    """

    sites = None  # inference starts from nothing

    def __init__(
        self,
        make: Callable[[int, int], Driver],
        n_classes: int,
        capacity: int,
        n_rows: int,
        max_entries: int | None = None,
    ) -> None:
        self._max_entries = max_entries
        self._make, self.n_classes, self.capacity, self.n_rows = make, n_classes, capacity, n_rows
        self._drivers: list[Driver] = []
        self._order: list[int] = []  # all rows selected so far, of which the first ``size`` are active
        self._scores: list[float] = []
        self._times: list[float] = []
        self._offered = [0] * n_classes
        self.size, self._seconds = 0, 0.0

    def release(self) -> None:
        """Give back the memory of all machines; what was found stays, and nothing can be added."""
        for driver in self._drivers:
            driver.release()
        self._drivers = []

    @property
    def active(self) -> Rows:
        """Rows in order of inclusion."""
        return np.array(self._order, dtype=np.intp)

    @property
    def scores(self) -> Floats:
        """Scores at inclusion, each by the machine that chose the row."""
        return np.array(self._scores)

    @property
    def seconds(self) -> Floats:
        """Seconds until inclusion."""
        return np.array(self._times)

    def include(self, rows: Rows, deadline: Deadline = NEVER) -> None:
        """Make given rows active first."""
        for row in rows:
            self._append(int(row), 0.0, self._seconds)
        self.size = len(self._order)

    def _append(self, row: int, score: float, seconds: float) -> None:
        self._order.append(row)
        self._scores.append(score)
        self._times.append(seconds)

    def run(self, wanted: int, deadline: Deadline = NEVER, patience: Patience | None = None) -> StopReason:
        """Add rows until ``wanted`` are in, or something else ends it."""
        start, reason = time.perf_counter(), StopReason.COMPLETE
        while len(self._order) < wanted:
            before, ended = sum(self._offered), self._round(wanted, deadline, start)
            self.size = min(wanted, len(self._order))
            seconds, last = self._seconds + time.perf_counter() - start, self._scores[-1] if self._scores else 0.0
            deadline.listener.tell(Progress(self.size, wanted, last, seconds, None))
            if ended or deadline.listener.reason:
                reason = deadline.listener.reason or StopReason.TIME
                break
            if sum(self._offered) == before:  # no class has anything more to say
                reason = StopReason.EXHAUSTED if len(self._order) == self.n_rows else StopReason.UNINFORMATIVE
                break
        self.size = min(wanted, len(self._order))
        self._seconds += time.perf_counter() - start
        return reason

    def _round(self, wanted: int, deadline: Deadline, began: float) -> bool:
        """Let every class include as many more as should suffice, in turns; say whether that ended early."""
        more = -(-(wanted - len(self._order)) // self.n_classes)
        offers: list[list[tuple[int, float]]] = []
        quiet, ended = deadline.quiet(), False
        for c in range(self.n_classes):
            if quiet.over:
                ended = True
                break
            driver, at = self._driver(c, more), self._offered[c]
            driver.run(at + more, quiet.within(quiet.seconds / (self.n_classes - c)))
            offers.append(list(zip(driver.active[at : driver.size].tolist(), driver.scores[at:], strict=False)))
            self._offered[c] = driver.size
        seconds = self._seconds + time.perf_counter() - began
        known = set(self._order)
        for turn in range(max(map(len, offers), default=0)):
            for offer in offers:
                if turn < len(offer) and offer[turn][0] not in known:
                    known.add(offer[turn][0])
                    self._append(offer[turn][0], float(offer[turn][1]), seconds)
        return ended

    def _driver(self, c: int, more: int) -> Driver:
        """The machine of a class, with room for some more rows."""
        if len(self._drivers) <= c:
            self._drivers.append(self._make(c, more))
        driver = self._drivers[c]
        if driver.capacity < self._offered[c] + more:
            driver.enlarge(self._offered[c] + more, self._max_entries)
        return driver

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` rows; the others stay in line."""
        self.size = size

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows, which is done as they come."""
        self.capacity = capacity
