"""A training set cut into shards, and what each may have of what there is for all."""

from itertools import pairwise

__all__ = ["cut", "share"]


def cut(n: int, n_shards: int) -> list[slice]:
    """Return the rows of each shard, in order: as many for each as can be, and none of them without rows."""
    n_shards = max(1, min(n_shards, n))
    ends = [n * k // n_shards for k in range(n_shards + 1)]
    return [slice(*pair) for pair in pairwise(ends)]


def share(entries: int, n_rows: int, n: int, least: int = 0) -> int:
    """Return how many of the numbers that all n rows may keep are for a shard of some rows."""
    return max(entries * n_rows // max(n, 1), min(least, entries))
