"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..numerics.groups import of_groups
from ..runtime import own_threads
from ..shards import Beliefs, ClassShard, Marginals, SiteShard
from ..shards.projected import take_out

__all__ = ["left_out", "left_out_of_classes"]


def left_out(shards: Sequence[SiteShard], beliefs: Beliefs, group: Rows | None = None) -> Floats:
    r"""Means and variances of the latent values of all rows, each given those at other inputs, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves,

    .. math:: N(u_i \mid \mu_{\setminus i}, q_{\setminus i} + l_i^2),

    but without the sites of all rows that have the same inputs, whatever their labels and weights: these are on the
    same projection, so their sum is taken out. What is left is what the model says of an input that it has not met.
    So neither a copy of a row speaks for it, nor only those against it.

    Parameters
    ----------
    shards : sequence of SiteShard
    beliefs : Beliefs
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    """
    with own_threads():
        known = _together([shard.marginals(beliefs) for shard in shards])
    return _without(known, known.variance_left, group, shards[0].traits().dtype)


def left_out_of_classes(shards: Sequence[ClassShard], group: Rows | None = None) -> Floats:
    """Return the same for every class, as the last sweep left it, shape (2, n, C)."""
    known = _together([shard.seen_before() for shard in shards])
    return _without(known, known.variance_left[:, None], group, shards[0].traits().dtype)


def _together(parts: Sequence[Marginals]) -> Marginals:
    return Marginals(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _without(known: Marginals, variance_left: Floats, group: Rows | None, dtype: str) -> Floats:
    cavity = take_out(known.mean, known.var, of_groups(known.precision, group), of_groups(known.b, group), dtype)
    return np.stack([cavity.cavity_mean, cavity.cavity_var + variance_left])
