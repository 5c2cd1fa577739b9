"""Seconds that parts of a fit take for a row, measured on a few rows: how many of them there is time for."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..numerics.cholesky import row_solver
from ..runtime import seconds_per_row
from ..scores import Score
from ..shards import GivenRows, LocalShard
from .data import Data
from .work import Work

__all__ = ["entries_seconds", "prediction_seconds", "product_seconds", "selection_seconds", "sweeps_seconds"]

_MEASURED = 4096  # rows to measure with, at most
FEWEST_SWEEPS = 4  # over all rows that there is time for


def selection_seconds(data: Data, kernel: Kernel, likelihood: Likelihood, score: Score, work: Work, d: int) -> float:
    """In the selection of d rows: a score and an entry of the kernel in every look, and products of stubs."""
    X, y, priority = (v[:_MEASURED] for v in (data.X, data.y, data.priority))

    def scores(size: int) -> Callable[[], object]:
        given = GivenRows(np.arange(size), X[:size], y[:size], priority[:size])
        return LocalShard(given, kernel, likelihood, score, 1, work.dtype).keys

    def entries(size: int) -> Callable[[], object]:
        return partial(kernel.on(X[:size]), X[:1])

    a_look = seconds_per_row(scores, len(y)) + seconds_per_row(entries, len(y))
    return work.schedule.looks(d) * a_look + product_seconds(data, work.dtype, d)


def product_seconds(data: Data, dtype: str, d: int) -> float:
    """For d^2 multiplications and additions."""
    solve = row_solver(np.eye(d), dtype)
    half = seconds_per_row(lambda size: partial(solve, np.ones((size, d), dtype=dtype)), data.n)
    return 2.0 * half  # of a triangular factor


def entries_seconds(data: Data, kernel: Kernel, d: int) -> float:
    """For the covariances with d active rows."""
    X = data.X[:_MEASURED]
    return seconds_per_row(lambda size: partial(kernel.on(X[:d]), X[:size]), min(data.n, _MEASURED))


def prediction_seconds(data: Data, kernel: Kernel, dtype: str, d: int) -> float:
    """For the covariances with d active rows, and the latent mean and variance."""
    return entries_seconds(data, kernel, d) + product_seconds(data, dtype, d)


def sweeps_seconds(data: Data, kernel: Kernel, likelihood: Likelihood, dtype: str, d: int) -> float:
    """In inference with all rows: to project it, and in the fewest sweeps that are of use."""
    X, y = data.X[:_MEASURED], data.y[:_MEASURED]
    var = np.asarray(kernel.diag(X), dtype=np.float64)

    def moments(size: int) -> Callable[[], object]:
        return partial(likelihood.take(np.arange(size)).tilted, y[:size], np.zeros(size), var[:size])

    product, sweeps = product_seconds(data, dtype, d), 1 if likelihood.conjugate else FEWEST_SWEEPS
    a_sweep = seconds_per_row(moments, len(y)) + 1.5 * product  # half a product for the variances, one for the sums
    return entries_seconds(data, kernel, d) + product + sweeps * a_sweep
