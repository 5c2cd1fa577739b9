"""How good the predictions of a fitted estimator are: figures with their standard errors."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from .._types import Array, Floats, Rows
from ..metrics import area_under_curve, brier_losses, error_reject_curve, expected_calibration_error

_SMALL, _LARGE = 1e-6, 1e5  # standard errors that are written without an exponent
__all__ = [
    "Figure",
    "bootstrap_error",
    "classification_figures",
    "coverage",
    "coverage_error",
    "explained_figure",
    "figure_rows",
    "mean_figure",
    "regression_figures",
    "reject_rows",
    "rejected_loss",
    "root_figure",
    "share_figure",
    "shown",
]

REJECTED = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of rows that are left to somebody else, the least certain ones first."""

NAMES = {
    "error": "error", "accuracy": "accuracy", "log_loss": "log loss", "brier": "Brier score", "auc": "AUC",
    "rmse": "root mean squared error", "mae": "mean absolute error", "mse": "mean squared error", "r2": "R²",
    "log_density": "mean log density",
    "calibration_error": "calibration error",
}  # fmt: skip
"""Figures, as people call them."""

_SHARES = ("error", "accuracy")  # shown as per cent

LEVELS = np.arange(1, 10) / 10.0
"""Nominal coverage of central intervals."""

_REPEATS = 200  # of the bootstrap


class Figure(NamedTuple):
    """A number and its standard error."""

    value: float
    standard_error: float


def shown(figure: Mapping[str, float | None], percent: bool = False) -> str:
    """Write a figure and its standard error, to two digits of the latter."""
    value, error = figure["value"], figure["standard_error"]
    if value is None or not np.isfinite(value):
        return "not finite"
    error = error if error is None or np.isfinite(error) else None
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
    return [(name, shown(figures[key], key in _SHARES)) for key, name in NAMES.items() if key in figures]


def reject_rows(figures: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Return shares that are rejected, and the name and the value of what is left."""
    key = "error" if "error" in figures else "rmse"
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


def classification_figures(own: Rows, log_proba: Floats) -> dict[str, Any]:
    """Return the figures of classes.

    Parameters
    ----------
    own : array of shape (n,)
        Column of the true class.
    log_proba : array of shape (n, C)
        Log probability of every class.
    """
    n, right, top = len(own), log_proba.argmax(axis=1) == own, np.exp(log_proba.max(axis=1))
    wrong, area = int(np.sum(~right)), area_under_curve(own, log_proba)
    error = share_figure(wrong, n)

    def calibration(rows: Array) -> float:
        return expected_calibration_error(right[rows].astype(np.intp), np.minimum(top[rows], 1.0), of=1)

    return {
        "rows": n,
        "error": _json(error),
        "accuracy": _json(Figure(1.0 - error.value, error.standard_error)),
        "log_loss": _json(mean_figure(-log_proba[np.arange(n), own])),
        "brier": _json(mean_figure(brier_losses(own, np.exp(log_proba)))),
        **({"auc": _json(Figure(*area))} if np.isfinite(area.value) else {}),
        "calibration_error": _json(Figure(calibration(np.arange(n)), bootstrap_error(calibration, n))),
        "error_reject": _error_reject(top, right),
    }


def _error_reject(top: Floats, right: Array) -> list[dict[str, Any]]:
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
    rejected = [(share, rejected_loss(squared, std, share)) for share in REJECTED]

    def calibration(rows: Array) -> float:
        return coverage_error(z[rows])

    return {
        "rows": n,
        "rmse": _json(root_figure(mean_figure(squared))),
        "mae": _json(mean_figure(np.abs(y - mean))),
        "mse": _json(mean_figure(squared)),
        "variance_of_target": float(np.var(y)),
        **({"r2": _json(explained_figure(y, squared))} if np.var(y) > 0.0 else {}),
        "log_density": _json(mean_figure(log_density)),
        "calibration_error": _json(Figure(calibration(np.arange(n)), bootstrap_error(calibration, n))),
        "error_reject": [
            {"rejected": share, "rmse": _json(root_figure(loss)), "mse": _json(loss)} for share, loss in rejected
        ],
    }  # fmt: skip


def root_figure(square: Figure) -> Figure:
    """The root of a figure, in the unit of what was squared; its standard error is to first order."""
    root = float(np.sqrt(square.value))
    return Figure(root, square.standard_error / (2.0 * root) if root else square.standard_error)


@np.errstate(over="ignore", invalid="ignore")
def explained_figure(y: Floats, squared: Floats) -> Figure:
    r"""Share of the variance that predictions explain, and its standard error to first order.

    .. math:: R^2 = 1 - \frac{a}{b}, \qquad
              \mathrm{V}[R^2] \approx \frac{1}{n b^2} \,
              \mathrm{V}\Bigl[ e_i^2 - \frac{a}{b} (y_i - \bar y)^2 \Bigr]

    with a the mean of the squared residuals :math:`e_i^2` and b that of :math:`(y_i - \bar y)^2`; how the mean of the
    targets varies does not count to this order.

    Parameters
    ----------
    y : array of shape (n,)
    squared : array of shape (n,)
        Squared differences of targets and predictions.
    """
    around = (y - y.mean()) ** 2
    a, b = float(np.mean(squared)), float(np.mean(around))
    return Figure(1.0 - a / b, mean_figure(squared / b - (a / b) * (around / b)).standard_error)


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


def _json(figure: Figure) -> dict[str, float | None]:
    """A figure as JSON has it, which has no infinity: a row that was thought impossible costs that much."""
    value, error = (number if np.isfinite(number) else None for number in figure)
    return {"value": value, "standard_error": error}
