"""One target far from all others, for which Gaussian noise must account: told to the user, with what to do about it."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from .._types import Floats, Foreign
from ..likelihoods import Gaussian, Transformed
from ..likelihoods.weighted import plain
from ..runtime import outside
from .far import is_dask

__all__ = ["FarTarget", "far_target", "warn_of_far_target"]

_FEWEST = 50  # rows: the largest of fewer may be alone by chance
_REACH = 0.95  # share of the others that two deviations are taken to reach
_DEVIATIONS, _OF_SQUARES = 15.0, 0.5
_OF_LOGARITHMS = 6.0
_GAP = 10.0  # times as far as the second one: the largest of many that are skewed has others near


class FarTarget(NamedTuple):
    """A target that is far from all others."""

    row: int
    value: float
    deviations: float
    share: float  # of the sum of squares


def far_target(y: Floats) -> FarTarget | None:
    """Return the target that is farthest from the median if nothing else is like it, else None.

    It is more than 15 deviations of the others off, ten times as far as the second one, and leaves more than half of
    the sum of squares. Where targets are not negative it is 6 deviations off among the logarithms, too. Ordinary skewed
    targets have no such row.
    """
    if len(y) < _FEWEST:
        return None
    off = np.abs(y - np.median(y))
    row = int(np.argmax(off))
    others = np.delete(off, row)
    if not others.any() or off[row] <= _GAP * others.max():
        return None
    share = float(1.0 / (1.0 + np.sum((others / off[row]) ** 2)))
    deviations = _deviations(y, row)
    if deviations <= _DEVIATIONS or share <= _OF_SQUARES:
        return None
    positive = y > 0.0
    skewed = np.min(y) >= 0.0 and _deviations(np.log(y[positive]), int(positive[:row].sum())) <= _OF_LOGARITHMS
    return None if skewed else FarTarget(row, float(y[row]), deviations, share)


def _deviations(y: Floats, row: int) -> float:
    """How far one number is from the median, in deviations: two are the 95 % quantile of other distances but zero."""
    off = np.abs(y - np.median(y))
    others = np.delete(off, row)
    others = others[others > 0.0]
    return float(2.0 * off[row] / np.quantile(others, _REACH)) if len(others) else np.inf


def warn_of_far_target(model: Foreign, y: Foreign, sample_weight: ArrayLike | None) -> None:
    """Warn where noise is Gaussian and one target is far from all others.

    Parameters
    ----------
    model : fitted estimator
    y
        Targets of its fit.
    sample_weight : array-like, optional
        Rows without weight do not count.
    """
    if not is_regressor(model) or is_dask(y):
        return
    targets = np.asarray(y)
    if targets.ndim != 1:
        return
    given = model.likelihood_
    transformed = isinstance(given, Transformed)
    noise = plain(given.likelihood if transformed else given)
    rows = np.arange(len(targets))
    if sample_weight is not None:
        rows = np.flatnonzero(np.broadcast_to(np.asarray(sample_weight), len(targets)))
    found = far_target(targets.astype(np.float64)[rows]) if isinstance(noise, Gaussian) else None
    if found is not None:
        warnings.warn(
            f"the target of row {rows[found.row]} is {found.value:.10g}, {found.deviations:.0f} deviations of the "
            f"others away from them, and leaves {found.share:.0%} of the sum of squares. Gaussian noise must account "
            "for it, at the cost of all predictions. If it is a mistake, mend it or drop the row; else "
            "likelihood='student_t' lets single targets be far off"
            + (" (of targets that are transformed it may predict medians only)" if transformed else ""),
            stacklevel=outside(),
        )
