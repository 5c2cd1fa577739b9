"""Who called from outside of the library."""

import sys

__all__ = ["in_search", "outside"]


def outside() -> int:
    """Return the ``stacklevel`` of whoever called from outside, for a warning of the calling function."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("infovec.", "sklearn.callback")):
        level, frame = level + 1, frame.f_back
    return level


def in_search() -> bool:
    """Whether scikit-learn asks for parts of a table, in a search or a cross-validation."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            return True
        frame = frame.f_back
    return False
