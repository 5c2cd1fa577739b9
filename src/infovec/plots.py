"""Pictures of fitted models. Needs matplotlib (the ``plot`` extra)."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._types import Array
from .errors import ParameterError
from .estimators import IVMClassifier
from .metrics import ErrorReject, Reliability

__all__ = ["plot_classifier", "plot_error_reject", "plot_reliability"]

_NEGATIVE, _POSITIVE, _ACTIVE = "#2e7d32", "#c62828", "#1565c0"


def plot_classifier(model: IVMClassifier, X: Array, y: Array, ax: Any = None) -> Any:
    """Draw a two-dimensional problem as LSH05 figure 3 does.

    Crosses and circles are the two classes, dots mark the active rows, the solid line is p = 0.5 and the dashed
    lines are p = 0.25 and p = 0.75.

    Parameters
    ----------
    model : IVMClassifier
        Fitted to X and y.
    X : array of shape (n, 2)
    y : array of shape (n,)
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    import matplotlib.pyplot as plt

    check_is_fitted(model)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if not isinstance(model, IVMClassifier) or X.ndim != 2 or X.shape[1] != 2:
        raise ParameterError("plot_classifier draws an IVMClassifier of two columns")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    positive = np.asarray(y) == model.classes_[1]
    ax.plot(*X[~positive].T, "x", color=_NEGATIVE, ms=4.5, mew=1, alpha=0.7, label=f"{model.classes_[0]}")
    ax.plot(*X[positive].T, "o", mfc="none", color=_POSITIVE, ms=4.5, mew=1, alpha=0.7, label=f"{model.classes_[1]}")
    ax.plot(*X[model.active_].T, ".", color=_ACTIVE, ms=7, label=f"active ({len(model.active_)} of {len(X)})")
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.05 * (high - low)
    xs, ys = (np.linspace(a, b, 200) for a, b in zip(low - pad, high + pad, strict=True))
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    p = model.predict_proba(grid)[:, 1].reshape(len(ys), len(xs))
    ax.contour(xs, ys, p, levels=[0.5], colors=_POSITIVE, linewidths=1.8)
    sides = ax.contour(xs, ys, p, levels=[0.25, 0.75], colors=_ACTIVE, linestyles="--", linewidths=1.2)
    ax.clabel(sides, fmt="%.2f", fontsize=8)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.05), ncols=3, fontsize=9, frameon=False)
    return ax


def plot_error_reject(curves: ErrorReject | Mapping[str, ErrorReject], ax: Any = None) -> Any:
    """Draw errors against rejected rows, in per cent, as NIPS03 figure 1 does.

    Parameters
    ----------
    curves : ErrorReject, or a dictionary of several by their names
        Of ``infovec.metrics.error_reject_curve``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    named = {"": curves} if isinstance(curves, ErrorReject) else curves
    if ax is None:
        ax = _axes(5.6, 4.2)
    for (name, curve), style in zip(named.items(), _styles(), strict=False):
        ax.step(100 * curve.rejected, 100 * curve.error, where="post", label=name, **style)
    ax.set(xlabel="rows rejected, %", ylabel="errors among the rows kept, %", xlim=(0, 100), ylim=(0, None))
    ax.grid(color="0.9", linewidth=0.6)
    if any(named):
        ax.legend(frameon=False)
    return ax


def plot_reliability(tables: Reliability | Mapping[str, Reliability], ax: Any = None) -> Any:
    """Draw observed shares against predicted probabilities; honest ones lie on the diagonal.

    Bars are 95 % intervals of the shares, the area of a dot grows with the rows in its bin.

    Parameters
    ----------
    tables : Reliability, or a dictionary of several by their names
        Of ``infovec.metrics.reliability_table``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    named = {"": tables} if isinstance(tables, Reliability) else tables
    if ax is None:
        ax = _axes(4.8, 4.8)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1.0, zorder=0)
    for (name, table), style in zip(named.items(), _styles(), strict=False):
        low, high = table.interval()
        ax.vlines(table.predicted, low, high, color=style["color"], linewidth=1.0)
        area = 12.0 + 120.0 * table.size / table.size.max()
        ax.scatter(table.predicted, table.observed, s=area, color=style["color"], alpha=0.85, linewidth=0)
        ax.plot(table.predicted, table.observed, label=name, **style)
    ax.set(xlabel="predicted probability", ylabel="observed share", aspect="equal")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.grid(color="0.9", linewidth=0.6)
    if any(named):
        ax.legend(frameon=False)
    return ax


def _axes(width: float, height: float) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _styles() -> Iterator[dict[str, Any]]:
    """Colour and dashes of one line after the other."""
    for dashes in cycle(["-", "--", ":"]):
        for color in (_ACTIVE, _POSITIVE, _NEGATIVE, "#6a1b9a", "#ef6c00"):
            yield {"color": color, "linestyle": dashes, "linewidth": 1.4}
