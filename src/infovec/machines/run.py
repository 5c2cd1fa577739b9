"""One course of work on a machine: who chooses rows, who is told, and until when."""

import time
from collections.abc import Callable

import numpy as np

from .._types import Rows
from ..runtime import Deadline, Interruption
from ..selection import Chooser, Patience, Progress, Selector, StopReason

__all__ = ["Run"]

_LAST = 0.1  # seconds for calibration, if there are none left


class Run:
    """Selection and the inference that follows it, within one budget of time.

    Parameters
    ----------
    selector : Chooser
        A Selector, where it can select by itself.
    tell : callable, optional
        Told of every block and every sweep; a true answer ends the run.
    max_seconds : float
    soon : float
        Seconds that an interruption leaves for what is still to be done.
    telling : array of int, optional
        Rows of which is asked what the posterior says without their own sites.
    before : float
        Log evidence of other functions that were fitted before: then something is needed of this one in any case.
    """

    def __init__(
        self,
        selector: Chooser,
        tell: Callable[[Progress], bool] | None = None,
        max_seconds: float = np.inf,
        soon: float = np.inf,
        telling: Rows | None = None,
        before: float | None = None,
    ) -> None:
        self.selector, self.tell, self.soon, self.telling, self.before = selector, tell, soon, telling, before
        self.end, self.late = time.perf_counter() + max_seconds, False  # late: whether sweeps ended for want of time

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(self.end - time.perf_counter(), 0.0)

    @property
    def last(self) -> float:
        """Seconds left, or a few more, for what must be done in any case."""
        return max(self.left, _LAST)

    @property
    def timed(self) -> bool:
        """Whether there is a limit."""
        return bool(np.isfinite(self.end))

    def deadline(self, interruption: Interruption) -> Deadline:
        """Return when to end, with the interruptions that are noted."""
        return Deadline(self.end, lambda: interruption.asked)

    def hurry(self) -> None:
        """End soon."""
        self.end = min(self.end, time.perf_counter() + self.soon)

    def select(self, wanted: int, patience: Patience | None, share: float = 1.0) -> StopReason:
        """Include rows until ``wanted`` are in, in a share of the time left at most."""
        with Interruption() as interruption:
            assert isinstance(self.selector, Selector)
            stop = self.selector.run(wanted, self.tell, share * self.left, patience)
            if self.selector.size or stop is not StopReason.INTERRUPTED:
                return stop
            if self.before is None:
                raise KeyboardInterrupt
            interruption.answer()
            self.selector.run(wanted, self.tell, 0.0)
            return StopReason.INTERRUPTED
