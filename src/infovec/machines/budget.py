"""Limits on memory, time and threads that a user sets."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError
from ..inference import predict_bytes as sweep_bytes
from ..likelihoods.classes import moments_bytes
from ..runtime import limited, work_within
from ..selection.cost import GIVEN, SCORED, selection_bytes
from ..selection.schedule import Schedule

__all__ = [
    "Need",
    "Needs",
    "Sizes",
    "bound_need",
    "coupled_need",
    "inference_need",
    "learning_sizes",
    "memory_limit",
    "pairs_need",
    "rounded_up",
    "selection_need",
    "shared_need",
    "shown_bytes",
    "threads",
    "time_limit",
    "within",
]

_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_FEWEST = 64  # rows that the selection index must have room for
_TRIES = 100  # to find the smallest limit that would do
_LEARNED_ROWS, _LEARNED_ACTIVE = 300, 50  # to learn from, whatever the memory
_GRADIENT = 14  # matrices of the active rows for each function: factors, inverses, covariances, sums and their slopes
# Numbers for each class, and for each row or for each square of the active set: what a stage has of them at its peak.
_SITES = 18  # of a row: sites, those before, and before these, steps, marginals, forces that are missing, ties
_SUMS = 6  # sites added up, of rows that move and of those at rest, before and after a sweep, and their factors
_MEANS = 14  # of a row: means, auxiliary variables, the best so far, and what is known of rows left out
_STEPS = 30  # of an active row: steps that the search remembers
_PAIRS = 26  # of a row: marginals, sites, moments and scores of pairs, and their order
_STUBS = 1.5  # times as many stubs as a class includes on average: room for more, and a copy when that is made
_MARGINALS = 12  # of a row: means and variances, and what their scores take
_FACTORS = 3  # of the square: the factor, its copy in the posterior, and its inverse


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
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{round(size / 1e6, 0 if size >= 1e7 else 2):g} MB"


def rounded_up(size: float) -> float:
    """Return a size that ``shown_bytes`` shows as it is, no less than this one."""
    step = 1e7 if size >= 1e9 else 1e6 if size >= 1e7 else 1e4
    return float(np.ceil(size / step) * step)


class Sizes(NamedTuple):
    """What the memory of a fit depends on."""

    n: int
    p: int
    d: int
    itemsize: int
    schedule: Schedule
    row_bytes: int = 0  # that the moments of a row take on the way
    n_functions: int = 1


class Need(NamedTuple):
    """Memory of a stage: what it takes in any case, for each row that it looks at, and for each number it may keep."""

    fixed: float  # bytes
    each: float = 0.0  # bytes
    rows: int = 0  # at most
    numbers: int = 0  # at most, for all rows
    fewest: int = 0  # of these numbers that it cannot do without
    fewest_rows: int = 0
    itemsize: int = 4

    @property
    def least(self) -> float:
        """Bytes below which it does not work."""
        return self.fixed + self.each * self.fewest_rows + self.itemsize * self.fewest

    def share(self, limit: float) -> tuple[int, int]:
        """Return how many rows to look at, and how many numbers to keep: all, if there is room.

        Where all rows fit, but not all numbers, the numbers are fewer. Else rows have half of what there is.
        """
        rows, left = self.rows, limit - self.fixed
        if self.each and left - self.each * rows < self.itemsize * self.fewest:
            rows = int(max(self.fewest_rows, min(rows, 0.5 * left / self.each)))
        return rows, int(max(self.fewest, min(self.numbers, (left - self.each * rows) // self.itemsize)))

    def used(self, rows: int, numbers: int) -> int:
        """Bytes with so many rows and numbers."""
        return int(self.fixed + self.each * rows + self.itemsize * numbers)


class Needs(NamedTuple):
    """The stages of a fit; what an earlier one made is gone when the next one starts."""

    selection: Need
    inference: Need = Need(0.0)

    @property
    def least(self) -> float:
        """Bytes below which the fit does not work."""
        return max(need.least for need in self)


def within(limit: float, sizes: Sizes, make: Callable[[], Needs]) -> Needs:
    """Return the needs of a fit; refuse a limit within which it does not work, by the number that was given.

    Parameters
    ----------
    limit : float
        Bytes, as they were given.
    sizes : Sizes
    make : callable
        Returns the needs, with loops that take as many rows at once as the limit under way has room for.
    """
    with work_within(limit):
        needs = make()
    if needs.least <= limit:
        return needs
    enough = rounded_up(needs.least)
    for _ in range(_TRIES):  # with more memory loops take more rows at once, so that it is a little more than that
        with work_within(enough):
            least = make().least
        if least <= enough:
            break
        enough = rounded_up(least)
    raise ParameterError(
        f"max_memory of {shown_bytes(limit)} is not enough for {sizes.n} rows and {sizes.d} active ones: at least "
        f"{shown_bytes(enough)} are needed. Raise max_memory or lower n_active"
    )


def selection_need(sizes: Sizes, machines: int = 1) -> Need:
    """Memory of greedy selection, by one machine or by several that take turns."""
    n, p, d, itemsize, schedule, row_bytes, _ = sizes
    d = min(-(-d // machines) + 1, d)  # each includes little more than its share
    fewest = machines * min(n, _FEWEST) * d
    fixed, each = selection_bytes(n, p, d, schedule, itemsize, row_bytes, machines)
    return Need(fixed, each, n, machines * n * d, fewest, min(n, max(2 * sizes.d, _FEWEST)), itemsize)


def inference_need(sizes: Sizes) -> Need:
    """Memory of inference with all rows, for one function."""
    n, p, d, itemsize, _, row_bytes, _ = sizes
    return Need(sweep_bytes(n, p, d, itemsize, 0, row_bytes), numbers=n * d, itemsize=itemsize)


def coupled_need(sizes: Sizes) -> Need:
    """Memory of inference with all rows for classes whose likelihood couples them: sites and sums of every class."""
    n, p, d, itemsize, _, _, C = sizes
    one = sweep_bytes(n, p, d, itemsize, 0) + moments_bytes()
    return Need(one + 8 * C * (_SITES * n + _SUMS * d * d), numbers=n * d, itemsize=itemsize)


def bound_need(sizes: Sizes) -> Need:
    """Memory of the variational bound with all rows: means and auxiliary variables of every class, factors of one."""
    n, p, d, itemsize, _, _, C = sizes
    one = sweep_bytes(n, p, d, itemsize, 0) + moments_bytes()
    return Need(one + 8 * C * (_MEANS * n + _STEPS * d) + 8 * C * d * d, numbers=n * d, itemsize=itemsize)


def pairs_need(sizes: Sizes) -> Need:
    """Memory of selection among pairs of a row and a class: stubs and marginals of every class."""
    n, p, d, itemsize, _, _, C = sizes
    fixed = n * (GIVEN + p * itemsize) + moments_bytes() + 8 * C * _FACTORS * d * d
    each = C * (_STUBS * d * itemsize + 2 * p * itemsize + 8 * _PAIRS) + p * itemsize
    return Need(fixed, each, n, fewest_rows=min(n, max(2 * d, _FEWEST)), itemsize=itemsize)


def shared_need(sizes: Sizes) -> Need:
    """Memory of selection for all classes at once: one matrix of stubs, marginals of every class."""
    n, p, d, itemsize, _, _, C = sizes
    fixed = n * (GIVEN + p * itemsize) + moments_bytes() + 8 * (C + _FACTORS) * d * d
    each = d * itemsize + 3 * p * itemsize + 8 * C * _MARGINALS + SCORED
    return Need(fixed, each, n, fewest_rows=min(n, max(2 * d, _FEWEST)), itemsize=itemsize)


def learning_sizes(limit: float, sizes: Sizes, rows: int, active: int) -> tuple[int, int]:
    """Return how many rows, and active ones, to learn from: those asked for, fewer where memory is scarce.

    Half of the limit is for what loops make on the way. The other half has the rows that are given, and in equal parts
    the projections and sites of the rows that are learned from, and matrices of the active ones.

    Parameters
    ----------
    limit : float
        Bytes.
    sizes : Sizes
        Of the whole training.
    rows, active : int
        That are asked for.
    """
    n, p, _, itemsize, _, _, C = sizes
    half = 0.5 * (0.5 * limit - n * (GIVEN + p * itemsize))
    few = min(active, max(_LEARNED_ACTIVE, int(np.sqrt(max(half, 0.0) / (8 * _GRADIENT * C)))))
    return min(rows, max(_LEARNED_ROWS, int(half / (8 * (few + C * _SITES + 2 * p))))), few


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
