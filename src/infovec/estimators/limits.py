"""Limits on memory, time and threads that a user sets."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..errors import ParameterError
from ..runtime import limited

__all__ = ["memory_limit", "threads", "time_limit"]

_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SPAN = re.compile(r"(\d+(?:\.\d*)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def memory_limit(max_memory: object) -> int:
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


def time_limit(max_time: object) -> float:
    """Return a number of seconds; None is without limit."""
    if max_time is None:
        return float("inf")
    if isinstance(max_time, int | float | np.number) and not isinstance(max_time, bool) and max_time > 0:
        return float(max_time)
    found = _SPAN.fullmatch(max_time.strip().lower()) if isinstance(max_time, str) else None
    remedy = f": give max_time={float(found[1]) * _SECONDS[found[2][:1]]:g}" if found else ""
    raise ParameterError(f"max_time must be a positive number of seconds, got {max_time!r}{remedy}")


@contextmanager
def threads(n_jobs: object) -> Iterator[None]:
    """Limit the threads of the linear algebra; None leaves them alone, -1 takes all processors."""
    if n_jobs is None:
        yield
        return
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ParameterError(f"n_jobs must be None, -1 or a number of threads, got {n_jobs!r}")
    n_threads = int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    with limited(n_threads):
        yield
