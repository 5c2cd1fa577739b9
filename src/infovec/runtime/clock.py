"""Measuring how long something takes."""

import time
from collections.abc import Callable

from .threads import n_threads, own_threads

__all__ = ["best_of_three", "seconds_of", "seconds_per_row"]

_SHORT = 1e-2  # seconds of what is measured again
_FINE = 1e-5  # seconds that a clock must tell apart
_SIZES, _ENOUGH = (64, 512, 4096), 5e-4  # rows to measure with: more as long as they take less than so many seconds


def seconds_of(action: Callable[[], object], alone: bool = False) -> float:
    """Seconds that an action takes, of this thread alone or by the clock."""
    clock = time.thread_time if alone else time.perf_counter
    start = clock()
    action()
    return clock() - start


def best_of_three(action: Callable[[], object]) -> float:
    """Seconds that an action takes when nothing else gets in its way; with one thread other programs do not count."""
    alone = n_threads() == 1 and time.get_clock_info("thread_time").resolution < _FINE
    return min(seconds_of(action, alone) for _ in range(3))


def seconds_per_row(once: Callable[[int], Callable[[], object]], n: int) -> float:
    """Seconds for a row of some work on many of them, measured on as few as tell.

    Parameters
    ----------
    once : callable
        Returns what to do with so many rows; what it takes to return it does not count.
    n : int
        Rows there are, at least one.
    """
    with own_threads():  # as in a fit: those of linear algebra would wait for each other on a busy machine
        once(1)()  # tables and buffers are made
        for size in _SIZES:
            size, action = min(size, n), once(min(size, n))
            seconds = seconds_of(action)
            if seconds < _SHORT:  # what other programs do counts for much
                seconds = min(seconds, seconds_of(action), seconds_of(action))
            if seconds > _ENOUGH or size == n:
                break
    return seconds / size
