"""Whether rows that are said to be held out are rows of the fit."""

import warnings
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from .._types import Inputs, Rows
from ..errors import ParameterError
from ..runtime import outside

__all__ = ["check_held_out", "same_inputs"]

_SINGLE = 1e-5  # difference, in deviations of a column, that may be rounding
_DISTANCES = 4_000_000  # of rows from others at a time
_MANY_ROWS, _MANY_ACTIVE = 0.05, 0.5  # shares that are not equal by chance, of the rows and of the active ones
_NOT = "not held out, as they must be here: give rows that the fit has not seen"


def same_inputs(A: Inputs, B: Inputs) -> bool:
    """Whether inputs are equal, up to single precision, in which a fit may have read them."""
    if sparse.issparse(A):
        return bool(sparse.issparse(B) and A.shape == B.shape and abs(A - B).nnz == 0)
    if A.dtype == object:
        return all(a is b or bool(np.all(a == b)) for a, b in zip(A, B, strict=True))
    return A.shape == B.shape and bool(np.all(np.abs(A - B) <= _rounding(B)))


def _rounding(vectors: Inputs) -> Inputs:
    """Return the differences in every column that single precision may make."""
    return _SINGLE * (vectors.std(axis=0) + 1e-2 * np.abs(vectors).max(axis=0)) + 1e-300


def check_held_out(inputs: Inputs, vectors: Inputs, active: Rows) -> None:
    """Raise where these are plainly rows of the fit; warn where a few are equal to active rows.

    The theorem is about rows that the fit has not seen, and these may be equal to rows of the fit by chance: what
    counts is where they come from. The rows of the fit have all active ones among them, and a part of them has that
    part of the active ones, which is a good share of its rows where the model is not much smaller than the table.
    """
    n = inputs.shape[0]
    if n > active.max() and same_inputs(inputs[active], vectors):
        raise ParameterError(
            f"the {len(active)} active rows of the fit are at their places among these {n} rows, so these are {_NOT}"
        )
    rows, seen = _equal_rows(inputs, vectors)
    if len(rows) > max(1.0, _MANY_ROWS * n) or seen > max(1.0, _MANY_ACTIVE * len(active)):
        raise ParameterError(
            f"{len(rows)} of these {n} rows are equal to {seen} of the {len(active)} active rows of the fit, so these "
            f"are {_NOT}"
        )
    if len(rows):
        warnings.warn(
            f"{len(rows)} of these {n} rows {'is' if len(rows) == 1 else 'are'} equal to active rows of the fit (the "
            f"first is number {rows[0] + 1}, counted from 1). By chance that does no harm; but if the fit has seen "
            "any of these rows the certificate is not valid",
            stacklevel=outside(),
        )


def _equal_rows(inputs: Inputs, vectors: Inputs) -> tuple[Rows, int]:
    """Return the rows that are equal to active ones, and to how many; none where rows are equal to each other."""
    none = np.empty(0, dtype=np.intp), 0
    if sparse.issparse(inputs):
        keys, own = _row_keys(inputs), _row_keys(vectors)
        if len(set(keys)) < len(keys):
            return none
        there = set(own)
        return np.flatnonzero([key in there for key in keys]), len(there.intersection(keys))
    if inputs.dtype == object or len(np.unique(inputs, axis=0)) < len(inputs):
        return none
    unit = _rounding(vectors)
    found, seen = np.zeros(len(inputs), dtype=bool), 0
    for some in _blocks(vectors, inputs):
        equal = cdist(some / unit, inputs / unit, "chebyshev") <= 1.0
        found |= equal.any(axis=0)
        seen += int(equal.any(axis=1).sum())
    return np.flatnonzero(found), seen


def _row_keys(rows: Inputs) -> list[bytes]:
    """Return what tells the rows of a CSR matrix from each other, in single precision."""
    parts = (slice(a, b) for a, b in pairwise(rows.indptr.tolist()))
    return [rows.indices[at].tobytes() + rows.data[at].astype(np.float32).tobytes() for at in parts]


def _blocks(vectors: Inputs, inputs: Inputs) -> list[Inputs]:
    """Return active inputs a few at a time, so that their distances to others take little memory."""
    return np.array_split(vectors, 1 + vectors.shape[0] * inputs.shape[0] // _DISTANCES)
