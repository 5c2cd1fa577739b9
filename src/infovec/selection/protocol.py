"""What selects rows, whatever it selects them by."""

from typing import Protocol, runtime_checkable

from .._types import Floats, Rows
from ..runtime import NEVER, Deadline, StopReason
from .schedule import Patience

__all__ = ["Chooser", "Selector"]


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

    def include(self, rows: Rows, deadline: Deadline = NEVER) -> None:
        """Include given rows first, in order, unless somebody asks for an end."""

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

    def run(self, wanted: int, deadline: Deadline = NEVER, patience: Patience | None = None) -> StopReason:
        """Include rows until ``wanted`` are in, or something else ends it."""

    def rewind(self, size: int) -> None:
        """Go back to the first ``size`` rows."""
