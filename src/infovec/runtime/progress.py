"""What is told of work under way, and why it ended."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias

__all__ = ["Callback", "Progress", "StopReason"]


class StopReason(StrEnum):
    """Why selection ended."""

    COMPLETE = "the active set has the size asked for"
    EXHAUSTED = "all rows are included"
    UNINFORMATIVE = "no remaining row is informative"
    SETTLED = "rows held back are predicted no better"
    TIME = "the time is used up"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted from the keyboard"


class Progress(NamedTuple):
    """State of a selection, as a callback sees it after every block."""

    included: int
    wanted: int
    score: float
    seconds: float
    held_back: float | None  # mean log likelihood of rows held back, if there are any
    log_evidence: float | None = None  # during inference with all rows, which follows; ``score`` is the largest change


Callback: TypeAlias = Callable[[Progress], object]
"""Called after every step of learning, block and sweep; a true answer ends what is under way."""
