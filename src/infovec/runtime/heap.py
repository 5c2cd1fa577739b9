"""Memory that was freed but not given back."""

import ctypes
import sys
from contextlib import suppress

__all__ = ["give_back", "keep_freed"]

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt
_KEPT = 1 << 28  # bytes at the end of the heap that stay
_LARGE = 1 << 25  # bytes of an array that comes from the system each time; the C library has no larger


def give_back() -> None:
    """Hand freed memory back to the system where the C library keeps it (glibc), between stages of large arrays."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def keep_freed() -> None:
    """Let the C library keep some freed memory for the arrays to come, as it does unless it was told otherwise.

    Workers of a cluster are often told to give all of it back at once (``MALLOC_TRIM_THRESHOLD_``). Then the system
    must clear the memory of every array that a loop makes on the way, which takes a third of the time.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(_M_TRIM_THRESHOLD, _KEPT)
            library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
