"""Who called from outside of the library."""

import sys

__all__ = ["outside"]


def outside() -> int:
    """Return the ``stacklevel`` of whoever called from outside, for a warning of the calling function."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("infovec.", "sklearn.callback")):
        level, frame = level + 1, frame.f_back
    return level
