"""How good predictions are: figures with their standard errors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from .._types import Array, Floats, Mask
from ..metrics import error_reject_curve, expected_calibration_error

__all__ = [
    "Figure",
    "bootstrap_error",
    "classification_figures",
    "coverage_error",
    "mean_figure",
    "regression_figures",
    "rejected_loss",
    "share_figure",
]

REJECTED = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of rows that are left to somebody else, the least certain ones first."""

_LEVELS = np.arange(1, 10) / 10.0  # of central intervals
_REPEATS = 200  # of the bootstrap


class Figure(NamedTuple):
    """A number and its standard error."""

    value: float
    standard_error: float


def mean_figure(values: Floats) -> Figure:
    """Mean of independent rows, and its standard error."""
    values = np.asarray(values, dtype=np.float64)
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("inf")
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
    covered = np.searchsorted(np.sort(z), ndtri(0.5 * (1.0 + _LEVELS)), side="right") / len(z)
    return float(np.mean(np.abs(covered - _LEVELS)))


def rejected_loss(loss: Floats, uncertainty: Floats, share: float) -> Figure:
    """Mean loss of the rows that are kept when a share of them, the most uncertain ones, is rejected."""
    kept = max(1, len(loss) - int(share * len(loss)))
    return mean_figure(loss[np.argsort(uncertainty, kind="stable")[:kept]])


def _json(figure: Figure) -> dict[str, float | None]:
    error = figure.standard_error
    return {"value": figure.value, "standard_error": error if np.isfinite(error) else None}
