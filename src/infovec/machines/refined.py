"""The factorised posterior after selection: rows exchanged, and sites that settle (Thesis 4.4.1)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..inference import Sweep, settle_active
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from ..selection import ActiveRows, Driver, Move, exchange
from .data import Data
from .work import Refine

__all__ = ["Refined", "refined"]

_MOVES = 2.0  # exchanges at most, for each active row
_CANDIDATES = 1000  # rows outside that the criterion of exchanges is about, and that may come in
_ROWS = 4096  # looked at at once


class Refined(NamedTuple):
    """Active rows with their posterior, and how they came to be."""

    posterior: FactorisedPosterior
    active: Rows
    y: Floats
    outside: float  # sum of log Z over the rows that are considered and not active
    converged: bool
    sweeps: list[Sweep]
    moves: list[Move]


def refined(
    driver: Driver,
    data: Data,
    kernel: Kernel,
    likelihood: Likelihood,
    refine: Refine,
    stay: Rows,
    over: Callable[[], bool],
) -> Refined:
    """Return what a selection becomes; the driver stays as it is.

    Parameters
    ----------
    driver : Driver
        With all rows that it considers.
    data : Data
    kernel, likelihood
    refine : Refine
    stay : array of int
        Rows that were asked for by name, and are not exchanged.
    over : callable
        Whether there is no time left.
    """
    inside, known = data.given.inside, np.concatenate([driver.active[: driver.size], driver.outside()])
    rows, precision, b = (part.copy() for part in driver.sites)
    active = ActiveRows(rows, kernel.in_double(inside[rows]), data.y[rows], precision, b)
    moves, sweeps, converged = list[Move](), list[Sweep](), True
    if refine.exchange:
        free = driver.considered()
        free = np.sort(free[np.argsort(-data.priority[free], kind="stable")[:_CANDIDATES]])
        nothing = np.zeros(len(free))
        outside = ActiveRows(free, kernel.in_double(inside[free]), data.y[free], nothing, nothing)
        most = round(_MOVES * len(rows))
        active, _, moves, _ = exchange(active, outside, kernel, likelihood, most, refine.by_evidence, stay, over)
    if refine.sweeps and len(rows):
        precision, b, converged, sweeps = settle_active(*active, kernel, likelihood)
        sure = precision > 0.0  # one that has vanished in rounding says nothing either way
        active = active._replace(precision=np.where(sure, precision, active.precision), b=np.where(sure, b, active.b))
    posterior = active.posterior(kernel)
    left = np.setdiff1d(known, active.rows)
    return Refined(
        posterior, active.rows, active.y, _log_likelihood(posterior, data, likelihood, left), converged, sweeps, moves
    )


def _log_likelihood(posterior: FactorisedPosterior, data: Data, likelihood: Likelihood, rows: Rows) -> float:
    """Sum of log Z over rows that are not active."""
    total, inside = 0.0, data.given.inside
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        mean, var = posterior.predict(posterior.kernel.in_double(inside[some]))
        total += float(np.sum(likelihood.take(some).tilted(data.y[some], mean, var).log_z))
    return total
