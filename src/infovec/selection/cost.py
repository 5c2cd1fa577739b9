"""What a selection will cost, before it starts: seconds from a short calibration, bytes from the sizes."""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..numerics.cholesky import inverse_lower
from ..runtime import best_of_three, n_threads
from ..scores import Score
from ..shards import Inclusions, IndexRule, LocalShard, absorbed_at_once
from ..shards.local import scored_at_once
from .pool import Pool
from .schedule import Schedule

__all__ = ["GIVEN", "SCORED", "Rates", "calibrate", "predict_bytes", "predict_seconds", "selection_bytes"]

_SAMPLE = 8192  # rows to calibrate with
_DEPTH = 512  # inclusions the calibration pretends to have behind it
GIVEN = 48  # bytes for each row that is given: its number, place, target, label and priority, and what tells copies
_KEPT = 50  # bytes for each row of a machine: number, target, variances, mean, and whether it is taken
SCORED = 100  # bytes for each row while all are scored: keys, their order and intermediate results


class Rates(NamedTuple):
    """Measured seconds for the parts of a block."""

    rows: int  # in the sample
    score: float  # to score the sample
    flush: dict[int, float]  # block size -> to absorb a block after no inclusion
    flush_deep: dict[int, float]  # block size -> to absorb a block after _DEPTH inclusions
    offer: float  # to gather the largest pool after _DEPTH inclusions
    include: float  # for one inclusion inside the largest pool
    pool: float  # to form the covariance of the largest pool
    touch: float  # for a byte of memory that is new to the process
    move: float  # for a byte that moves when the index shrinks
    invert: float  # to invert a factor of _DEPTH rows


def calibrate(
    X: Inputs, y: Floats, kernel: Kernel, likelihood: Likelihood, score: Score, schedule: Schedule, dtype: str
) -> Rates:
    """Time the parts of a block on a sample of the rows."""
    m = min(_SAMPLE, X.shape[0])
    rows, block = np.arange(m), min(schedule.block_size, m)
    priority = np.linspace(0.0, 1.0, m)
    shard = LocalShard(rows, X[:m], y[:m], priority, kernel, likelihood, score, _DEPTH + block, dtype, IndexRule())
    shard._buffer[:] = 0.0
    faint = 1e-6 / np.sqrt(max(float(shard.prior_var.max(initial=0.0)), 1e-300))  # a site that changes nothing
    flush: dict[int, float] = {}
    deep: dict[int, float] = {}
    for size in {1, block}:
        for depth, times in ((0, flush), (_DEPTH, deep)):
            fake = Inclusions(
                rows[:size], X[:size], np.full(size, faint), np.zeros((size, depth)), np.eye(size), np.zeros(size)
            )

            def absorb(fake: Inclusions = fake, depth: int = depth) -> None:
                shard.size, shard.var[:] = depth, shard.prior_var
                shard.absorb(fake)

            times[size] = best_of_three(absorb)
    shard.size, shard.var[:], shard.taken[:] = _DEPTH, shard.prior_var, False
    score_seconds = best_of_three(shard.keys)
    candidates = shard.candidates(min(schedule.pool_size, m))
    offer = max(best_of_three(lambda: shard.candidates(min(schedule.pool_size, m))) - score_seconds, 0.0)
    here = likelihood.take(candidates.rows)

    def pool(size: int) -> Pool:
        made = Pool(candidates, size, kernel, here, score, shard.min_var)
        made.run()
        return made

    one, several = best_of_three(lambda: pool(1)), best_of_three(lambda: pool(min(9, len(candidates.rows))))
    include = max(several - one, 0.0) / max(min(9, len(candidates.rows)) - 1, 1)
    return Rates(m, score_seconds, flush, deep, offer, include, one, *_memory_rates())


def _memory_rates() -> tuple[float, float, float]:
    def fresh() -> None:
        np.empty(2**25, dtype=np.uint8)[::4096] = 0

    touch = best_of_three(fresh) / 2**25
    some = np.flatnonzero(np.arange(2**20) % 5)
    source = np.zeros(2**20, dtype=np.float32)
    move = best_of_three(lambda: source[some]) / (4 * len(some))
    return touch, move, best_of_three(lambda: inverse_lower(np.eye(_DEPTH)))


def predict_seconds(rates: Rates, n: int, d: int, schedule: Schedule, rule: IndexRule) -> float:
    """Seconds for n rows and d inclusions: the parts of every block, scaled to its size."""
    largest, before, t = max(rates.flush), n, 0
    entries = min(rule.peak(n, d), rule.max_entries or n * d)
    total = (4 * entries + 16 * d * d) * rates.touch + rates.invert * (d / _DEPTH) ** 3
    while t < d:
        block, pool = schedule.sizes(t)
        block = min(block, d - t)
        live = min(n, int(1.1 * rule.limit(n, t + block, d)))  # it shrinks in steps, and is above the limit between
        share = 0.0 if largest == 1 else (block - 1) / (largest - 1)
        shallow, deep = (v[1] + share * (v[largest] - v[1]) for v in (rates.flush, rates.flush_deep))
        flush = shallow + (deep - shallow) * t / _DEPTH
        relative = pool / schedule.pool_size
        if before > 1.2 * live:
            total += 4 * live * t * rates.move
            before = live
        total += rates.offer * relative * t / _DEPTH
        total += live / rates.rows * (flush + rates.score)
        total += rates.pool * relative**2 + block * rates.include * max(relative, 0.3)
        t += block
    return total


def selection_bytes(
    n: int, p: int, d: int, schedule: Schedule, itemsize: int, row_bytes: int = 0, machines: int = 1
) -> tuple[float, float]:
    """Peak memory of a selection without its stubs: what it takes in any case, and for each row that is looked at.

    Parameters
    ----------
    n, p, d : int
        Rows, columns and inclusions.
    schedule : Schedule
    itemsize : int
        Of the stubs.
    row_bytes : int
        That the moments of a row take on the way.
    machines : int
        That have stubs and marginals of their own, and work one after the other.
    """
    given = n * (GIVEN + p * itemsize)
    pool = schedule.pool_size * (3 * 8 * schedule.pool_size + d * itemsize + p * itemsize)
    at_once = absorbed_at_once(n, itemsize)
    block = 3 * n_threads() * schedule.block_size * at_once * itemsize  # kernel, product and their sum
    scored = n_threads() * min(n, scored_at_once(row_bytes)) * row_bytes
    selecting = machines * 8 * d * d + given + pool + max(block, scored)
    finishing = 3 * 8 * d * d  # L, its copy in the posterior, its inverse for the evidence; the stubs are gone
    each = machines * (_KEPT + 2 * p * itemsize) + SCORED  # its inputs twice: as the kernel prepares them, and moved
    return float(max(selecting, finishing)), float(each)


def predict_bytes(n: int, p: int, d: int, schedule: Schedule, itemsize: int, entries: int) -> int:
    """Peak memory of a selection whose stub matrix has ``entries`` numbers."""
    fixed, each = selection_bytes(n, p, d, schedule, itemsize)
    return int(fixed + each * n + entries * itemsize)
