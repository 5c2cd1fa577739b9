"""How many rows are included between two looks at all rows, and from how many they are chosen."""

from dataclasses import dataclass
from typing import Generic, Self, TypedDict, TypeVar

from .._types import Floats
from ..runtime import Deadline

__all__ = ["Choosing", "Patience", "Schedule"]

_SMALL = 1000  # rows up to which one look for each inclusion costs next to nothing
_LARGEST = 128  # rows in a block: more gains little in the matrix products and costs in the choice
_GROWTH = 8  # a block is at most this fraction of the rows included already
_POOL = 6  # candidates for each row of a block


@dataclass(frozen=True)
class Schedule:
    """Blocks that start at one row, where each inclusion changes much, and grow to ``block_size``.

    Parameters
    ----------
    block_size : int
        Largest block. One is the algorithm of the papers: the best of all rows, every time.
    pool_size : int
        Candidates for the largest block; smaller blocks have proportionally fewer.
    hurried : bool
        Whether the first blocks are as large as the others.
    """

    block_size: int = 1
    pool_size: int = 1
    hurried: bool = False

    @classmethod
    def choose(cls, block_size: int | None, pool_size: int | None, n: int, d: int) -> Self:
        """Fill in what is left open, for n rows and an active set of d."""
        if block_size is None:
            block_size = 1 if n <= _SMALL else _block(d)
        if pool_size is None:
            pool_size = 1 if block_size == 1 else _POOL * block_size
        block_size = min(block_size, n)
        return cls(block_size, min(max(block_size, pool_size), n))

    @classmethod
    def in_blocks(cls, n: int, d: int) -> Self:
        """Return the schedule of many rows, where it does not matter which row exactly comes next."""
        return cls.choose(_block(d), None, n, d)

    def sizes(self, t: int) -> tuple[int, int]:
        """Return the sizes of block and pool once t rows are included."""
        block = self.block_size if self.hurried else min(self.block_size, max(1, t // _GROWTH))
        if block == 1:
            return 1, 1
        return block, max(block, -(-self.pool_size * block // self.block_size))

    def looks(self, d: int) -> int:
        """Return how often all rows are looked at until d are included."""
        looks, t = 0, 0
        while t < d:
            looks, t = looks + 1, t + self.sizes(t)[0]
        return looks


def _block(d: int) -> int:
    return min(_LARGEST, max(4, d // 16))


S = TypeVar("S")


class Choosing(TypedDict, Generic[S], total=False):
    """How rows, or pairs of a row and a class, are chosen for coupled classes; what is left out has a default."""

    score: S
    priority: Floats | None  # one for each row; breaks ties, the largest first; row order if None
    schedule: Schedule | None  # sizes of blocks and pools
    dtype: str  # of products over all rows
    deadline: Deadline  # ends it with the blocks so far, of which there is one at least


class Patience:
    """When to stop adding rows: the likelihood of rows held back has stopped improving (Thesis 4.4.1).

    It counts as improved when the mean loss of the held-back rows falls by the share ``tolerance`` below the best so
    far. After ``wait`` inclusions without improvement (a quarter of the active set, if that is more) selection ends and
    the active set goes back to where it was best. The rows are held back, not merely outside the active set, because
    selection prefers rows that are badly predicted and so makes the others look better than they are.
    """

    def __init__(self, tolerance: float = 0.01, wait: int = 100) -> None:
        self.tolerance, self.wait = tolerance, wait
        self.best, self.best_size = -float("inf"), 0

    def ends(self, size: int, held_back: float) -> bool:
        """Take note of a new value and say whether it is time to stop."""
        if self.best_size == 0 or held_back > self.best + self.tolerance * abs(self.best):
            self.best, self.best_size = held_back, size
        return size - self.best_size > max(self.wait, size // 4)
