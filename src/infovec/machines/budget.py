"""Memory that the stages of a fit need, and what fits into a limit that a user sets."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import ParameterError
from ..inference import predict_bytes as sweep_bytes
from ..likelihoods.classes import moments_bytes
from ..runtime import n_threads, work_within
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
    "pairs_need",
    "rounded_up",
    "selection_need",
    "shared_need",
    "shown_bytes",
    "within",
]

_FEWEST = 64  # rows that the selection index must have room for
_TRIES = 100  # to find the smallest limit that would do
_LEARNED_ROWS, _LEARNED_ACTIVE = 300, 50  # to learn from, whatever the memory
_LOOPS = 1e8  # bytes that loops make on the way in each thread, however large the limit
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
    beside: int = 0  # bytes of rows that are given and take no part
    held: int | None = None  # rows that inference has in memory at a time, if not all: none of them stays

    @property
    def given(self) -> int:
        """Bytes of all rows as they are given."""
        columns = self.p if self.held is None else 0
        return self.n * (GIVEN + columns * self.itemsize) + self.beside

    def at_work(self) -> "tuple[Sizes, int]":
        """Return the sizes of the rows that inference has at a time, and bytes that all others take meanwhile."""
        if self.held is None or self.held >= self.n:
            return self, 0
        return self._replace(n=self.held, held=None), GIVEN * self.n


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

    def and_beside(self, size: float) -> "Needs":
        """Return the same for a fit beside something else that takes memory all the time."""
        return Needs(*(need._replace(fixed=need.fixed + size) for need in self))


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
        needs = make().and_beside(sizes.beside)
    if needs.least <= limit:
        return needs
    enough = rounded_up(needs.least)
    for _ in range(_TRIES):  # with more memory loops take more rows at once, so that it is a little more than that
        with work_within(enough):
            least = make().and_beside(sizes.beside).least
        if least <= enough:
            break
        enough = rounded_up(least)
    raise ParameterError(
        f"max_memory of {shown_bytes(limit)} is not enough for {sizes.n} rows and {sizes.d} active ones: at least "
        f"{shown_bytes(enough)} are needed. Raise max_memory or lower n_active"
    )


def selection_need(sizes: Sizes, machines: int = 1) -> Need:
    """Memory of greedy selection, by one machine or by several that take turns."""
    n, p, d, itemsize, schedule, row_bytes = sizes[:6]
    d = min(-(-d // machines) + 1, d)  # each includes little more than its share
    fewest = machines * min(n, _FEWEST) * d
    fixed, each = selection_bytes(n, p, d, schedule, itemsize, row_bytes, machines)
    if sizes.held is not None:  # only inputs of rows that are looked at are in memory
        fixed, each = fixed - n * p * itemsize, each + p * itemsize
    return Need(fixed, each, n, machines * n * d, fewest, min(n, max(2 * sizes.d, _FEWEST)), itemsize)


def inference_need(sizes: Sizes) -> Need:
    """Memory of inference with all rows, for one function."""
    (n, p, d, itemsize, _, row_bytes, *_), others = sizes.at_work()
    numbers = 0 if others else n * d
    return Need(others + sweep_bytes(n, p, d, itemsize, 0, row_bytes), numbers=numbers, itemsize=itemsize)


def coupled_need(sizes: Sizes) -> Need:
    """Memory of inference with all rows for classes whose likelihood couples them: sites and sums of every class."""
    (n, p, d, itemsize, _, _, C, *_), others = sizes.at_work()
    one, numbers = others + sweep_bytes(n, p, d, itemsize, 0) + moments_bytes(), 0 if others else n * d
    return Need(one + 8 * C * (_SITES * n + _SUMS * d * d), numbers=numbers, itemsize=itemsize)


def bound_need(sizes: Sizes) -> Need:
    """Memory of the variational bound with all rows: means and auxiliary variables of every class, factors of one."""
    n, p, d, itemsize, _, _, C = sizes[:7]
    one = sweep_bytes(n, p, d, itemsize, 0) + moments_bytes()
    return Need(one + 8 * C * (_MEANS * n + _STEPS * d) + 8 * C * d * d, numbers=n * d, itemsize=itemsize)


def pairs_need(sizes: Sizes) -> Need:
    """Memory of selection among pairs of a row and a class: stubs and marginals of every class."""
    n, p, d, itemsize, _, _, C = sizes[:7]
    fixed = n * (GIVEN + p * itemsize) + moments_bytes() + 8 * C * _FACTORS * d * d
    each = C * (_STUBS * d * itemsize + 2 * p * itemsize + 8 * _PAIRS) + p * itemsize
    return Need(fixed, each, n, fewest_rows=min(n, max(2 * d, _FEWEST)), itemsize=itemsize)


def shared_need(sizes: Sizes) -> Need:
    """Memory of selection for all classes at once: one matrix of stubs, marginals of every class."""
    n, p, d, itemsize, _, _, C = sizes[:7]
    fixed = n * (GIVEN + p * itemsize) + moments_bytes() + 8 * (C + _FACTORS) * d * d
    each = d * itemsize + 3 * p * itemsize + 8 * C * _MARGINALS + SCORED
    return Need(fixed, each, n, fewest_rows=min(n, max(2 * d, _FEWEST)), itemsize=itemsize)


def learning_sizes(limit: float, sizes: Sizes, rows: int, active: int) -> tuple[int, int]:
    """Return how many rows, and active ones, to learn from: those asked for, fewer where memory is scarce.

    Half of the limit is for what loops make on the way, or as much as they make at most. The rest has the rows that are
    given, and in equal parts the projections and sites of the rows that are learned from, and matrices of the active
    ones.

    Parameters
    ----------
    limit : float
        Bytes.
    sizes : Sizes
        Of the whole training.
    rows, active : int
        That are asked for.
    """
    p, C = sizes.p, sizes.n_functions
    half = 0.5 * (limit - min(0.5 * limit, _LOOPS * n_threads()) - sizes.given)
    few = min(active, max(_LEARNED_ACTIVE, int(np.sqrt(max(half, 0.0) / (8 * _GRADIENT * C)))))
    return min(rows, max(_LEARNED_ROWS, int(half / (8 * (few + C * _SITES + 2 * p))))), few
