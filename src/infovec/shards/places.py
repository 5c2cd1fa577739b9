"""Where the rows of a machine live."""

from collections.abc import Callable
from typing import Final, NamedTuple

from .._types import Inputs, Message, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..scores import Score
from .coupled import CoupledShard
from .cut import cut
from .far import FarInputs
from .index import IndexRule
from .local import LocalShard
from .messages import GivenRows
from .projected import ProjectedShard
from .protocol import ClassShard, Shard, SiteShard
from .refilled import RefilledShard

__all__ = ["HERE", "Places"]


def _local(
    given: GivenRows, kernel: Kernel, likelihood: Likelihood, score: Score, capacity: int, dtype: str, rule: IndexRule
) -> Shard:
    kind = LocalShard if rule.refill is None else RefilledShard
    return kind(given, kernel, likelihood, score, capacity, dtype, rule)


class Places(NamedTuple):
    """How many shards rows are cut into, and what makes each of them: here, in this process.

    All shards of a machine are made by these, whether it learns, selects or infers. What makes shards elsewhere takes
    the parameters of those here, and returns something with the methods of the protocol.

    Parameters
    ----------
    n_shards : int
    to_select : callable with the parameters of LocalShard
    to_infer : callable with the parameters of ProjectedShard
    to_infer_classes : callable with the parameters of CoupledShard
    by_place : callable, optional
        From inputs that are far, rows, and whether these are to be selected from, to the rows of each shard.
    rows_at_once : int, optional
        Rows that inference has in memory, if not all.
    """

    n_shards: int = 1
    to_select: Callable[..., Shard] = _local
    to_infer: Callable[..., SiteShard] = ProjectedShard
    to_infer_classes: Callable[..., ClassShard] = CoupledShard
    by_place: Callable[[Message, Rows, bool], list[Message]] | None = None
    rows_at_once: int | None = None

    def divided(self, X: Inputs, rows: Rows, selecting: bool) -> list[Message]:
        """Return which of some rows each shard has: slices, or positions that are ascending in it."""
        far = isinstance(X, FarInputs) and self.by_place is not None
        return self.by_place(X, rows, selecting) if far else self.cut(len(rows))  # type: ignore[misc]

    def cut(self, n: int) -> list[slice]:
        """Return the rows of each shard, in order."""
        return cut(n, self.n_shards)


HERE: Final = Places()
"""All rows in one shard of this process."""
