"""Predictions of training rows left out: from the posterior without their own sites, in the time of one sweep."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..numerics.cholesky import row_solver
from ..runtime import for_each, own_threads
from ..shards import Beliefs, ProjectedShard
from ..shards.projected import leave_out

__all__ = ["left_out"]


def left_out(shards: Sequence[ProjectedShard], beliefs: Beliefs, group: Rows | None = None) -> Floats:
    r"""Means and variances of the latent values of all rows, each given those at other inputs, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves (``leave_out``), but
    without the sites of all rows that have the same inputs, whatever their labels and weights: these are on the same
    projection, so their sum is taken out. What is left is what the model says of an input that it has not met. So
    neither a copy of a row speaks for it, nor only those against it.

    Nothing is fitted again: the marginals of all rows take O(n d^2), as in a sweep.

    Parameters
    ----------
    shards : sequence of ProjectedShard
    beliefs : Beliefs
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    """
    with own_threads():
        mean, var = np.concatenate([_marginals(shard, beliefs) for shard in shards], axis=1)
    precision, b, variance_left = (
        np.concatenate([getattr(s, name) for s in shards]) for name in ("precision", "b", "variance_left")
    )
    return leave_out((mean, var), (precision, b), variance_left, group, shards[0].dtype)


def _marginals(shard: ProjectedShard, beliefs: Beliefs) -> Floats:
    solve, found = row_solver(beliefs.Q, shard.dtype), np.empty((2, len(shard.y)))

    def visit(chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        found[:, at] = shard.cavity(at, solve(V.copy()), beliefs.beta)[:2]

    for_each(visit, shard.chunks)
    return found
