"""Keeping, taking back and passing on the sites of rows, whether of one function or of every class."""

from typing import Generic, TypeVar

import numpy as np

from .._types import Floats, Rows
from .messages import Steps

__all__ = ["WithSites"]

S = TypeVar("S")


class WithSites(Generic[S]):
    """Sites of some rows, and those before the last sweeps; ``sums`` adds them up, as an S."""

    rows: Rows
    precision: Floats
    b: Floats
    log_site: Floats
    _step: Floats
    _trail: list[tuple[Floats, Floats, Floats]]  # sites before the last sweep, and the one before

    def sums(self) -> S:
        """Return the sites of all rows added up."""
        raise NotImplementedError

    def sites(self, rows: Rows) -> tuple[Floats, Floats]:
        """Precisions and shifts of some rows, and of every class if there are any; zero for those not here."""
        return _rows_of(self.rows, rows, self.precision), _rows_of(self.rows, rows, self.b)

    def resume(self, rows: Rows, precision: Floats, b: Floats) -> None:
        """Go on from the sites that the rows had on another active set; ``rows`` has all of them, ascending."""
        at = np.searchsorted(rows, self.rows)
        self.precision[:], self.b[:] = precision[at], b[at]

    def log_sites(self) -> float:
        """Logs of the constants of the sites, added up."""
        return float(np.sum(self.log_site))

    def remember(self) -> None:
        """Keep the sites as they are before a sweep."""
        self._trail = [(self.precision.copy(), self.b.copy(), self.log_site.copy()), *self._trail[:1]]

    def note(self, at: Rows, step: Floats) -> Steps:
        """Take note of how far the sites of some rows had to go, and compare it with the step before."""
        before, largest = self._step[:, at], float(np.abs(step).max())
        self._step[:, at] = step = np.where(np.isfinite(step), step, 0.0)
        return Steps(largest, float(np.vdot(step, before)), float(np.vdot(before, before)))

    def undo(self) -> None:
        """Forget the last sweep."""
        (self.precision, self.b, self.log_site), *self._trail = self._trail
        self._step[:] = 0.0

    def shorten(self, share: float) -> S:
        """Take a share of the last step only; return the sites of all rows added up."""
        *before, log_site = self._trail[0]
        moved = (old + share * (new - old) for old, new in zip(before, (self.precision, self.b), strict=True))
        self.precision, self.b = (np.where(np.isfinite(new), new, old) for old, new in zip(before, moved, strict=True))
        self.log_site = log_site.copy()
        return self.sums()

    def make_proper(self) -> S:
        """Take away sites of negative precision, and what is no site; return the sum as ``shorten`` does."""
        improper = ~(np.isfinite(self.precision) & np.isfinite(self.b)) | (self.precision < 0.0)
        self.precision[improper], self.b[improper] = 0.0, 0.0
        return self.sums()


def _rows_of(here: Rows, rows: Rows, values: Floats) -> Floats:
    """Values of some rows, given those of the rows that are here, ascending; zero for others."""
    if not len(here):
        return np.zeros((len(rows), *values.shape[1:]))
    at = np.minimum(np.searchsorted(here, rows), len(here) - 1)
    known = (here[at] == rows).reshape(-1, *[1] * (values.ndim - 1))
    return np.where(known, values[at], 0.0)
