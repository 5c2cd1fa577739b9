"""How good the predictions of a fitted estimator are: figures with their standard errors."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtri

from ._types import Array, Floats, Inputs, Mask, Rows
from .errors import ParameterError
from .metrics import ErrorReject, error_reject_curve, expected_calibration_error

_SMALL, _LARGE = 1e-6, 1e5  # standard errors that are written without an exponent
__all__ = [
    "ClassPredictions",
    "Figure",
    "LearningCurve",
    "NumberPredictions",
    "bootstrap_error",
    "classification_figures",
    "coverage",
    "coverage_error",
    "figure_rows",
    "joined",
    "judge",
    "learning_curve",
    "loss_reject_curve",
    "mean_figure",
    "regression_figures",
    "reject_rows",
    "rejected_loss",
    "share_figure",
    "shown",
]

REJECTED = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of rows that are left to somebody else, the least certain ones first."""

NAMES = {
    "error": "error", "log_loss": "log loss", "calibration_error": "calibration error", "mse": "mean squared error",
    "log_density": "mean log density",
}  # fmt: skip
"""Figures, as people call them."""

LEVELS = np.arange(1, 10) / 10.0
"""Nominal coverage of central intervals."""

_REPEATS = 200  # of the bootstrap


class Figure(NamedTuple):
    """A number and its standard error."""

    value: float
    standard_error: float


class ClassPredictions(NamedTuple):
    """What was predicted for rows whose class is known: all that the figures of classes need."""

    own: Rows  # column of the true class in ``classes_``
    predicted: Rows  # column of the most probable one
    log_own: Floats  # log probability of the true class
    top: Floats  # largest probability

    @classmethod
    def of(cls, model: Any, X: Inputs, own: Rows) -> "ClassPredictions":
        """Predict for rows whose class is the column ``own`` of ``model.classes_``."""
        log_p = model.predict_log_proba(X)
        return cls(own, log_p.argmax(axis=1), log_p[np.arange(len(log_p)), own], np.exp(log_p.max(axis=1)))

    @property
    def right(self) -> Mask:
        """Whether the most probable class is the true one."""
        return self.predicted == self.own

    def figures(self) -> dict[str, Any]:
        """Error, log loss, calibration error and errors among the rows kept, each with its standard error."""
        return classification_figures(self.log_own, self.top, self.right)

    def confusion(self, n_classes: int) -> Rows:
        """Number of rows by true class (down) and predicted class (across)."""
        counts = np.bincount(self.own * n_classes + self.predicted, minlength=n_classes**2)
        return counts.reshape(n_classes, n_classes)

    def probability_of_second(self) -> Floats:
        """Probability of the second of two classes."""
        top = np.minimum(self.top, 1.0)
        return np.where(self.predicted == 1, top, 1.0 - top)


class NumberPredictions(NamedTuple):
    """What was predicted for rows whose number is known."""

    y: Floats
    mean: Floats
    std: Floats  # noise included
    log_density: Floats

    @classmethod
    def of(cls, model: Any, X: Inputs, y: Floats) -> "NumberPredictions":
        """Predict for rows whose target is y."""
        mean, std = model.predict(X, return_std=True)
        with np.errstate(over="ignore"):  # predictions may be as far off as numbers go
            return cls(y, mean, std, model.log_density(X, y))

    def figures(self) -> dict[str, Any]:
        """Mean squared error, log density, calibration error and errors of the rows kept, with standard errors."""
        return regression_figures(*self)


Predictions: TypeAlias = ClassPredictions | NumberPredictions


def judge(model: Any, X: Inputs, y: Any) -> Predictions:
    """Predict for rows whose targets are known.

    Parameters
    ----------
    model : fitted estimator
        With ``classes_`` and ``predict_log_proba``, or with ``predict(X, return_std=True)`` and ``log_density``.
    X : inputs
    y : array-like
        Labels, or numbers.
    """
    y = np.asarray(y)
    if y.ndim != 1 or not len(y):
        raise ParameterError(f"targets must be a list of one label or number for each row, got shape {y.shape}")
    if getattr(model, "classes_", None) is None:
        return NumberPredictions.of(model, X, y.astype(np.float64))
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    unknown = [label for label in np.unique(y).tolist() if label not in place]
    if unknown:
        raise ParameterError(
            f"the label {unknown[0]!r} is none of the classes of the model ({', '.join(map(repr, list(place)[:8]))})"
        )
    return ClassPredictions.of(model, X, np.array([place[label] for label in y.tolist()], dtype=np.intp))


def joined(parts: Sequence[Any]) -> Any:
    """Put the predictions for several blocks of rows together."""
    return type(parts[0])(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def shown(figure: Mapping[str, float | None], percent: bool = False) -> str:
    """Write a figure and its standard error, to two digits of the latter."""
    value, error = figure["value"], figure["standard_error"]
    if value is None:
        return "not finite"
    unit, factor = (" %", 100.0) if percent else ("", 1.0)
    if not error:
        return f"{factor * value:.4g}{unit}" + (" ± ?" if error is None else " ± 0")
    decimals = max(0, 1 - int(np.floor(np.log10(factor * error))))
    if not _SMALL < factor * error < _LARGE:  # in any unit a few digits are enough
        further = np.floor(np.log10(max(abs(value), error))) - np.floor(np.log10(error))
        digits = int(np.clip(2 + further, 2, 6))
        return f"{factor * value:.{digits}g}{unit} ± {factor * error:.2g}"
    return f"{factor * value:.{decimals}f}{unit} ± {factor * error:.{decimals}f}"


def figure_rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names of figures, and the figures with their standard errors, for people to read."""
    rows = [(name, shown(figures[key], key == "error")) for key, name in NAMES.items() if key in figures]
    if "variance_of_target" in figures:
        variance, mse = figures["variance_of_target"], figures["mse"]["value"]
        rows.append(("share not explained", f"{mse / variance if variance and mse is not None else np.nan:.4g}"))
    return rows


def reject_rows(figures: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Return shares that are rejected, and the name and the value of what is left."""
    key = "error" if "error" in figures else "mse"
    return [(point["rejected"], NAMES[key], shown(point[key], key == "error")) for point in figures["error_reject"]]


@np.errstate(over="ignore", invalid="ignore")  # values may be as large as numbers go
def mean_figure(values: Floats) -> Figure:
    """Mean of independent rows, and its standard error."""
    values = np.asarray(values, dtype=np.float64)
    known = len(values) > 1 and bool(np.all(np.isfinite(values)))
    spread = float(np.std(values, ddof=1)) if known else float("inf")
    return Figure(float(np.mean(values)), spread / np.sqrt(len(values)))


def share_figure(k: int, n: int) -> Figure:
    """The share k / n; its standard error is that of (k + 1) / (n + 2), which is not zero when the share is."""
    p = (k + 1) / (n + 2)
    return Figure(k / n, float(np.sqrt(p * (1.0 - p) / (n + 3))))


def bootstrap_error(statistic: Callable[[Array], float], n: int, repeats: int = _REPEATS, seed: int = 0) -> float:
    """Standard deviation of a statistic over samples of n rows with replacement; it is given the rows."""
    rng = np.random.default_rng(seed)
    return float(np.std([statistic(rng.integers(n, size=n)) for _ in range(repeats)], ddof=1))


def classification_figures(own: Floats, top: Floats, right: Mask) -> dict[str, Any]:
    """Return the figures of classes.

    Parameters
    ----------
    own : array of shape (n,)
        Log probability of the true class.
    top : array of shape (n,)
        Largest probability.
    right : array of bool of shape (n,)
        Whether the class of the largest probability is the true one.
    """

    def calibration(rows: Array) -> float:
        return expected_calibration_error(right[rows].astype(np.intp), np.minimum(top[rows], 1.0), of=1)

    n, wrong = len(own), int(np.sum(~right))
    return {
        "rows": n,
        "error": _json(share_figure(wrong, n)),
        "log_loss": _json(mean_figure(-own)),
        "calibration_error": _json(Figure(calibration(np.arange(n)), bootstrap_error(calibration, n))),
        "error_reject": _error_reject(top, right),
    }


def _error_reject(top: Floats, right: Mask) -> list[dict[str, Any]]:
    """Errors among the rows that are kept, when at least the given shares are rejected."""
    n, points = len(top), list[dict[str, Any]]()
    curve = error_reject_curve(right.astype(np.intp), np.ones(n), certainty=top)
    for share in REJECTED:
        at = min(int(np.searchsorted(curve.rejected, share - 1e-12)), len(curve.rejected) - 1)
        kept = round(n * (1.0 - curve.rejected[at]))
        figure = share_figure(round(kept * curve.error[at]), kept)
        points.append({"rejected": float(curve.rejected[at]), "error": _json(figure)})
    return points


@np.errstate(over="ignore", invalid="ignore")  # squares of what is far off
def regression_figures(y: Floats, mean: Floats, std: Floats, log_density: Floats) -> dict[str, Any]:
    """Return the figures of numbers: targets, and mean, standard deviation and log density that were predicted."""
    n, squared, z = len(y), (y - mean) ** 2, np.abs(y - mean) / std

    def calibration(rows: Array) -> float:
        return coverage_error(z[rows])

    return {
        "rows": n,
        "mse": _json(mean_figure(squared)),
        "variance_of_target": float(np.var(y)),
        "log_density": _json(mean_figure(log_density)),
        "calibration_error": _json(Figure(calibration(np.arange(n)), bootstrap_error(calibration, n))),
        "error_reject": [
            {"rejected": share, "mse": _json(rejected_loss(squared, std, share))} for share in REJECTED
        ],
    }  # fmt: skip


def coverage_error(z: Floats) -> float:
    """Mean distance between nominal and actual coverage of central normal intervals of 10 to 90 %.

    Parameters
    ----------
    z : array of shape (n,)
        Distance of the target from the predicted mean, in predicted standard deviations.
    """
    return float(np.mean(np.abs(coverage(z, LEVELS) - LEVELS)))


def coverage(z: Floats, levels: Floats) -> Floats:
    """Share of targets inside the central normal intervals of the given levels; z as for ``coverage_error``."""
    inside: Floats = np.searchsorted(np.sort(z), ndtri(0.5 * (1.0 + levels)), side="right") / len(z)
    return inside


def rejected_loss(loss: Floats, uncertainty: Floats, share: float) -> Figure:
    """Mean loss of the rows that are kept when a share of them, the most uncertain ones, is rejected."""
    kept = max(1, len(loss) - int(share * len(loss)))
    return mean_figure(loss[np.argsort(uncertainty, kind="stable")[:kept]])


class LearningCurve(NamedTuple):
    """Mean loss of test rows when predictions are made from the first active rows alone."""

    size: Rows  # active rows
    loss: Floats  # minus the log probability, or density, of the target
    standard_error: Floats


def learning_curve(model: Any, X: Inputs, y: Any, most: int = 24) -> LearningCurve | None:
    """Return the loss over inclusions, or None for a posterior that has no parts.

    With the factorised posterior it is that of the models which selection went through; with the projected one the
    posterior of all active rows is looked at through the first ones.

    Parameters
    ----------
    model : fitted estimator
    X, y
        Test rows, as for ``judge``.
    most : int
        Points of the curve.
    """
    if not hasattr(getattr(model, "posterior_", None), "first"):
        return None
    sizes = np.unique(np.geomspace(1, len(model.active_), most).round().astype(np.intp))
    part, figures = copy(model), list[Figure]()
    for k in sizes.tolist():
        part.posterior_ = model.posterior_.first(k)
        found = judge(part, X, y)
        figures.append(mean_figure(-(found.log_own if isinstance(found, ClassPredictions) else found.log_density)))
    return LearningCurve(sizes, *np.array(figures).T)


def loss_reject_curve(loss: Floats, uncertainty: Floats) -> ErrorReject:
    """Mean loss of the rows that are kept, against the share that is rejected: ``rejected_loss`` for every share."""
    kept = np.arange(len(loss), 0, -1)
    total = np.cumsum(loss[np.argsort(uncertainty, kind="stable")])[::-1]
    return ErrorReject(1.0 - kept / len(loss), total / kept)


def _json(figure: Figure) -> dict[str, float | None]:
    """A figure as JSON has it, which has no infinity: a row that was thought impossible costs that much."""
    value, error = (number if np.isfinite(number) else None for number in figure)
    return {"value": value, "standard_error": error}
