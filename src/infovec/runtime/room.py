"""How much memory work may take: loops over many rows look here for how many of them to take at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["at_once", "limit", "pieces", "work_within"]

_SHARE = (
    1.0 / 8.0
)  # of the limit, for what one loop makes on the way: loops inside loops leave half of it to what stays
_limit: ContextVar[float] = ContextVar("bytes that the work under way may take", default=float("inf"))


def limit() -> float:
    """Bytes that the work under way may take in all; infinite where nobody said."""
    return _limit.get()


@contextmanager
def work_within(size: float) -> Iterator[None]:
    """Let loops inside, and in threads that ``for_each`` starts, keep what they make on the way to a share of this."""
    token = _limit.set(size)
    try:
        yield
    finally:
        _limit.reset(token)


def at_once(usual: int, bytes_each: float, least: int = 1) -> int:
    """How many numbers, or rows, to take at once: the usual number, fewer where their share of memory is too small.

    Parameters
    ----------
    usual : int
        Where memory is plentiful.
    bytes_each : float
        That each of them takes on the way, on all threads together.
    least : int
        Below which it would not work, or take far longer.
    """
    most = _SHARE * _limit.get() / max(bytes_each, 1.0)
    return usual if most >= usual else max(min(least, usual), int(most))


def pieces(size: int, bytes_each: float) -> list[slice]:
    """Return consecutive slices of so many rows, which together are all: one where memory is plentiful."""
    step = max(at_once(size, bytes_each), 1)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]
