"""Regression: the function and its error bars, and predicted against observed numbers."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats
from ..errors import ParameterError
from ..evaluation import NumberPredictions, coverage
from .style import ACTIVE, FAINT, GRID, POSITIVE, active_vectors, axis_names, new_axes, numbers, quietly, span

__all__ = ["plot_coverage", "plot_predictions", "plot_regression"]

_LINE, _SIDE = 400, 120  # points of a line, and on each side of a grid


def plot_regression(model: Any, X: Array | None = None, y: Array | None = None, ax: Any = None) -> Any:
    """Draw a regression of one or two columns with its error bars.

    One column: the mean, two standard deviations of the function (dark) and of the target (light), and ticks at the
    active rows. Two columns: contours of the mean, dashed contours of the standard deviation of the target, and the
    active rows.

    Parameters
    ----------
    model : IVMRegressor
    X : array of shape (n, 1) or (n, 2), optional
        Rows to be drawn.
    y : array of shape (n,), optional
        Their targets.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    if hasattr(model, "classes_"):
        raise ParameterError(f"plot_regression draws numbers; for a {type(model).__name__} take plot_classifier")
    active = numbers(active_vectors(model), "plot_regression", (1, 2))
    rows = active if X is None else numbers(X, "plot_regression", (active.shape[1],))
    ax = new_axes(6.8, 4.6) if ax is None else ax
    draw = _line if active.shape[1] == 1 else _surface
    draw(ax, model, rows, active, None if X is None or y is None else np.asarray(y, dtype=np.float64))
    axis_names(model, ax, tuple(range(active.shape[1])))
    return ax


def _line(ax: Any, model: Any, X: Floats, active: Floats, y: Floats | None) -> None:
    xs = span(X, 0, _LINE)
    mean, std = quietly(model.predict, xs[:, None], return_std=True)
    band = {"color": ACTIVE, "linewidth": 0}
    ax.fill_between(xs, mean - 2.0 * std, mean + 2.0 * std, alpha=0.15, label="target, ± 2 std", **band)
    low, high = _function_band(model, xs)
    ax.fill_between(xs, low, high, alpha=0.3, label="function, ± 2 std", **band)
    if y is not None:
        ax.plot(X[:, 0], y, ".", color=FAINT, ms=4, zorder=1, label="rows")
    ax.plot(xs, mean, color=ACTIVE, linewidth=1.6, label="mean")
    ax.plot(
        active[:, 0], np.full(len(active), 0.015), "|", color=POSITIVE, ms=9, mew=1.2,
        transform=ax.get_xaxis_transform(), label=f"active ({len(active)})",
    )  # fmt: skip
    ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)


def _function_band(model: Any, xs: Floats) -> tuple[Floats, Floats]:
    """Mean of the target where the function is two standard deviations below and above its own mean."""
    f, std = quietly(model.predict_latent, xs[:, None])
    none = np.zeros_like(f)
    low, high = (model.likelihood_.predict(f + sign * 2.0 * std, none)[0] for sign in (-1.0, 1.0))
    return low, high


def _surface(ax: Any, model: Any, X: Floats, active: Floats, y: Floats | None) -> None:
    xs, ys = span(X, 0, _SIDE), span(X, 1, _SIDE)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    mean, std = (v.reshape(len(ys), len(xs)) for v in quietly(model.predict, grid, return_std=True))
    filled = ax.contourf(xs, ys, mean, levels=12, cmap="viridis", alpha=0.85)
    ax.figure.colorbar(filled, ax=ax, label="mean")
    if np.ptp(std) > 1e-9 * std.max():
        lines = ax.contour(xs, ys, std, levels=5, colors="white", linestyles="--", linewidths=1.0)
        ax.clabel(lines, fmt="%.3g", fontsize=8)
    if y is not None:
        low, high = filled.levels[0], filled.levels[-1]
        ax.scatter(*X.T, c=y, cmap="viridis", vmin=low, vmax=high, s=14, edgecolor="white", linewidth=0.4)
    ax.plot(*active.T, ".", color=POSITIVE, ms=6, label=f"active ({len(active)}); dashed: std of the target")
    ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.1))


def plot_predictions(predictions: NumberPredictions, ax: Any = None) -> Any:
    """Draw observed against predicted numbers, with two standard deviations of what was predicted.

    Parameters
    ----------
    predictions : NumberPredictions
        Of ``infovec.evaluation.judge``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = new_axes(4.8, 4.8) if ax is None else ax
    y, mean, std = predictions.y, predictions.mean, predictions.std
    some = np.linspace(0, len(y) - 1, min(len(y), 1000)).astype(np.intp)
    ends = [float(min(y.min(), mean.min())), float(max(y.max(), mean.max()))]
    ax.plot(ends, ends, color=FAINT, linewidth=1.0, zorder=0)
    ax.hlines(y[some], (mean - 2.0 * std)[some], (mean + 2.0 * std)[some], color=ACTIVE, alpha=0.18, linewidth=0.8)
    ax.plot(mean[some], y[some], ".", color=ACTIVE, ms=3.5, alpha=0.8)
    ax.set(xlabel="predicted, ± 2 standard deviations", ylabel="observed")
    ax.grid(color=GRID, linewidth=0.6)
    return ax


def plot_coverage(predictions: NumberPredictions, ax: Any = None) -> Any:
    """Draw how many targets lie inside central intervals of a nominal level; honest ones lie on the diagonal.

    The band is where 95 % of the curves of honest predictions would be at a given level.

    Parameters
    ----------
    predictions : NumberPredictions
        Of ``infovec.evaluation.judge``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = new_axes(4.8, 4.8) if ax is None else ax
    levels = np.linspace(0.0, 1.0, 101)[1:-1]
    inside = coverage(np.abs(predictions.y - predictions.mean) / predictions.std, levels)
    half = 1.96 * np.sqrt(levels * (1.0 - levels) / len(predictions.y))
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, zorder=0)
    ax.fill_between(levels, levels - half, levels + half, color=FAINT, alpha=0.25, linewidth=0)
    ax.plot(levels, inside, color=ACTIVE, linewidth=1.6)
    ax.set(xlabel="nominal coverage", ylabel="targets inside the interval", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    ax.grid(color=GRID, linewidth=0.6)
    return ax
