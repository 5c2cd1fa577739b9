"""Memory that was freed but not given back."""

import ctypes
import sys
from contextlib import suppress

__all__ = ["give_back"]


def give_back() -> None:
    """Hand freed memory back to the system where the C library keeps it (glibc), between stages of large arrays."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
