"""Few targets far from all others, for which Gaussian noise must account: told to the user, with what to do."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from .._types import Floats, Foreign, Rows
from ..likelihoods import Gaussian, Transformed
from ..likelihoods.weighted import plain
from ..runtime import outside
from .far import is_dask

__all__ = ["FarTargets", "far_targets", "warn_of_far_targets"]

_FEWEST = 50  # rows: the largest of fewer may be alone by chance
_FEW, _MOST = 0.02, 100  # share and number of the rows that may be far: more are a part of the table, not mistakes
_REACH = 0.95  # share of the others that two deviations are taken to reach
_DEVIATIONS, _OF_SQUARES = 15.0, 0.5
_OF_LOGARITHMS = 6.0
_GAP = 10.0  # times as far as the farthest of the others: the largest of many that are skewed have others near
_NAMED = 5  # rows


class FarTargets(NamedTuple):
    """Targets that are far from all others."""

    rows: Rows
    deviations: float  # of the nearest of them
    share: float  # of the sum of squares


def far_targets(y: Floats) -> FarTargets | None:
    """Return the targets that are far from the median, as many as there are, if nothing else is like them, else None.

    They are few. Each is more than 15 deviations of the others off and ten times as far as any of the others, and
    together they leave more than half of the sum of squares. Where targets are not negative each is 6 deviations off
    among the logarithms, too. Ordinary skewed targets have no such rows.
    """
    if len(y) < _FEWEST:
        return None
    off = np.abs(y - np.median(y))
    order = np.argsort(-off, kind="stable")
    most = max(1, min(int(_FEW * len(y)), _MOST))
    near, next_one = off[order[:most]], off[order[1 : most + 1]]
    for last in np.flatnonzero((next_one > 0.0) & (near / _GAP > next_one))[::-1]:
        far, others = order[: last + 1], order[last + 1 :]
        squares = (off / off[far[0]]) ** 2
        share = float(np.sum(squares[far]) / np.sum(squares))
        deviations = _deviations(off[far], off[others])
        if deviations > _DEVIATIONS and share > _OF_SQUARES and not _is_skewed(y, far, others):
            return FarTargets(np.sort(far), deviations, share)
    return None


def _is_skewed(y: Floats, far: Rows, others: Rows) -> bool:
    """Whether the logarithms of targets that are not negative are not far from each other."""
    if np.min(y) < 0.0:
        return False
    with np.errstate(divide="ignore"):
        logarithms = np.log(y)
    off = np.abs(logarithms - np.median(logarithms[y > 0.0]))
    return _deviations(off[far], off[others][y[others] > 0.0]) <= _OF_LOGARITHMS


def _deviations(far: Floats, others: Floats) -> float:
    """How far the nearest is from the median, in deviations: two are the 95 % quantile of other distances but zero."""
    others = others[others > 0.0]
    return float(2.0 * np.min(far) / np.quantile(others, _REACH)) if len(others) else np.inf


def warn_of_far_targets(model: Foreign, y: Foreign, sample_weight: ArrayLike | None) -> None:
    """Warn where noise is Gaussian and few targets are far from all others.

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
    given_targets = targets.astype(np.float64)[rows]
    found = far_targets(given_targets) if isinstance(noise, Gaussian) else None
    if found is not None:
        warnings.warn(
            f"{_said(found, rows, given_targets)} of the sum of squares. Gaussian noise must account "
            f"for {'it' if len(found.rows) == 1 else 'them'}, at the cost of all predictions. If it is a mistake, mend "
            f"it or drop the row{'' if len(found.rows) == 1 else 's'}; else likelihood='student_t' lets single targets "
            "be far off" + (" (of targets that are transformed it may predict medians only)" if transformed else ""),
            stacklevel=outside(),
        )


def _said(found: FarTargets, rows: Rows, y: Floats) -> str:
    """Return which rows are far and how far, with the numbers of the rows of the fit."""
    count = len(found.rows)
    if count == 1:
        row = found.rows[0]
        return (
            f"the target of row {rows[row]} is {y[row]:.10g}, {found.deviations:.0f} deviations of the others away "
            f"from them, and leaves {found.share:.0%}"
        )
    named = ", ".join(f"{rows[row]} with {y[row]:.10g}" for row in found.rows[:_NAMED])
    return (
        f"the targets of {count} rows (row {named}{', ...' if count > _NAMED else ''}) are at least "
        f"{found.deviations:.0f} deviations of the others away from them, and leave {found.share:.0%}"
    )
