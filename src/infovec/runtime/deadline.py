"""When work must end: loops that may take long look here, and whoever gave them the work takes what there is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from .interrupt import Interruption
from .progress import Callback, Progress, StopReason

__all__ = ["NEVER", "Deadline", "Late", "Listener", "check", "current", "work_until"]


class Late(Exception):
    """There is no time left to finish this."""


class Listener:
    """Who may ask for an end before the time is over: the keyboard, and whoever is told of progress.

    Parameters
    ----------
    interruption : Interruption, optional
        Entered by whoever makes the listener.
    callback : Callback, optional
    """

    def __init__(self, interruption: Interruption | None = None, callback: Callback | None = None) -> None:
        self.interruption, self.callback, self._stopped = interruption, callback, False

    @property
    def reason(self) -> StopReason | None:
        """Why to end now; None as long as nobody asks for it, or once it is answered."""
        if self.interruption is not None and self.interruption.asked:
            return StopReason.INTERRUPTED
        return StopReason.CALLBACK if self._stopped else None

    def tell(self, progress: Progress) -> None:
        """Tell of progress; a true answer asks for an end."""
        if self.callback is not None:
            self._stopped = bool(self.callback(progress)) or self._stopped

    def answer(self) -> StopReason | None:
        """Return the reason to end, and forget it: whoever calls this ends, so that what follows need not at once."""
        reason, self._stopped = self.reason, False
        if self.interruption is not None:
            self.interruption.answer()
        return reason


NOBODY = Listener()


class Deadline(NamedTuple):
    """When work must end: at a moment of the clock, or before it if somebody asks for that."""

    end: float = float("inf")  # by time.perf_counter
    listener: Listener = NOBODY

    @classmethod
    def after(cls, seconds: float, listener: Listener = NOBODY) -> "Deadline":
        """Return the one that is so many seconds away."""
        return cls(time.perf_counter() + seconds, listener)

    def within(self, seconds: float) -> "Deadline":
        """Return the same, so many seconds away at most."""
        return self._replace(end=min(self.end, time.perf_counter() + seconds))

    def quiet(self) -> "Deadline":
        """Return the same, of whose work nobody is told but in whole."""
        return self._replace(listener=Listener(self.listener.interruption))

    @property
    def timed(self) -> bool:
        """Whether there is a moment at all."""
        return self.end < float("inf")

    @property
    def reason(self) -> StopReason | None:
        """Why to end now, if it is time to."""
        return self.listener.reason or (StopReason.TIME if time.perf_counter() >= self.end else None)

    @property
    def seconds(self) -> float:
        """Seconds until the moment, at least zero, whoever asks for an end before it."""
        return max(self.end - time.perf_counter(), 0.0)

    @property
    def left(self) -> float:
        """Seconds left, at least zero."""
        return 0.0 if self.listener.reason else self.seconds

    @property
    def over(self) -> bool:
        """Whether to end now."""
        return self.left == 0.0

    def check(self) -> None:
        """Raise Late when it is over."""
        if self.over:
            raise Late


NEVER = Deadline()
_current: ContextVar[Deadline | None] = ContextVar("deadline of the work under way", default=None)


def current() -> Deadline:
    """Return the deadline of the work under way; without one it is never."""
    return _current.get() or NEVER


def check() -> None:
    """Raise Late when the time of the work under way is over."""
    current().check()


@contextmanager
def work_until(deadline: Deadline) -> Iterator[Deadline]:
    """Let what is computed inside, and in threads it starts by ``for_each``, raise Late when it is over."""
    token = _current.set(deadline)
    try:
        yield deadline
    finally:
        _current.reset(token)
