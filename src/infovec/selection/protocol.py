"""What selects rows, whatever it selects them by."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from .._types import Floats, Rows
from .schedule import Patience

__all__ = ["Callback", "Chooser", "Progress", "Selector", "StopReason"]


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
"""Called after every block; a true answer ends the selection."""


class Chooser(Protocol):
    """Has chosen rows for an active set, and can go on where it stopped, by itself or with those it has."""

    size: int  # rows included, of the largest class where classes have active sets of their own
    n_rows: int  # that may be included

    @property
    def active(self) -> Rows:
        """Rows in order of inclusion; those after the first ``size`` may be anything, unless classes have their own."""

    @property
    def scores(self) -> Floats:
        """Score of each at its inclusion."""

    @property
    def seconds(self) -> Floats:
        """Seconds until then."""

    def include(self, rows: Rows) -> None:
        """Include given rows first, in order."""

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows."""

    def release(self) -> None:
        """Give back the memory that only going on needs; what was found stays, and nothing can be added."""


@runtime_checkable
class Selector(Chooser, Protocol):
    """Chooses rows for an active set, and can go on where it stopped."""

    @property
    def sites(self) -> tuple[Rows, Floats, Floats] | None:
        """Active rows with the precisions and shifts of their sites, if there are sites to start inference from."""

    def run(
        self,
        wanted: int,
        callback: Callback | None = None,
        max_seconds: float = np.inf,
        patience: Patience | None = None,
    ) -> StopReason:
        """Include rows until ``wanted`` are in, or something else ends it."""

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` rows."""
