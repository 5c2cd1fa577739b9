"""Measuring how long something takes."""

import time
from collections.abc import Callable

__all__ = ["best_of_three", "seconds_per_row"]

_SIZES, _ENOUGH = (64, 512, 4096), 5e-4  # rows to measure with: more as long as they take less than so many seconds


def best_of_three(action: Callable[[], object]) -> float:
    """Seconds that an action takes when nothing else gets in its way."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def seconds_per_row(once: Callable[[int], Callable[[], object]], n: int) -> float:
    """Seconds for a row of some work on many of them, measured on as few as tell.

    Parameters
    ----------
    once : callable
        Returns what to do with so many rows; what it takes to return it does not count.
    n : int
        Rows there are, at least one.
    """
    once(1)()  # tables and buffers are made
    for size in _SIZES:
        size, action = min(size, n), once(min(size, n))
        start = time.perf_counter()
        action()
        seconds = time.perf_counter() - start
        if seconds > _ENOUGH or size == n:
            break
    return seconds / size
