"""What the driver and the shards tell each other. Rows are always training rows, never positions."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from .._types import Floats, Inputs, Mask, Rows

__all__ = [
    "Basis",
    "Beliefs",
    "Candidates",
    "Facts",
    "Gains",
    "GivenRows",
    "Inclusions",
    "Marginals",
    "Representation",
    "Slopes",
    "Steps",
    "Sums",
    "Swept",
    "Traits",
]


class Facts(NamedTuple):
    """What a driver must know of a shard before it starts."""

    n_rows: int
    n_free: int  # of these, that may be included
    min_var: float  # share of the prior variance below which a variance is rounding
    refilled: bool  # whether it wants to be told of the whole active set before every look


class GivenRows(NamedTuple):
    """Some rows of the training set, as a shard is given them to select from."""

    rows: Rows  # their numbers in the training set, ascending
    X: Inputs  # in the precision of the stubs
    y: Floats
    priority: Floats  # in [0, 1): breaks ties between rows of equal score
    held_back: Mask | None = None  # rows that are never included, and always considered: they tell how others do


class Candidates(NamedTuple):
    """Rows that a shard offers for inclusion, with all that the driver needs to include them."""

    rows: Rows
    X: Inputs
    y: Floats
    stubs: Floats  # (t, k): columns of M
    mean: Floats  # h
    var: Floats  # a
    prior_var: Floats  # k(x, x)
    key: Floats  # score, ties broken, comparable between shards; -inf for a row that must not be included

    def take(self, at: Rows) -> "Candidates":
        """Return some of the candidates."""
        return Candidates(
            self.rows[at], self.X[at], self.y[at], self.stubs[:, at], self.mean[at], self.var[at],
            self.prior_var[at], self.key[at],
        )  # fmt: skip


class Inclusions(NamedTuple):
    """A block B of included rows, as every shard must hear of it: the new rows of L and beta."""

    rows: Rows
    X: Inputs
    root_precision: Floats  # square roots of the site precisions, Pi_B^1/2
    L_left: Floats  # (B, t): L_BI
    L_corner: Floats  # (B, B): L_BB
    beta: Floats  # (B,)


class Representation(NamedTuple):
    """The whole active set as a shard needs it to make the stubs of a row from nothing."""

    X: Inputs
    root_precision: Floats
    L: Floats
    beta: Floats


class Basis(NamedTuple):
    """The active set as the projected posterior needs it: u_I = L v with v standard normal a priori."""

    rows: Rows
    X: Inputs  # in the precision of the products
    L: Floats  # K_I = L L^T, in double precision
    jitter: float  # share by which the diagonal of K_I was raised to make it so
    fine: bool = False  # whether projections are made in double precision, where they are made once


class Beliefs(NamedTuple):
    """Current Gaussian posterior of v: covariance (Q Q^T)^-1, mean Q^-T beta."""

    Q: Floats
    beta: Floats


class Sums(NamedTuple):
    """Sites added up over rows, in the coordinates v: the precision (lower triangle) and the shift they give."""

    precision: Floats  # sum of pi_i V_i V_i^T
    shift: Floats  # sum of b_i V_i

    def __add__(self, other: "Sums") -> "Sums":  # type: ignore[override]
        return Sums(self.precision + other.precision, self.shift + other.shift)


class Traits(NamedTuple):
    """What inference must know of a shard that is projected onto the active set."""

    n_rows: int
    n_functions: int
    dtype: str  # of its products
    whole: bool  # whether all of V is kept, not made anew in every sweep
    conjugate: bool  # whether sites are the likelihood itself
    log_concave: bool
    lapses: bool = False  # whether labels may be wrong


class Marginals(NamedTuple):
    """Posterior of the projections of the rows of a shard, their own sites, and the variance the active set leaves."""

    mean: Floats
    var: Floats
    precision: Floats
    b: Floats
    variance_left: Floats


class Gains(NamedTuple):
    """Rows of a shard that would gain most by becoming active, best first, as a choice among them needs them."""

    rows: Rows
    X: Inputs
    y: Floats
    features: Floats  # (k, d): V, transposed
    cavity: Floats  # (5, k): the fields of Cavity
    left: Floats  # variance that the active set leaves
    prior_var: Floats
    gain: Floats

    def take(self, at: Rows) -> "Gains":
        """Return some of them."""
        return Gains(*(v[:, at] if name == "cavity" else v[at] for name, v in zip(self._fields, self, strict=True)))


class Slopes(NamedTuple):
    """What rows add to the gradient of the evidence."""

    kernel: Floats  # in theta of the kernel, through all but K_I
    likelihood: Floats  # in theta of the likelihood
    VwV: Floats  # sum of w_i V_i V_i^T, with w_i the derivative of log Z_i in its variance
    inputs: Floats  # in the active inputs, through all but K_I; without columns where that was not asked for
    left: Floats  # half of the sum of pi_i l_i^2, shape (1,)

    def __add__(self, other: "Slopes") -> "Slopes":  # type: ignore[override]
        return Slopes(*(a + b for a, b in zip(self, other, strict=True)))


class Steps(NamedTuple):
    """How far sites had to go in a sweep, in units of the posterior, and the step before."""

    largest: float
    along: float  # inner product with the step before
    before: float  # square of the step before

    @classmethod
    def total(cls, parts: Iterable["Steps"]) -> "Steps":
        """Return the same of all parts of the rows together."""
        largest, along, before = np.array([cls(0.0, 0.0, 0.0), *parts]).T
        return cls(float(largest.max()), float(along.sum()), float(before.sum()))

    def __add__(self, other: "Steps") -> "Steps":  # type: ignore[override]
        return Steps.total([self, other])


S = TypeVar("S", Sums, Floats)


class Swept(NamedTuple, Generic[S]):
    """What a sweep over the rows of a shard found: sums of sites, of many classes sums of pi V V^T for every class."""

    open: S  # over the rows that moved
    settled: S  # over the rows that did not, to be left alone until all rows are visited again
    steps: Steps

    def __add__(self, other: "Swept[S]") -> "Swept[S]":  # type: ignore[misc, override]
        return Swept(self.open + other.open, self.settled + other.settled, self.steps + other.steps)
