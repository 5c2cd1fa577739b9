"""Limits on memory, time and threads that a user sets."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..inference import predict_bytes as sweep_bytes
from ..runtime import limited
from ..selection.cost import predict_bytes
from ..selection.schedule import Schedule

__all__ = ["feature_entries", "memory_limit", "shown_bytes", "stub_entries", "threads", "time_limit"]

_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_FEWEST = 64  # rows that the selection index must have room for


def memory_limit(max_memory: Any) -> int:
    """Return a number of bytes from a number or a text like "2GB"; None is half of what is available."""
    if max_memory is None:
        return _available() // 2
    if isinstance(max_memory, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([a-zA-Z]+)\s*", max_memory)
        if match and match[2].upper() in _UNITS:
            return int(float(match[1]) * _UNITS[match[2].upper()])
    elif (
        isinstance(max_memory, int | float | np.number) and not isinstance(max_memory, bool) and 0 < max_memory < np.inf
    ):
        return int(max_memory)
    raise ParameterError(f"max_memory must be a number of bytes or a text such as '2GB', got {max_memory!r}")


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return 8 * 2**30


def shown_bytes(size: float) -> str:
    """Return a size for people to read."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def stub_entries(limit: int, n: int, p: int, d: int, schedule: Schedule, itemsize: int) -> int:
    """Return how many numbers the stub matrix may hold within the limit, at most n d."""
    fewest = min(n, _FEWEST) * d
    least = predict_bytes(n, p, d, schedule, itemsize, fewest)
    if least > limit:
        raise ParameterError(_not_enough(limit, n, d, least))
    room = limit - predict_bytes(n, p, d, schedule, itemsize, n * d)  # negative where not all stubs fit
    return int(max(min(n * d, n * d + room // itemsize), fewest))


def _not_enough(limit: int, n: int, d: int, least: int) -> str:
    return (
        f"max_memory of {shown_bytes(limit)} is not enough for {n} rows and {d} active ones: at least "
        f"{shown_bytes(least)} are needed. Raise max_memory or lower n_active"
    )


def feature_entries(limit: int, n: int, p: int, d: int, itemsize: int) -> int:
    """Return how many numbers of V may be kept within the limit, at most n d."""
    least = sweep_bytes(n, p, d, itemsize, 0)
    if least > limit:
        raise ParameterError(_not_enough(limit, n, d, least))
    return int(min(n * d, (limit - least) // itemsize))


def time_limit(max_time: Any) -> float:
    """Return a number of seconds; None is without limit."""
    if max_time is None:
        return float("inf")
    if isinstance(max_time, int | float | np.number) and not isinstance(max_time, bool) and max_time > 0:
        return float(max_time)
    raise ParameterError(f"max_time must be a positive number of seconds, got {max_time!r}")


@contextmanager
def threads(n_jobs: Any) -> Iterator[None]:
    """Limit the threads of the linear algebra; None leaves them alone, -1 takes all processors."""
    if n_jobs is None:
        yield
        return
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ParameterError(f"n_jobs must be None, -1 or a number of threads, got {n_jobs!r}")
    n_threads = int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    with limited(n_threads):
        yield
