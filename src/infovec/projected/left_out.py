"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence

import numpy as np

from ..numerics.cholesky import row_solver
from ..shards import Beliefs, ProjectedShard, for_each, own_threads

__all__ = ["left_out_log_prob"]


def left_out_log_prob(shards: Sequence[ProjectedShard], beliefs: Beliefs) -> float:
    r"""Sum of the log probabilities of all targets, each given the others as expectation propagation has it.

    .. math:: \sum_i \log \int p(y_i \mid u_i) \, N(u_i \mid \mu_{\setminus i}, q_{\setminus i} + l_i^2) \, du_i
    """
    found = list[float]()
    with own_threads():
        for shard in shards:
            for_each(_Visit(shard, beliefs, found), shard.chunks)
    return float(np.sum(np.sort(found)))  # threads do not end in order


class _Visit:
    def __init__(self, shard: ProjectedShard, beliefs: Beliefs, found: list[float]) -> None:
        self.shard, self.beta, self.found = shard, beliefs.beta, found
        self.solve = row_solver(beliefs.Q, shard.dtype)

    def __call__(self, chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), self.shard.features(chunk)
        tilted, _ = self.shard.tilted(at, self.shard.cavity(at, self.solve(V.copy()), self.beta))
        self.found.append(float(np.sum(tilted.log_z)))
