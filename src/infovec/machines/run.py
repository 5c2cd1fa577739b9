"""One course of work on a machine: who chooses rows, until when, and what else is asked of it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..runtime import NEVER, Deadline, Listener, StopReason
from ..selection import Chooser, Patience, Selector

__all__ = ["Moved", "Run"]

_LAST = 0.1  # seconds for calibration, if there are none left


class Moved(NamedTuple):
    """What moving the active inputs has come to."""

    inputs: Floats | None  # as ``given.inside`` has them; None if they stay where they were
    criterion: Floats  # of every evaluation
    loss: Floats  # mean loss of rows left out, before and after

    def outside(self, evidence: Callable[[float, float], float], observations: float) -> "Moved":
        """Return the same in the units of the user, given how a log density of so many targets is there."""
        criterion = np.array([evidence(value, observations) for value in self.criterion])
        return self._replace(criterion=criterion, loss=np.array([-evidence(-value, 1.0) for value in self.loss]))


class Run:
    """Selection and the inference that follows it, within one deadline.

    Parameters
    ----------
    selector : Chooser
        A Selector, where it can select by itself.
    deadline : Deadline
    soon : float
        Seconds that an interruption leaves for what is still to be done.
    telling : array of int, optional
        Rows of which is asked what the posterior says without their own sites.
    before : float, optional
        Log evidence of other functions that were fitted before: then something is needed of this one in any case.
    """

    def __init__(
        self,
        selector: Chooser,
        deadline: Deadline = NEVER,
        soon: float = float("inf"),
        telling: Rows | None = None,
        before: float | None = None,
    ) -> None:
        self.selector, self.deadline, self.soon, self.telling, self.before = selector, deadline, soon, telling, before
        self.moved: Moved | None = None  # what moving the active inputs has come to
        self.late = False  # whether sweeps ended for want of time

    @property
    def listener(self) -> Listener:
        """Who is told, and may ask for an end."""
        return self.deadline.listener

    @property
    def left(self) -> float:
        """Seconds left, whoever asks for an end before."""
        return self.deadline.seconds

    @property
    def last(self) -> float:
        """Seconds left, or a few more, for what must be done in any case."""
        return max(self.left, _LAST)

    def hurry(self, seconds: float | None = None) -> None:
        """End soon, or in so many seconds."""
        self.deadline = self.deadline.within(self.soon if seconds is None else seconds)

    def select(self, wanted: int, patience: Patience | None, share: float = 1.0) -> StopReason:
        """Include rows until ``wanted`` are in, in a share of the time left at most."""
        selector = self.selector
        assert isinstance(selector, Selector)
        stop = selector.run(wanted, self.deadline.within(share * self.left), patience)
        if selector.size or stop is not StopReason.INTERRUPTED:
            return stop
        if self.before is None:
            raise KeyboardInterrupt
        self.listener.answer()
        selector.run(wanted, self.deadline.within(0.0))
        return StopReason.INTERRUPTED
