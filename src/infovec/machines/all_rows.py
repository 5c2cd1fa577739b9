"""Inference with all rows once the active ones are known."""

from typing import Any, NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import Inference, Watch, make_basis, too_sharp
from ..runtime import NEVER, Deadline
from .one_function import Training

__all__ = ["Projected", "infer_all_rows"]


class Projected(NamedTuple):
    """The posterior with all rows, and where it comes from."""

    posterior: Any
    shards: list[Any]
    rows: Rows  # that have sites, as the shards have them
    found: Inference
    dtype: str  # of the products

    def sites(self, active: Rows) -> tuple[Floats, Floats]:
        """Precisions and means of the sites of some rows; zero without a site."""
        precision, b = np.sum([shard.sites(active) for shard in self.shards], axis=0)
        return precision, b / np.where(precision == 0.0, 1.0, precision)


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
    rows = np.arange(len(training.y)) if left_out is None else np.setdiff1d(np.arange(len(training.y)), left_out)
    shards = training.projected_shards(rows)
    for shard in shards:
        shard.project(basis)
    found = training.infer(shards, sites, watch, deadline)
    sharp = too_sharp(shards, basis, found.beliefs, training.dtype)
    if sharp and (raised := training.raised()) is not training:
        del shards, shard
        return infer_all_rows(raised, active, X, sites, watch, left_out, deadline)
    inputs = X[active]
    inputs = inputs if inputs.dtype == object else inputs.astype("float64")
    return Projected(training.posterior(inputs, basis, found), shards, rows, found, training.dtype)
