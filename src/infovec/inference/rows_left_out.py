"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..numerics.cholesky import row_solver
from ..numerics.groups import of_groups
from ..runtime import for_each, own_threads
from ..shards import Beliefs, ProjectedShard
from ..shards.projected import take_out

__all__ = ["left_out"]


def left_out(shards: Sequence[ProjectedShard], beliefs: Beliefs, group: Rows | None = None) -> Floats:
    r"""Means and variances of the latent values of all rows, each given those at other inputs, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves,

    .. math:: N(u_i \mid \mu_{\setminus i}, q_{\setminus i} + l_i^2),

    but without the sites of all rows that have the same inputs, whatever their labels and weights: these are on the
    same projection, so their sum is taken out. What is left is what the model says of an input that it has not met.
    So neither a copy of a row speaks for it, nor only those against it.

    Parameters
    ----------
    shards : sequence of ProjectedShard
    beliefs : Beliefs
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    """
    with own_threads():
        mean, var = _joined([_marginals(shard, beliefs) for shard in shards])
    precision, b, variance_left = (
        _joined([getattr(s, name) for s in shards]) for name in ("precision", "b", "variance_left")
    )
    cavity = take_out(mean, var, of_groups(precision, group), of_groups(b, group), shards[0].dtype)
    return np.stack([cavity.cavity_mean, cavity.cavity_var + variance_left])


def _joined(parts: Sequence[Floats]) -> Floats:
    """Rows of all shards, without a copy if there is one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _marginals(shard: ProjectedShard, beliefs: Beliefs) -> Floats:
    solve, found = row_solver(beliefs.Q, shard.dtype), np.empty((2, len(shard.y)))

    def visit(chunk: slice) -> None:
        at, V = np.arange(chunk.start, chunk.stop), shard.features(chunk)
        found[:, at] = shard.cavity(at, solve(V.copy()), beliefs.beta)[:2]

    for_each(visit, shard.chunks)
    return found
