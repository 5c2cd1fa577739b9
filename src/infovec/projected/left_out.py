"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats
from ..numerics.cholesky import row_solver
from ..shards import Beliefs, ProjectedShard, for_each, own_threads

__all__ = ["left_out"]


def left_out(shards: Sequence[ProjectedShard], beliefs: Beliefs) -> Floats:
    r"""Means and variances of the latent values of all rows, each given the others, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves,

    .. math:: N(u_i \mid \mu_{\setminus i}, q_{\setminus i} + l_i^2).
    """
    with own_threads():
        return np.concatenate([_of_shard(shard, beliefs) for shard in shards], axis=1)


def _of_shard(shard: ProjectedShard, beliefs: Beliefs) -> Floats:
    solve, found = row_solver(beliefs.Q, shard.dtype), np.empty((2, len(shard.y)))

    def visit(chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        cavity = shard.cavity(at, solve(V.copy()), beliefs.beta)
        found[:, at] = cavity.cavity_mean, cavity.cavity_var + shard.variance_left[at]

    for_each(visit, shard.chunks)
    return found
