"""How many rows a shard goes on considering: the selection index J."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Rows
from .cut import share

__all__ = ["IndexRule", "Refill"]

_FASTER = 4.0  # decay of an index that shrinks at once to a few rows, as one that is refilled does


class Refill(NamedTuple):
    """An index of few rows, the worse of which are exchanged for others at every look (NIPS03, end of section 3)."""

    size: int  # m of the paper
    retained: float  # tau: share of the index that stays
    full_until: int  # inclusions by full greedy selection
    seed: tuple[int, ...]  # of the rows that come in


@dataclass(frozen=True)
class IndexRule:
    """Size of the selection index after t inclusions; it never grows again (SLH 3.2).

    Parameters
    ----------
    max_entries : int, optional
        Cap on the numbers in the stub matrix.
    shrink_after : int, optional
        From this many inclusions on, shrink to n (shrink_after / t)^decay rows.
    decay : float
    best_share : float
        Share of the new index that goes to the best rows; the rest is drawn at random from the others.
    refill : Refill, optional
        Rows out of the index may come back.
    """

    max_entries: int | None = None
    shrink_after: int | None = None
    decay: float = 1.0
    best_share: float = 0.8
    refill: Refill | None = None

    def without_refill(self) -> Self:
        """Return a rule that looks at about as many rows, to predict what it takes."""
        if self.refill is None:
            return self
        return replace(self, shrink_after=self.refill.full_until, decay=_FASTER, refill=None)

    def of_shard(self, number: int, n_rows: int, n: int, capacity: int) -> Self:
        """Return the rule of one of the shards of n rows, which has some of them."""
        entries = None if self.max_entries is None else share(self.max_entries, n_rows, n, capacity)
        if self.refill is None:
            return replace(self, max_entries=entries)
        size, seed = share(self.refill.size, n_rows, n, 1), (*self.refill.seed, number) if number else self.refill.seed
        return replace(self, max_entries=entries, refill=self.refill._replace(size=size, seed=seed))

    def limit(self, n: int, t: int, capacity: int) -> int:
        """Return how many of n rows to keep once t rows are included."""
        limit = n
        if self.shrink_after is not None and t > self.shrink_after:
            limit = int(n * (self.shrink_after / t) ** self.decay)
        if self.max_entries is not None and self.max_entries < n * capacity:
            ahead = min(capacity, t + t // 4 + 1)  # room for a quarter more, so that it shrinks in few steps
            limit = min(limit, self.max_entries // ahead)
        return max(limit, 1)

    def peak(self, n: int, capacity: int) -> int:
        """Return the largest number of stub entries on the way to ``capacity`` inclusions."""
        return max(t * min(n, int(1.2 * self.limit(n, t, capacity))) for t in range(1, capacity + 1))

    def needs_shrinking(self, n: int, live: int, t: int, capacity: int) -> bool:
        """Whether the stubs of t inclusions would not fit, or the index is well above its limit."""
        full = self.max_entries is not None and live * t > self.max_entries
        return full or live > 1.2 * self.limit(n, t, capacity)

    def keep(self, key: Floats, priority: Floats, size: int) -> Rows:
        """Return the positions of the rows to keep: the best, and others by their random priority."""
        open_ = np.flatnonzero(np.isfinite(key))
        if len(open_) <= size:
            return open_
        n_best = int(self.best_share * size)
        order = open_[np.argpartition(-key[open_], n_best)]
        best, rest = order[:n_best], order[n_best:]
        drawn = rest[np.argpartition(-priority[rest], size - n_best)[: size - n_best]]
        return np.sort(np.concatenate([best, drawn]))
