"""Measuring how long something takes."""

import time
from collections.abc import Callable

__all__ = ["best_of_three"]


def best_of_three(action: Callable[[], object]) -> float:
    """Seconds that an action takes when nothing else gets in its way."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best
