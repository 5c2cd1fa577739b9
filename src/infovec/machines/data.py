"""The rows that a machine learns from."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..kernels import Kernel
from ..shards import FarInputs, SomeRows
from .sample import Sample

__all__ = ["Data", "Families", "whole_folds"]

_OFFSET_ROWS = 100  # by which it is found out how inputs have been moved
_ROUNDING = 1e-6  # share of a column, for single precision


class Families(NamedTuple):
    """Rows that belong together, at other inputs."""

    kin: Rows | None = None  # the same number for a row and its images
    eligible: Mask | None = None
    """Rows that selection chooses from, shape (n,), or (n, C) where classes do for themselves; None if from all."""
    folds: Rows | None = None
    """The same number for rows that are left out together where it is found out how well others are predicted, as the
    user has grouped them; None where each is left out with those of equal inputs, and its images."""

    def take(self, rows: Rows) -> Self:
        """Return those of some rows."""
        kin, folds = (None if same is None else same[rows] for same in (self.kin, self.folds))
        return type(self)(kin, None if self.eligible is None else self.eligible[rows], folds)


@dataclass(frozen=True)
class Data:
    """Rows in the units and the precision that a machine works in.

    Parameters
    ----------
    X, y : inputs and targets
    given : Sample
        The same rows, or more of them, as the user has them.
    priority : array of float in [0, 1)
        At random: the order in which rows are taken where some are enough.
    held_back : array of bool
        Rows that never become active: they tell how well others are predicted.
    group : array of int, optional
        The same number for rows of equal inputs.
    families : Families, optional
        Rows with their images, or in groups; None if there are none such.
    beside : int
        Bytes of rows that are given and take no part.
    """

    X: Inputs
    y: Floats
    given: Sample
    priority: Floats
    held_back: Mask
    group: Rows | None = None
    beside: int = 0
    families: Families | None = None

    @property
    def folds(self) -> Rows | None:
        """The same number for rows that are left out together as the user has grouped them; None if they are not."""
        return None if self.families is None else self.families.folds

    @property
    def together(self) -> Rows | None:
        """The same number for rows at other inputs that are left out together: folds, or else a row and its images."""
        return self.kin if self.folds is None else self.folds

    @property
    def kin(self) -> Rows | None:
        """The same number for a row and its images."""
        return None if self.families is None else self.families.kin

    @property
    def eligible(self) -> Mask | None:
        """Rows that selection chooses from; None if from all."""
        return None if self.families is None else self.families.eligible

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def p(self) -> int:
        """How many columns the inputs have; one for objects."""
        return self.X.shape[1] if self.X.ndim == 2 else 1

    @property
    def some(self) -> bool:
        """Whether others were given that take no part."""
        return isinstance(self.given.X, SomeRows)

    def inputs(self, rows: Rows) -> Inputs:
        """Return the inputs of some rows, ascending, for a shard."""
        if isinstance(self.X, FarInputs):
            return self.X.for_shard(rows)
        return self.X if len(rows) == self.n else self.X[rows]

    def near(self, rows: Rows) -> Inputs:
        """Return the inputs of some rows, ascending, in the memory of this process."""
        X = self.inputs(rows)
        return X[:] if isinstance(X, FarInputs) else X

    def sample(self, size: int) -> Rows:
        """Return rows drawn at random, the same for the same random state, none of them held back."""
        order = np.argsort(self.priority, kind="stable")
        return np.sort(order[~self.held_back[order]][:size])

    def first_in_line(self, size: int, besides: Rows) -> Rows:
        """Return so many rows to select from: some that are wanted besides, those held back, then by priority."""
        rows = np.arange(self.n) if self.eligible is None else np.flatnonzero(self.eligible)
        if size >= len(rows):
            return rows
        first = -self.priority
        first -= self.held_back
        first[besides] -= 2.0
        return np.sort(rows[np.argpartition(first[rows], size)[:size]])

    def all_but(self, left_out: Rows | None) -> Rows:
        """Return the numbers of all rows but some."""
        every = np.arange(self.n)
        return every if left_out is None else np.setdiff1d(every, left_out)

    def part(self, rows: Rows, as_they_are: bool, kernel: Kernel) -> Self:
        """Return some rows to learn from, none of them held back; with inputs in another precision, as exact as can be.

        Parameters
        ----------
        rows : array of int
        as_they_are : bool
            Whether the precision of the inputs stays.
        kernel : Kernel
        """
        every, all_given = len(rows) == self.n, self.given.X.shape[0] == self.n and kernel.numeric
        if isinstance(self.X, FarInputs):
            X = self.X[rows] if as_they_are else self.given.inside[rows]
        elif every or as_they_are or not all_given:
            X = self.X if as_they_are else self.exact_inputs(kernel)
            X = X if every else X[rows]
        else:
            X = self.given.inside[rows]  # these alone in double precision
        nothing = np.zeros(len(rows), dtype=bool)
        return replace(
            self,
            X=X,
            y=self.y[rows],
            priority=self.priority[rows],
            held_back=nothing,
            group=self.groups_of(rows),
            families=None if self.folds is None else Families(folds=self.folds[rows]),
        )

    def take(self, rows: Rows) -> Self:
        """Return some rows as if no others had been given."""
        return replace(
            self, X=self._some(rows), y=self.y[rows], given=self.given.take(rows, copied=False),
            priority=self.priority[rows],
            held_back=self.held_back[rows], group=self.groups_of(rows),
            families=None if self.families is None else self.families.take(rows),
        )  # fmt: skip

    def of_class(self, c: int) -> Self:
        """Return the same with the rows that one class selects from."""
        if self.families is None or self.eligible is None:
            return self
        return replace(self, families=self.families._replace(eligible=self.eligible[:, c]))

    def _some(self, rows: Rows) -> Inputs:
        return self.X.some(rows) if isinstance(self.X, FarInputs) else self.X[rows]

    def groups_of(self, rows: Rows) -> Rows | None:
        """Return which of some rows have equal inputs."""
        return None if self.group is None else self.group[rows]

    def folds_of(self, rows: Rows) -> Rows | None:
        """Return which of some rows are left out together."""
        return None if self.folds is None else self.folds[rows]

    def real(self, rows: Rows) -> Mask:
        """Return which of some rows are no images of others: predictions will be of such."""
        return np.ones(len(rows), dtype=bool) if self.given.virtual is None else ~self.given.virtual[rows]

    def turns(self, rows: Rows) -> Floats:
        """Return which of some rows come first where only some can tell how certain predictions are: no images."""
        return np.where(self.real(rows), self.priority[rows], np.inf)

    def count(self, rows: Rows) -> Rows:
        """Return of how many rows and images each of some rows is one."""
        return np.ones(len(rows), dtype=np.intp) if self.kin is None else np.bincount(self.kin)[self.kin[rows]]

    def in_precision(self, kernel: Kernel, dtype: str) -> Self:
        """Return the same with inputs in the precision of the products."""
        return replace(self, X=self.X.astype(dtype, copy=False)) if kernel.numeric else self

    def exact_inputs(self, kernel: Kernel) -> Inputs:
        """Inputs as they were given, as far as these are all of them."""
        if self.given.X.shape[0] != self.n or not kernel.numeric:
            return self.X
        X = self.given.X
        if isinstance(X, FarInputs):
            return self.given.inside
        if self.given.columns:
            return self.given.columns.inside(X)
        return X[:] if isinstance(X, SomeRows) else X

    def offset(self, rows: Rows | None = None) -> Floats:
        """By how much inputs of ``given.inside`` are off those here, the same for all; of a part with its rows."""
        some = np.arange(min(self.n, _OFFSET_ROWS))
        given = self.given.inside[some if rows is None else rows[some]]
        centre = np.mean(np.asarray(given, dtype=np.float64) - self.X[some], axis=0)
        return np.where(np.abs(centre) > _ROUNDING * np.abs(self.X[some]).max(axis=0), centre, 0.0)

    def seen(self, inputs: Floats) -> Inputs:
        """Return inputs of ``given.inside`` that are no rows as the rows here are."""
        return (inputs - self.offset()).astype(self.X.dtype)

    def exact_rows(self, rows: Rows, kernel: Kernel) -> Callable[[], Inputs]:
        """Return how to get the inputs of some of the given rows in double precision, should they be needed."""
        inside = self.given.inside
        return lambda: kernel.in_double(inside[rows])


def whole_folds(line: Rows, size: int, folds: Rows | None) -> Rows:
    """Return the first so many rows of a line, or all rows of the folds first in it: about as many, and not the last.

    Parameters
    ----------
    line : array of int
        Rows in the order in which they are taken.
    size : int
    folds : array of int, optional
        Of all rows, the same number for those that stay together; None where each is for itself.
    """
    if folds is None or not size:
        return line[:size]
    names, first, counts = np.unique(folds[line], return_index=True, return_counts=True)
    order = np.argsort(first)
    before = np.cumsum(counts[order]) - counts[order]
    taken = names[order[:-1][before[:-1] + 0.5 * counts[order[:-1]] <= size]]
    return line[np.isin(folds[line], taken if len(taken) else names[order[:-1]][:1])]
