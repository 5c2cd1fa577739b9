"""What inference with all rows will cost, before it starts."""

from functools import partial
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..runtime import at_once, best_of_three, n_threads
from ..shards import Beliefs, ProjectedShard
from ..shards.projections import SITE_BYTES, chunk_rows
from .basis import make_basis

__all__ = ["SweepRates", "calibrate", "predict_bytes", "predict_evaluations", "predict_seconds"]

_SAMPLE = 1024  # rows to calibrate with
_ROW = 28  # numbers for each row: as it is given, its site, steps and those before, variances, cavity, without its site
_DEPTH = 512  # active rows to calibrate with, and half as many
_USUAL_SWEEPS = 10  # over all rows; later ones visit fewer, and early ones see part of a large active set
_SWEEPS_ON = 8  # when inference goes on from sites for parameters nearby
_GRADIENT = 4  # sweeps that take as long as a gradient does
_AROUND = 6  # sweeps of a row that take as long as all that an evaluation has to do besides, however few rows there are


class SweepRates(NamedTuple):
    """Measured seconds on a sample of rows, for two sizes of the active set."""

    rows: int
    sizes: tuple[int, int]
    project: tuple[float, float]
    sweep: tuple[float, float]
    sweeps: int
    least: float  # of a sweep of one row


def calibrate(X: Inputs, y: Floats, d: int, kernel: Kernel, likelihood: Likelihood, dtype: str) -> SweepRates:
    """Time a projection and a sweep."""
    m = min(_SAMPLE, X.shape[0])
    large = min(_DEPTH, d, m)
    sizes = max(large // 2, 1), large
    project, sweep = zip(*(_timed(X[:m], y[:m], size, kernel, likelihood, dtype) for size in sizes), strict=True)
    sweeps = 1 if likelihood.conjugate else _USUAL_SWEEPS
    return SweepRates(m, sizes, project, sweep, sweeps, _timed(X[:1], y[:1], 1, kernel, likelihood, dtype)[1])


def _timed(X: Inputs, y: Floats, size: int, kernel: Kernel, likelihood: Likelihood, dtype: str) -> tuple[float, float]:
    """Seconds of a projection of all rows to some, and of a sweep."""
    rows = np.arange(len(y))
    active = rows[:: max(len(y) // size, 1)][:size]
    shard = ProjectedShard(rows, X, y, kernel, likelihood.take(rows), dtype)
    basis = make_basis(kernel, active, X[active], dtype)
    beliefs = Beliefs(np.eye(size), np.zeros(size))
    return best_of_three(partial(shard.project, basis)), best_of_three(partial(shard.sweep, beliefs, 0.0, 0.0, 1.0))


def predict_seconds(rates: SweepRates, n: int, d: int, kept_share: float) -> float:
    """Seconds for n rows and d active ones; what is not kept of V is made anew in every sweep."""
    project, sweep = (_extrapolate(rates.sizes, pair, d) * n / rates.rows for pair in (rates.project, rates.sweep))
    return project * (1.0 + (1.0 - kept_share) * rates.sweeps) + sweep * rates.sweeps


def predict_evaluations(rates: SweepRates, n: int, d: int, number: float) -> float:
    """Seconds for a number of evaluations of the evidence and its gradient, each for other parameters."""
    project, sweep = (_extrapolate(rates.sizes, pair, d) * n / rates.rows for pair in (rates.project, rates.sweep))
    sweeps = 1 if rates.sweeps == 1 else _SWEEPS_ON
    return number * (2.0 * project + (sweeps + _GRADIENT) * sweep + _AROUND * rates.least)


def _extrapolate(sizes: tuple[int, int], seconds: tuple[float, float], d: int) -> float:
    """Fit a d + b d^2 to two measurements."""
    small, large = sizes
    if small == large:
        return seconds[1] * (d / large) ** 2
    square = (seconds[1] / large - seconds[0] / small) / (large - small)
    square = max(square, 0.2 * seconds[1] / large**2)
    linear = max(seconds[1] / large - square * large, 0.0)
    return linear * d + square * d**2


def predict_bytes(n: int, p: int, d: int, itemsize: int, entries: int, row_bytes: int = 0) -> int:
    """Peak memory of inference that keeps ``entries`` numbers of V; the moments of a row take so much on the way."""
    rows, chunk, threads = 8 * n * _ROW, chunk_rows(n, d, itemsize), n_threads()
    inputs = n * p * itemsize
    work = threads * chunk * (3 * d * itemsize + SITE_BYTES)
    moments = threads * at_once(chunk, threads * row_bytes) * row_bytes
    square = 8 * d * d * 9  # sums, their factor, and products on the way
    return int(rows + inputs + work + moments + square + entries * itemsize)
