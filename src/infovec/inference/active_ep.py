"""Expectation propagation on the active rows alone: what the factorised posterior becomes when their sites settle."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..shards import ProjectedShard
from .basis import make_basis
from .ep import infer
from .settle import Sweep

__all__ = ["settle_active"]

_TOLERANCE = 1e-8  # of a site, in units of the posterior


def settle_active(
    rows: Rows, X: Inputs, y: Floats, precision: Floats, b: Floats, kernel: Kernel, likelihood: Likelihood
) -> tuple[Floats, Floats, bool, list[Sweep]]:
    """Sweep over active rows, which have sites, until these match the moments; all other rows have none.

    It is the projected posterior of rows that all are active. Returns precisions and shifts of the sites, whether they
    came to rest, and the sweeps.

    Parameters
    ----------
    rows, X, y, precision, b
        The active rows and their sites, in any order.
    kernel, likelihood
        The latter of all training rows, and log-concave: others may have sites of negative precision.
    """
    order = np.argsort(rows)
    some = rows[order]
    shard = ProjectedShard(some, X[order], y[order], kernel, likelihood, "float64", blur=False)
    shard.project(make_basis(kernel, some, X[order], "float64"))
    found = infer([shard], (some, precision[order], b[order]), _TOLERANCE)
    settled = shard.sites(rows)
    return *settled, found.converged, found.sweeps
