"""Predictions of training rows left out: from the posterior without their own sites, in the time of one sweep."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Rows
from ..runtime import own_threads
from ..shards import Beliefs, ClassShard, Group, Marginals, SiteShard, together
from ..shards.cavity import leave_out

__all__ = ["left_out", "left_out_of_classes"]


def left_out(
    shards: Sequence[SiteShard] | Group, beliefs: Beliefs, group: Rows | None = None, some: Rows | None = None
) -> Floats:
    r"""Means and variances of the latent values of all rows, each given those at other inputs, shape (2, n).

    The cavity as expectation propagation has it, with the variance that the active set leaves (``leave_out``), but
    without the sites of all rows that have the same inputs, whatever their labels and weights: these are on the same
    projection, so their sum is taken out. What is left is what the model says of an input that it has not met. So
    neither a copy of a row speaks for it, nor only those against it.

    Nothing is fitted again: the marginals of all rows take O(n d^2), as in a sweep.

    Parameters
    ----------
    shards : sequence of SiteShard
    beliefs : Beliefs
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    some : array of int, optional
        Rows that are looked at; all of them unless given. ``group`` is that of these, in the order of the shards.
    """
    with own_threads():
        shards = together(shards)
        known = _together(shards.map("marginals", beliefs, some))
    return _without(known, group, shards.map("traits")[0].dtype)


def left_out_of_classes(
    shards: Sequence[ClassShard] | Group, group: Rows | None = None, some: Rows | None = None
) -> Floats:
    """Return the same for every class, as the last sweep left it, shape (2, n, C)."""
    shards = together(shards)
    known = _together(shards.map("seen_before", some))
    return _without(known, group, shards.map("traits")[0].dtype)


def _together(parts: Sequence[Marginals]) -> Marginals:
    """Rows of all shards, without a copy if there is one."""
    if len(parts) == 1:
        return parts[0]
    return Marginals(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _without(known: Marginals, group: Rows | None, dtype: str) -> Floats:
    return leave_out((known.mean, known.var), (known.precision, known.b), known.variance_left, group, dtype)
