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
    """State of a fit, as a callback sees it after every step of learning, block of rows and sweep."""

    included: int
    wanted: int
    score: float
    seconds: float
    held_back: float | None  # mean log likelihood of rows held back, if there are any
    log_evidence: float | None = None  # during inference with all rows, which follows; ``score`` is the largest change
    stage: int = 0  # of learning, from 1; of several classes, or starts, one after the other they are counted through
    stages: int = 0  # at most; 0 where nothing is learned
    step: int = 0  # evaluation of the criterion in this stage, from 1
    at_most: int = 0  # evaluations in this stage
    seconds_left: float | None = None  # of learning, roughly

    @property
    def learning(self) -> bool:
        """Whether parameters are being learned."""
        return self.log_evidence is not None and not self.included

    @property
    def way(self) -> str:
        """How far learning is, in words."""
        left = "" if self.seconds_left is None else f", about {self.seconds_left:.1f} s left"
        return f"stage {self.stage} of {self.stages}, step {self.step} of at most {self.at_most}{left}"


Callback: TypeAlias = Callable[[Progress], object]
"""Called after every step of learning, block and sweep; a true answer ends what is under way."""
