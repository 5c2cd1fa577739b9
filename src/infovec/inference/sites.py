"""Sites that can be swept: what the loop of expectation propagation asks of one function, and of many classes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Generic, TypeVar

import numpy as np

from .._types import Floats
from ..shards import Beliefs, Group, Steps, Sums, Swept

__all__ = ["Sites", "log_evidence", "total"]

S = TypeVar("S", Sums, Floats)


class Sites(ABC, Generic[S]):
    """Sites of all rows of some shards, and the posterior that they give.

    A sweep leaves rows at rest alone: their sites are added up once, in ``settled``, and stay in the sum until all rows
    are open again. ``accept``, ``shorten`` and ``make_proper`` go over to the posterior of the sites as they then are,
    and raise NotPositiveDefinite where there is none.

    Parameters
    ----------
    shards : group of SweptShard
    moving : sum of the sites that they have
    """

    beliefs: Beliefs
    """The posterior of v."""
    damping: float = 1.0
    """Of the first sweep."""
    most: float = 1.0
    """Of the sweeps that follow, as long as nothing speaks for more."""
    steady: bool = True
    """Whether the changes of two sweeps in turn compare: growth then is overshoot, and the next one can be foreseen."""

    def __init__(self, shards: Group, moving: S) -> None:
        self.rows = shards
        self.moving: S = moving
        self.settled: S | None = None

    @abstractmethod
    def _visit(self, damping: float, still: float, change: float) -> Swept[S]:
        """Move the sites of the open rows of every shard; ``change`` is the largest of the last sweep."""

    @abstractmethod
    def _infer(self, sites: S) -> None:
        """Make the posterior of sites that are added up; their sum may be overwritten."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(traits.n_rows for traits in self.rows.map("traits"))

    @property
    def n_open(self) -> int:
        """Number of rows that the next sweep visits."""
        return int(self.rows.reduce("n_open"))

    def open_all(self) -> None:
        """Let the next sweep visit all rows."""
        self.settled = None
        self.rows.broadcast("open_all")

    def sweep(self, damping: float, still: float, change: float) -> Steps:
        """Move the sites of open rows; a row that moves by less than ``still`` rests from now on."""
        del self.moving  # the posterior is made of it already: there will be another
        found = self._visit(damping, still, change)
        self.moving = found.open
        self.settled = found.settled if self.settled is None else total([self.settled, found.settled])
        return found.steps

    def log_evidence(self) -> float:
        """EP approximation to log P(y) of the posterior that the last sweep started from."""
        return log_evidence(self.rows, self.beliefs)

    def accept(self) -> None:
        """Take over the sites that the last sweep found."""
        self._infer(self.moving if self.settled is None else total([self.settled, self.moving]))

    def undo(self) -> None:
        """Forget the last sweep; what is added up is that of other sites until ``shorten``."""
        self.rows.broadcast("undo")

    def shorten(self, share: float) -> None:
        """Keep only a share of the step of the last sweep that is not forgotten."""
        self._infer_anew(self.rows.reduce("shorten", share))

    def make_proper(self) -> None:
        """Drop the sites that may leave no posterior."""
        self._infer_anew(self.rows.reduce("make_proper"))

    def _infer_anew(self, sums: S) -> None:
        self.settled, self.moving = None, sums
        self._infer(self.moving)


def total(parts: Sequence[S]) -> S:
    """Sums of all shards together."""
    return reduce(add, parts)


def log_evidence(shards: Group, beliefs: Beliefs) -> float:
    r"""EP approximation to log P(y): the prior times all sites with their constants, integrated.

    .. math:: \sum_i \log s_i + \tfrac12 \sum_c \bigl(|\beta_c|^2 - \log|M_c|\bigr), \qquad M_c = Q_c Q_c^T

    over the functions c, of which there may be one.
    """
    Q, beta = beliefs
    gauss = 0.5 * np.vdot(beta, beta) - np.sum(np.log(np.diagonal(Q, axis1=-2, axis2=-1)))
    return float(gauss + shards.reduce("log_sites"))
