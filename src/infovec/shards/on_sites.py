"""Keeping, taking back and passing on the sites of rows, whether of one function or of every class."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from .._types import Floats, Message, Rows
from ..kernels import Kernel
from .cavity import SHARE_FLOOR
from .messages import Basis, Steps

__all__ = ["WithSites"]

S = TypeVar("S")


class WithSites(ABC, Generic[S]):
    """Sites of some rows, and those before the last sweeps; ``sums`` adds them up, as an S."""

    rows: Rows
    kernel: Kernel
    likelihood: Message
    prior_var: Floats
    precision: Floats
    b: Floats
    log_site: Floats
    dtype: str
    copies: Floats | float = 1.0  # that each row stands for, of which each is blurred for itself
    _step: Floats
    _trail: list[tuple[Floats, Floats, Floats]]  # sites before the last sweep, and the one before
    _good: tuple[Floats, Floats] | None = None  # on the latent values, to go on from

    @abstractmethod
    def sums(self) -> S:
        """Return the sites of all rows added up."""

    def sites(self, rows: Rows) -> tuple[Floats, Floats]:
        """Precisions and shifts of some rows, and of every class if there are any; zero for those not here."""
        return _rows_of(self.rows, rows, self.precision), _rows_of(self.rows, rows, self.b)

    @property
    @abstractmethod
    def blur_var(self) -> Floats:
        """Variance by which the site of each row is blurred."""

    def latent_sites(self, rows: Rows) -> tuple[Floats, Floats]:
        r"""Return the sites of some rows on their latent values, which know no active set.

        .. math:: \pi_u = \frac{\pi}{1 - \pi l^2}, \qquad b_u = \frac{b}{1 - \pi l^2}
        """
        left = np.maximum(1.0 - (self.precision.T * self._own_blur).T, SHARE_FLOOR[self.dtype])
        return _rows_of(self.rows, rows, self.precision / left), _rows_of(self.rows, rows, self.b / left)

    def resume(self, rows: Rows, precision: Floats, b: Floats) -> None:
        """Go on from sites on the latent values, found with another active set; ``rows`` has all, ascending."""
        at = np.searchsorted(rows, self.rows)
        blurred = np.maximum(1.0 + (precision[at].T * self._own_blur).T, SHARE_FLOOR[self.dtype])
        self.precision[:], self.b[:] = precision[at] / blurred, b[at] / blurred

    @abstractmethod
    def project(self, basis: Basis) -> None:
        """Take a new active set."""

    @abstractmethod
    def diagonal(self) -> Floats:
        """Variances of the function at the rows before anything is known."""

    def keep(self) -> None:
        """Keep the sites as those to go on from with other parameters."""
        self._good = self.latent_sites(self.rows)

    def renew(self, kernel: Kernel, theta: Floats, basis: Basis) -> None:
        """Take other parameters with their active set, and go on from the sites that were kept, or from none."""
        self.kernel, self.likelihood = kernel, self.likelihood.with_theta(theta)
        self.prior_var = self.diagonal()
        self.project(basis)
        self.precision[:], self.b[:], self._step[:], self._trail = 0.0, 0.0, 0.0, []
        if self._good is not None:
            self.resume(self.rows, *self._good)

    @property
    def _own_blur(self) -> Floats:
        """Blur of one copy of each row."""
        return self.blur_var / self.copies

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
