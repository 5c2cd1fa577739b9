"""The rows that a fit is about: those of positive weight, equal ones taken together."""

from dataclasses import dataclass, replace
from hashlib import blake2b
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from .._types import Array, Floats, Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Likelihood, Weighted, weighted

__all__ = ["Sample"]

_COMPARED_ROWS, _COMPARED_NUMBERS = 10_000, 20_000_000  # up to which equal rows are looked for


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
    """

    X: Inputs
    y: Array
    rows: Rows
    place: Rows
    weight: Floats | None = None

    @classmethod
    def of(cls, X: Inputs, y: Array, sample_weight: Any = None) -> Self:
        """Return the rows whose weight is not zero."""
        n = X.shape[0]
        every = cls(X, y, np.arange(n), np.arange(n))
        return every if sample_weight is None else every.times(_checked(sample_weight, n))

    def times(self, weight: Floats) -> Self:
        """Return the same with weights multiplied; rows whose weight becomes zero are left out."""
        product = weight if self.weight is None else self.weight * weight
        told = product > 0.0
        some = self if told.all() else self._take(np.flatnonzero(told))
        product = product[told]
        return replace(some, weight=None if np.all(product == 1.0) else product)

    def _take(self, at: Rows) -> Self:
        weight, here = None if self.weight is None else self.weight[at], np.full(len(self.rows) + 1, -1)
        here[at] = np.arange(len(at))  # the last one stays -1
        return replace(
            self, X=self.X[at], y=self.y[at], rows=self.rows[at], place=here[self.place], weight=weight
        )  # fmt: skip

    def balanced(self, class_weight: Any) -> Self:
        """Return the same with the weight of each row times that of its class, a dict or "balanced"."""
        if class_weight is None:
            return self
        if not isinstance(class_weight, dict) and not (isinstance(class_weight, str) and class_weight == "balanced"):
            raise ParameterError(f"class_weight must be None, 'balanced' or a dict of labels, got {class_weight!r}")
        classes, index = np.unique(self.y, return_inverse=True)
        if isinstance(class_weight, dict):
            try:
                by_class = np.array(compute_class_weight(class_weight, classes=classes, y=self.y), dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise ParameterError(f"class_weight must have a number for every label of y: {error}") from error
        else:
            by_class = 1.0 / np.bincount(index, weights=self.weight)
            by_class *= (len(index) if self.weight is None else self.weight.sum()) / len(classes)
        if not np.all(np.isfinite(by_class) & (by_class >= 0.0)) or not by_class.any():
            raise ParameterError(f"class_weight must be numbers from 0, some of them positive, got {class_weight!r}")
        return self.times(by_class[index])

    def merged(self, kernel: Kernel | None, likelihood: str | Likelihood) -> Self:
        """Return the same with equal rows, inputs and target alike, taken as one whose weight is the sum of theirs.

        Rows have the same latent value if their inputs are equal, unless the kernel has white noise, and say the same
        if the likelihood has no parameters of its own for each row. When some weight is not one, rows come in an order
        that depends on nothing but what they are: so it is all the same whether a row is repeated or weighted.
        """
        if not self._comparable(kernel, likelihood):
            return self
        digests = self._digests()
        found, first, index = np.unique(digests, return_index=True, return_inverse=True)
        if len(found) == len(digests) and self.weight is None:
            return self
        weight, order = np.bincount(index, weights=self.weight), np.arange(len(found))
        if np.all(weight == 1.0):  # in the order given
            order = np.argsort(first)
        rank = np.argsort(order)
        place = np.append(rank[index], -1)[self.place]
        kept, weight = self._take(first[order]), weight[order]
        return replace(kept, place=place, weight=None if np.all(weight == 1.0) else weight)

    def repeated(self) -> Self:
        """Return the same with every row as often as its weight says, if all weights are whole numbers."""
        if self.weight is None:
            return self
        times = np.rint(self.weight).astype(np.intp)
        if not np.array_equal(times, self.weight):
            return self
        at, first = np.repeat(np.arange(len(times)), times), np.append(np.cumsum(times) - times, -1)
        return replace(self, X=self.X[at], y=self.y[at], rows=self.rows[at], place=first[self.place], weight=None)

    def _comparable(self, kernel: Kernel | None, likelihood: str | Likelihood) -> bool:
        n = self.X.shape[0]
        numbers = self.X.nnz if sparse.issparse(self.X) else self.X.size
        if self.X.dtype == object or n > _COMPARED_ROWS or numbers > _COMPARED_NUMBERS:
            return False
        if isinstance(likelihood, Likelihood) and likelihood.take(np.arange(1)) != likelihood:
            return False
        some = self.X[:2]
        return kernel is None or np.allclose(kernel.diag(some), np.diagonal(kernel(some, some)))

    def _digests(self) -> Array:
        """Return sixteen bytes for each row that tell it from every other one."""
        y = np.unique(self.y, return_inverse=True)[1] if self.y.dtype.kind not in "f" else self.y + 0.0
        if not sparse.issparse(self.X):
            X = self.X + 0.0  # no negative zeros
            parts = [[X[i], y[i]] for i in range(len(y))]
        else:
            X = self.X.copy()
            X.sum_duplicates()
            X.eliminate_zeros()
            ends = X.indptr
            parts = [[X.indices[a:b], X.data[a:b], v] for a, b, v in zip(ends[:-1], ends[1:], y, strict=True)]
        return np.array([_digest(part) for part in parts])

    @property
    def n_given(self) -> int:
        """How many rows were given."""
        return len(self.place)

    def find(self, rows: Rows) -> Rows:
        """Return where given rows are here, in the same order, each once; those left out are not."""
        at = self.place[rows]
        at = at[at >= 0]
        return at[np.sort(np.unique(at, return_index=True)[1])]

    def weigh(self, likelihood: Likelihood, targets: Floats) -> Likelihood:
        """Return the likelihood of these rows from that of the given ones, checked against their targets."""
        if self.n_given == len(targets):
            likelihood.check_targets(targets)
        else:
            all_targets = np.full(self.n_given, targets[0])
            all_targets[self.rows] = targets
            likelihood.check_targets(all_targets)
            likelihood = likelihood.take(self.rows)
        if self.weight is None or not isinstance(likelihood, Likelihood):  # of many classes: see ``repeated``
            return likelihood
        if isinstance(likelihood, Weighted):
            return weighted(likelihood.likelihood, likelihood.weight * self.weight)
        return weighted(likelihood, self.weight)

    def unweighed(self, likelihood: Likelihood) -> Likelihood:
        """Return a likelihood without the weights that ``weigh`` has given it."""
        return likelihood.likelihood if self.weight is not None and isinstance(likelihood, Weighted) else likelihood


def _checked(sample_weight: Any, n: int) -> Floats:
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weight: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ParameterError(f"sample_weight has shape {weight.shape}; give one weight for each of the {n} rows")
    if np.any(weight < 0.0):
        at = int(np.argmin(weight))
        raise ParameterError(f"sample_weight must not be negative: row {at} has {weight[at]:g}; zero leaves a row out")
    if not weight.any():
        raise ParameterError("sample_weight is zero for all rows: nothing is left to learn from")
    return weight


def _digest(part: list[Any]) -> bytes:
    whole = blake2b(digest_size=16)
    for values in part:
        whole.update(values.tobytes())
    return whole.digest()
