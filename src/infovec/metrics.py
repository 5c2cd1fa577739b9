"""How good predicted probabilities are: error-reject curves and calibration.

Probabilities of two classes may be given as one column, that of the second class. Labels are the numbers 0 to C - 1
of the columns unless ``classes`` names them. Needs nothing but NumPy.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from ._types import Array, Floats, Mask, Rows
from .errors import ParameterError

__all__ = [
    "Area",
    "ErrorReject",
    "Reliability",
    "area_under_curve",
    "brier_losses",
    "error_reject_curve",
    "expected_calibration_error",
    "reliability_table",
]


class ErrorReject(NamedTuple):
    """Share of errors among the rows that are kept when the least certain ones are rejected."""

    rejected: Floats  # share of all rows, ascending from zero
    error: Floats  # share of errors among the others

    def at(self, share: float) -> float:
        """Share of errors when at least this share of the rows is rejected."""
        return float(self.error[min(int(np.searchsorted(self.rejected, share - 1e-12)), len(self.error) - 1)])

    def cost(self, reject: float) -> Floats:
        r"""Mean cost of a row at every point of the curve, where an error costs one and a rejection ``reject``.

        .. math:: C(r) = (1 - r) \, e(r) + r \, c

        Where probabilities are right it is least where ``predict(X, reject=c)`` rejects: rows whose most probable class
        is wrong with a probability above c (Chow 1970).
        """
        return (1.0 - self.rejected) * self.error + reject * self.rejected


class Reliability(NamedTuple):
    """Rows in bins of predicted probability; empty bins are left out."""

    predicted: Floats  # mean probability in the bin
    observed: Floats  # share of rows in which what was predicted came true
    size: Rows  # rows in the bin
    edges: Floats  # of all bins, also the empty ones

    def interval(self, z: float = 1.96) -> tuple[Floats, Floats]:
        """Lower and upper end of Wilson's interval for the observed share, z standard errors wide on either side."""
        n, p = self.size, self.observed
        centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def error_reject_curve(
    y: Array, proba: Floats, classes: Array | None = None, certainty: Floats | None = None
) -> ErrorReject:
    """Share of errors against the share of rows that are rejected (NIPS03 figure 1).

    Rows of equal certainty are rejected together.

    Parameters
    ----------
    y : array of shape (n,)
        True labels.
    proba : array of shape (n, C) or (n,)
        The class of the largest probability is the one predicted.
    classes : array of shape (C,), optional
    certainty : array of shape (n,), optional
        Rows with the smallest are rejected first; the largest probability if None. For a machine without
        probabilities: its distance from the boundary.
    """
    own, proba = _read(y, proba, classes)
    wrong = proba.argmax(axis=1) != own
    certainty = proba.max(axis=1) if certainty is None else np.asarray(certainty, dtype=np.float64)
    if certainty.shape != wrong.shape or not np.all(np.isfinite(certainty)):
        raise ParameterError(f"certainty must be {len(wrong)} finite numbers, one for each row")
    order = np.argsort(-certainty, kind="stable")
    kept, errors = np.arange(1, len(own) + 1), np.cumsum(wrong[order])
    last_of_ties = np.append(np.diff(certainty[order]) != 0.0, True)
    kept, errors = kept[last_of_ties][::-1], errors[last_of_ties][::-1]
    return ErrorReject(1.0 - kept / len(own), errors / kept)


def reliability_table(
    y: Array,
    proba: Floats,
    classes: Array | None = None,
    of: Any = "top",
    bins: int = 15,
    equal: Literal["width", "count"] = "width",
) -> Reliability:
    """How often what is predicted with a probability comes true.

    Parameters
    ----------
    y, proba, classes
        As in ``error_reject_curve``.
    of : {"top", "all"} or a label
        Which probabilities: the largest of each row, all of them (each class against the rest), or those of one class.
    bins : int
    equal : {"width", "count"}
        Bins of equal width between 0 and 1, or of about as many rows each.
    """
    own, proba = _read(y, proba, classes)
    probability, came_true = _predictions(own, proba, classes, of)
    return _table(probability, came_true, bins, equal)


def expected_calibration_error(
    y: Array,
    proba: Floats,
    classes: Array | None = None,
    of: Any = "top",
    bins: int = 15,
    equal: Literal["width", "count"] = "width",
) -> float:
    r"""Mean distance of predicted probabilities from observed shares, over bins of predicted probability.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \, \bigl| \mathrm{observed}_b - \mathrm{predicted}_b \bigr|

    With ``of="all"`` it is computed for each class against the rest, and the mean over classes is returned. The
    parameters are those of ``reliability_table``.
    """
    own, proba = _read(y, proba, classes)
    if _is(of, "all"):
        tables = [_table(proba[:, c], own == c, bins, equal) for c in range(proba.shape[1])]
        return float(np.mean([_distance(table) for table in tables]))
    return _distance(_table(*_predictions(own, proba, classes, of), bins, equal))


def _distance(table: Reliability) -> float:
    return float(table.size @ np.abs(table.observed - table.predicted) / table.size.sum())


def _read(y: Array, proba: Floats, classes: Array | None) -> tuple[Rows, Floats]:
    """Column of each row's own class, and the probabilities with one column for each class."""
    y, proba = np.asarray(y), np.asarray(proba, dtype=np.float64)
    if proba.ndim == 1:
        proba = np.column_stack([1.0 - proba, proba])
    if y.ndim != 1 or proba.ndim != 2 or len(proba) != len(y) or not len(y) or proba.shape[1] < 2:
        raise ParameterError(f"{y.shape} labels do not go with {proba.shape} probabilities: one row for each label")
    if not np.all((proba >= 0.0) & (proba <= 1.0 + 1e-9)):
        raise ParameterError("probabilities must lie between 0 and 1; take predict_proba, not a decision function")
    names = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (proba.shape[1],):
        raise ParameterError(f"classes must name the {proba.shape[1]} columns, got {names.shape}")
    matches = y[:, None] == names
    if not matches.any(axis=1).all():
        raise ParameterError(
            f"label {y[~matches.any(axis=1)][0]!r} is none of the classes; pass classes=model.classes_"
        )
    return matches.argmax(axis=1), proba


def _predictions(own: Rows, proba: Floats, classes: Array | None, of: Any) -> tuple[Floats, Mask]:
    """Probabilities that are looked at, and whether what they are of came true."""
    if _is(of, "top"):
        return proba.max(axis=1), proba.argmax(axis=1) == own
    if _is(of, "all"):
        return proba.ravel(), (own[:, None] == np.arange(proba.shape[1])).ravel()
    names = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
    which = np.flatnonzero(names == of)
    if not which.size:
        raise ParameterError(f"of must be 'top', 'all' or one of the classes, got {of!r}")
    return proba[:, which[0]], own == which[0]


def _is(of: Any, word: str) -> bool:
    return isinstance(of, str) and of == word


def _table(probability: Floats, came_true: Mask, bins: int, equal: str) -> Reliability:
    if bins < 1 or equal not in ("width", "count"):
        raise ParameterError(f"bins must be positive and equal 'width' or 'count', got {bins!r} and {equal!r}")
    edges = np.linspace(0.0, 1.0, bins + 1)
    if equal == "count":
        edges = np.unique(np.quantile(probability, edges))
    at = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, max(len(edges) - 2, 0))
    count = np.bincount(at, minlength=max(len(edges) - 1, 1))
    full = count > 0
    predicted, observed = (
        np.bincount(at, weights=w, minlength=len(count))[full] / count[full] for w in (probability, came_true)
    )
    return Reliability(predicted, observed, count[full], edges)


class Area(NamedTuple):
    """Area under the ROC curve, and its standard error: infinite where the rows do not tell."""

    value: float
    standard_error: float


def area_under_curve(y: Array, log_proba: Floats, classes: Array | None = None) -> Area:
    r"""Share of pairs of rows of two classes that are in the right order, with DeLong's standard error.

    .. math:: A_c = \frac{1}{n_c} \sum_{i: y_i = c} V_c(i), \qquad
              V_c(i) = \frac{1}{n - n_c} \sum_{j: y_j \neq c}
              \bigl( 1_{s_{ic} > s_{jc}} + \tfrac12 1_{s_{ic} = s_{jc}} \bigr)

    with s the log odds of class c against the others, and V of a row of another class the mean over the rows of c.
    With more than two classes it is the mean of A_c over those that occur. Given how many rows each class has, its
    variance is, to first order, that of a sum of independent terms,

    .. math:: \sum_k n_k \, \mathrm{V}_{i: y_i = k} \Bigl[ \frac1C \sum_c \frac{V_c(i)}{n_c(i)} \Bigr]

    with n_c(i) the rows on the side of row i: n_c if it is of class c, the others if not. For two classes that is
    the variance of DeLong and others (1988).

    Parameters
    ----------
    y : array of shape (n,)
    log_proba : array of shape (n, C)
        Log probabilities, or any numbers of which the differences rank the rows.
    classes : array of shape (C,), optional

    Returns
    -------
    value, standard_error : float
        NaN when all rows are of one class. The error is infinite where a class has a single row, or no pair is in the
        wrong order: nothing varies then that one could see.
    """
    log_proba = np.asarray(log_proba, dtype=np.float64)
    names = np.arange(log_proba.shape[1]) if classes is None else np.asarray(classes)
    own = (np.asarray(y)[:, None] == names).argmax(axis=1)
    count = np.bincount(own, minlength=len(names))
    there = np.flatnonzero(count)
    if len(there) < 2:
        return Area(float("nan"), float("nan"))
    areas, terms = np.empty(len(there)), np.zeros(len(own))
    for at, c in enumerate(there.tolist()):
        mine, odds = own == c, _log_odds(log_proba, c)
        ahead, behind = np.sort(odds[mine]), np.sort(odds[~mine])
        wins = np.where(mine, _share_below(behind, odds), 1.0 - _share_below(ahead, odds))
        areas[at] = wins[mine].mean()
        terms += wins / np.where(mine, len(ahead), len(behind)) / len(there)
    value = float(areas.mean())
    if count[there].min() < 2 or value in (0.0, 1.0):
        return Area(value, float("inf"))
    return Area(value, float(np.sqrt(sum(count[k] * np.var(terms[own == k], ddof=1) for k in there))))


def _log_odds(log_proba: Floats, c: int) -> Floats:
    """Log odds of a class against the others, which do not run together where it is almost certain."""
    others = np.delete(log_proba, c, axis=1)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(log_proba[:, c] - np.logaddexp.reduce(others, axis=1), nan=0.0)


def _share_below(sorted_values: Floats, x: Floats) -> Floats:
    """Share of values below each x, equal ones counting half."""
    sides = (np.searchsorted(sorted_values, x, side=side) for side in ("left", "right"))
    return 0.5 * sum(sides, start=np.zeros(len(x))) / len(sorted_values)


def brier_losses(y: Array, proba: Floats, classes: Array | None = None) -> Floats:
    r"""Squared distance of probabilities from what came true, row by row; their mean is the Brier score.

    .. math:: \sum_c (p_{ic} - 1_{y_i = c})^2

    and half of it for two classes: the squared error of the probability of either.
    """
    own, proba = _read(y, proba, classes)
    distance = proba.copy()
    distance[np.arange(len(own)), own] -= 1.0
    return np.einsum("ij,ij->i", distance, distance) / (2.0 if proba.shape[1] == 2 else 1.0)
