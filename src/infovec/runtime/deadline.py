"""When work must end: loops that may take long look here, and whoever gave them the work takes what there is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["NEVER", "Deadline", "Late", "check", "current", "work_until"]


class Late(Exception):
    """There is no time left to finish this."""


class Deadline(NamedTuple):
    """A moment of the clock, and whether somebody asks for an end before it."""

    end: float = float("inf")  # by time.perf_counter
    asked: Callable[[], bool] = bool

    @property
    def left(self) -> float:
        """Seconds left, at least zero."""
        return 0.0 if self.asked() else max(self.end - time.perf_counter(), 0.0)

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
