"""The rows that a fit is about: those of positive weight, equal ones taken together."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse

from .._types import Array, Floats, Inputs, Mask, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood, Weighted, weighted
from ..likelihoods.classes import ClassLikelihood
from ..shards import FarInputs, SomeRows
from .columns import Columns, InsideRows
from .counting import as_copies, told_apart
from .equal_rows import first_equal, row_keys
from .unit import Unit

__all__ = ["AnyLikelihood", "Sample"]

AnyLikelihood: TypeAlias = Likelihood | ClassLikelihood

_SORTED = 8  # columns that tell most rows apart
_FEW_ROWS = 1_000_000  # that are not in memory, of which these columns are looked at all the same


class Same(NamedTuple):
    """Which rows are not left out alone where it is found out how well others are predicted."""

    inputs: Rows | None = None  # the same number for rows of equal inputs; None if there are none such, or not known
    folds: Rows | None = None  # the same number for rows of a group that the user has named; None without

    def take(self, at: Rows) -> Self:
        """Return those of some rows."""
        return type(self)(*(None if part is None else part[at] for part in self))


@dataclass(frozen=True)
class Sample:
    """Rows to learn from, with their weights and where they come from.

    Parameters
    ----------
    X, y : inputs and targets of these rows
    rows : array of int
        Their numbers in the X that was given.
    place : array of int
        Where each row of that X is here; -1 if it is left out.
    weight : array of float, optional
        Positive; None if all are one.
    unit : Unit
        Of real targets, in which a fit works.
    columns : Columns, optional
        The units of the columns in which it does; None if it has them as they are.
    same : Same
        Rows of equal inputs, which have one latent value, and rows of the same group.
    """

    X: Inputs
    y: Array
    rows: Rows
    place: Rows
    weight: Floats | None = None
    unit: Unit = field(default_factory=Unit)
    columns: Columns | None = None
    same: Same = field(default_factory=Same)

    @property
    def group(self) -> Rows | None:
        """The same number for rows of equal inputs; None if there are none such, or it cannot be told."""
        return self.same.inputs

    @property
    def folds(self) -> Rows | None:
        """The same number for rows that are left out together; None without groups."""
        return self.same.folds

    @classmethod
    def of(cls, X: Inputs, y: Array, sample_weight: Floats | None = None, folds: Rows | None = None) -> Self:
        """Return the rows whose weight is not zero."""
        n = X.shape[0]
        rows = np.arange(n)
        every = cls(X, y, rows, rows, same=Same(None, folds))
        return every if sample_weight is None else every.times(sample_weight)

    @property
    def observations(self) -> float:
        """For how many rows of weight one these count."""
        return float(self.X.shape[0]) if self.weight is None else float(self.weight.sum())

    def times(self, weight: Floats) -> Self:
        """Return the same with weights multiplied; rows whose weight becomes zero are left out."""
        product = weight if self.weight is None else self.weight * weight
        told = product > 0.0
        product = product[told]
        return replace(self.told(told), weight=None if np.all(product == 1.0) else product)

    def told(self, which: Mask) -> Self:
        """Return some of the rows."""
        return self if which.all() else self.take(np.flatnonzero(which))

    def take(self, at: Rows, copied: bool = True) -> Self:
        """Return some of the rows, by their numbers here; their inputs are copied, or where they were."""
        weight, here = None if self.weight is None else self.weight[at], np.full(len(self.rows) + 1, -1)
        here[at] = np.arange(len(at))  # the last one stays -1
        return replace(
            self, X=self._inputs(at, copied), y=self.y[at], rows=self.rows[at],
            place=here[self.place], weight=weight, same=self.same.take(at),
        )  # fmt: skip

    def _inputs(self, at: Rows, copied: bool) -> Inputs:
        if isinstance(self.X, FarInputs):
            return self.X.some(at)
        return self.X[at] if copied else SomeRows.of(self.X, at)

    def merged(self, kernel: Kernel | None, likelihood: str | Likelihood) -> Self:
        """Return the same with equal rows, inputs and target and fold, taken as one whose weight is the sum of theirs.

        Rows have the same latent value if their inputs are equal, unless the kernel has white noise, and say the same
        if the likelihood has no parameters of its own for each row. When weights differ, rows come in an order
        that depends on nothing but what they are: so it is all the same whether a row is repeated or weighted.
        """
        if not self._comparable(kernel):
            return self
        keys = row_keys(self.X, whole=self.weight is not None)
        group = first_equal(self.X, keys)
        alone = bool(np.all(group == np.arange(len(group))))
        if alone and self.weight is None:
            return self
        if isinstance(likelihood, Likelihood) and likelihood.take(np.arange(1)) != likelihood:
            return replace(self, same=Same(None if alone else group, self.folds))
        target = np.unique(self.y, return_inverse=True)[1]
        if self.folds is not None:  # those that are left out with others stay apart
            target = np.unique(np.stack([target, self.folds]), axis=1, return_inverse=True)[1].ravel()
        order = np.lexsort((group, target, keys, *_first_columns(self.X)))  # what rows are decides, not where they are
        new = np.append(True, (np.diff(group[order]) != 0) | (np.diff(target[order]) != 0))
        index = np.empty(len(order), dtype=np.intp)
        index[order] = np.cumsum(new) - 1
        weight, first = np.bincount(index, weights=self.weight), order[new]
        rank = np.arange(len(first))
        if np.all(weight == weight[0]):  # in the order given
            rank = np.argsort(np.argsort(first))
        kept = self.take(first[np.argsort(rank)])
        weight = weight[np.argsort(rank)]
        same = Same(None if alone else group[first[np.argsort(rank)]], kept.folds)
        return replace(
            kept, place=np.append(rank[index], -1)[self.place], weight=None if np.all(weight == 1.0) else weight,
            same=same,
        )  # fmt: skip

    def with_images(self, images: Inputs, source: Rows) -> Self:
        r"""Return the same with images of some rows, which have their targets; a row and its k images share its weight.

        .. math:: w_i / (1 + k_i)

        Parameters
        ----------
        images : inputs
        source : array of int
            The row here that each comes from.
        """
        n, m = len(self.rows), len(source)
        both = np.append(np.arange(n), source)
        count = np.bincount(both, minlength=n)
        weight = (np.ones(n) if self.weight is None else self.weight) / count
        X = (
            sparse.vstack([self.X, images], format="csr")
            if sparse.issparse(self.X)
            else np.concatenate([self.X, images])
        )
        group = None if self.group is None else np.append(self.group, n + np.arange(m))
        same = Same(group, None if self.folds is None else self.folds[both])
        return replace(
            self, X=X, y=self.y[both], rows=self.rows[both], weight=weight[both], same=same,
        )  # fmt: skip

    def counted(self) -> Self:
        """Return the same with weights that say for how many observations rows stand; see ``counting``."""
        if self.weight is None or told_apart(self.y, self.weight, self.group):
            return self
        weight = as_copies(self.weight)
        return replace(self, weight=None if np.allclose(weight, 1.0, rtol=1e-12, atol=0.0) else weight)

    def _comparable(self, kernel: Kernel | None) -> bool:
        """Whether rows of equal inputs can be told, and have the same latent value."""
        if self.X.dtype == object:
            return False
        some = self.X[:2].astype(np.float64)
        return kernel is None or np.allclose(kernel.diag(some), np.diagonal(kernel(some, some)))

    @property
    def virtual(self) -> Mask | None:
        """Which rows are images of others, whose numbers they have; None if there are none."""
        images = self.place[self.rows] != np.arange(len(self.rows))
        return images if images.any() else None

    @property
    def kin(self) -> Rows | None:
        """The same number for a row and its images, which count as one observation; None if there are no images."""
        return None if self.virtual is None else self.rows

    @property
    def inside(self) -> Inputs:
        """The inputs as the fit has them, in double precision: to be asked for some rows at a time."""
        if self.columns is None:
            return self.X
        return self.columns.seen(self.X) if isinstance(self.X, FarInputs) else InsideRows(self.X, self.columns)

    @property
    def n_given(self) -> int:
        """How many rows were given."""
        return len(self.place)

    def find(self, rows: Rows) -> Rows:
        """Return where given rows are here, in the same order, each once; those left out are not."""
        at = self.place[rows]
        at = at[at >= 0]
        return at[np.sort(np.unique(at, return_index=True)[1])]

    def weigh(self, likelihood: AnyLikelihood, targets: Floats) -> AnyLikelihood:
        """Return the likelihood of these rows from that of the given ones, checked against their targets."""
        if self.n_given == len(targets):
            likelihood.check_targets(targets)
        else:
            all_targets = np.full(self.n_given, targets[0])
            all_targets[self.rows] = targets
            likelihood.check_targets(all_targets)
            likelihood = likelihood.take(self.rows)
        if self.weight is None or not isinstance(
            likelihood, Likelihood
        ):  # of many classes: see ``ClassLikelihood.weigh``
            return likelihood
        if isinstance(likelihood, Weighted):
            return weighted(likelihood.likelihood, likelihood.weight * self.weight)
        return weighted(likelihood, self.weight)

    def unweighed(self, likelihood: AnyLikelihood) -> AnyLikelihood:
        """Return a likelihood without the weights that ``weigh`` has given it."""
        return likelihood.likelihood if self.weight is not None and isinstance(likelihood, Weighted) else likelihood


def _first_columns(X: Inputs) -> Array:
    """A few columns to sort rows by: their units do not matter, as they do for keys; nothing for a sparse matrix."""
    if isinstance(X, FarInputs) and len(X) <= _FEW_ROWS:
        first = np.empty((len(X), min(_SORTED, X.shape[1])))
        for at, part in X.map(_first_of):
            first[at] = part
        return first.T[::-1]
    return X[:, :_SORTED].T[::-1] if isinstance(X, np.ndarray) else np.empty((0, X.shape[0]))


def _first_of(X: Array) -> Array:
    return X[:, :_SORTED]
