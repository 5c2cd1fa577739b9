"""Inference with all rows once the active ones are known."""

from typing import Any, NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import Inference, Watch, make_basis, too_sharp
from ..runtime import NEVER, Deadline
from .one_function import Training

__all__ = ["Projected", "infer_all_rows"]

_LARGEST = 0.5 * np.finfo(np.float64).max  # mean of a site


class Projected(NamedTuple):
    """The posterior with all rows, and where it comes from."""

    posterior: Any
    shard: Any
    found: Inference

    def sites(self, active: Rows) -> tuple[Floats, Floats]:
        """Precisions and means of the sites of some rows; zero without a site.

        A site without precision is a slope, and has no mean: its shift stands for it, also where the mean is beyond the
        largest number.
        """
        precision, b = self.shard.sites(active)
        slope = np.abs(precision) <= np.abs(b) / _LARGEST
        return precision, b / np.where(slope, 1.0, precision)


def infer_all_rows(
    training: Training,
    active: Rows,
    X: Inputs,
    sites: Any,
    watch: Watch,
    left_out: Rows | None = None,
    deadline: Deadline = NEVER,
) -> Projected:
    """Run inference with the sites of all rows, but those left out.

    Parameters
    ----------
    training : Training
    active : array of int
    X : inputs of all training rows, in double precision or as given
    sites : those that selection found, to start from
    watch : callable
        Told of every sweep; a true answer ends it.
    left_out : array of int, optional
    deadline : Deadline
        For what is not told of sweep by sweep.
    """
    basis = make_basis(training.kernel, active, training.X[active], training.dtype)
    shard = training.projected_shard(left_out)
    shard.project(basis)
    found = training.infer(shard, sites, watch, deadline)
    if too_sharp(shard, found.beliefs) and (raised := training.raised()) is not training:
        del shard
        return infer_all_rows(raised, active, X, sites, watch, left_out, deadline)
    shard.rest()
    inputs = X[active]
    inputs = inputs if inputs.dtype == object else inputs.astype("float64")
    return Projected(training.posterior(inputs, basis, found), shard, found)
