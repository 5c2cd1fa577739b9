"""Classifiers and active sets in the plane."""

from itertools import cycle
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats
from ..errors import ParameterError
from ..likelihoods.ranks import by_rank, ranked
from .style import (
    ACTIVE,
    COLORS,
    FAINT,
    NEGATIVE,
    POSITIVE,
    active_vectors,
    axis_names,
    literal,
    new_axes,
    numbers,
    quietly,
    span,
)

__all__ = ["plot_active_set", "plot_classifier", "plot_decision_boundary"]

_POINTS = 200  # on each side of a grid
_MARKERS = "xo^s+d"


def plot_classifier(model: Any, X: Array, y: Array, ax: Any = None) -> Any:
    """Draw a two-dimensional problem as LSH05 figure 3 does.

    Crosses, circles and so on are the classes, dots mark the active rows. Of two classes the solid line is p = 0.5 and
    the dashed lines are p = 0.25 and p = 0.75; of more, lines part the regions where each is the most probable.
    Classes that have an order are named from lowest to highest.

    Parameters
    ----------
    model : IVMClassifier or IVMOrdinalClassifier
        Fitted to X and y.
    X : array of shape (n, 2)
    y : array of shape (n,)
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    X, y = numbers(X, "plot_classifier", (2,)), np.asarray(y)
    ax = new_axes(6.4, 5.2) if ax is None else ax
    for label, color, marker in zip(_classes(model), _class_colors(model), cycle(_MARKERS), strict=False):
        ax.plot(*X[y == label].T, marker, mfc="none", color=color, ms=4.5, mew=1, alpha=0.7, label=literal(label))
    active = active_vectors(model)
    ax.plot(*active.T, ".", color=ACTIVE, ms=7, label=f"active ({len(active)} of {len(X)})")
    plot_decision_boundary(model, X, ax=ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=9, frameon=False)
    return ax


def plot_decision_boundary(model: Any, X: Array | None = None, ax: Any = None) -> Any:
    """Draw where one class ends and another begins.

    Parameters
    ----------
    model : fitted classifier of two columns
        Two classes: contours of the probability of the second at 0.25, 0.5 and 0.75. More: the region of each.
    X : array of shape (n, 2), optional
        Rows to be in the picture; the active ones if None.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    X = numbers(active_vectors(model) if X is None else X, "plot_decision_boundary", (2,))
    classes = _classes(model)
    ax = new_axes(6.4, 5.2) if ax is None else ax
    xs, ys = span(X, 0, _POINTS), span(X, 1, _POINTS)
    proba = by_rank(model, quietly(model.predict_proba, np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)))
    if len(classes) == 2:
        p = proba[:, 1].reshape(len(ys), len(xs))
        ax.contour(xs, ys, p, levels=[0.5], colors=POSITIVE, linewidths=1.8)
        sides = ax.contour(xs, ys, p, levels=[0.25, 0.75], colors=ACTIVE, linestyles="--", linewidths=1.2)
        ax.clabel(sides, fmt="%.2f", fontsize=8)
    else:
        _regions(ax, xs, ys, proba, _class_colors(model))
        if not ax.get_legend_handles_labels()[0]:  # rows are drawn elsewhere, and say it there
            for label, color in zip(classes, _class_colors(model), strict=True):
                ax.plot([], [], "s", color=color, alpha=0.5, label=literal(label))
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=9, frameon=False)
    axis_names(model, ax, (0, 1))
    return ax


def _regions(ax: Any, xs: Floats, ys: Floats, proba: Floats, colors: list[str]) -> None:
    """The region of each class: its probability less the largest of the others is above zero."""
    for c, color in enumerate(colors):
        lead = (proba[:, c] - np.delete(proba, c, axis=1).max(axis=1)).reshape(len(ys), len(xs))
        if lead.max() > 0.0:
            ax.contourf(xs, ys, lead, levels=[0.0, 1.0], colors=[color], alpha=0.15)
            if lead.min() < 0.0:
                ax.contour(xs, ys, lead, levels=[0.0], colors=[color], linewidths=1.2)


def _classes(model: Any) -> list[Any]:
    classes = ranked(model)
    if classes is None:
        raise ParameterError(f"{type(model).__name__} has no classes to draw; plot_regression draws numbers")
    return list(classes.tolist())


def _class_colors(model: Any) -> list[str]:
    n = len(model.classes_)  # the first colour is that of active rows
    return [NEGATIVE, POSITIVE] if n == 2 else [COLORS[1 + c % (len(COLORS) - 1)] for c in range(n)]


def plot_active_set(model: Any, X: Array | None = None, columns: tuple[int, int] = (0, 1), ax: Any = None) -> Any:
    """Draw the active rows, coloured by the order of their inclusion.

    Parameters
    ----------
    model : fitted estimator
    X : array of shape (n, p), optional
        All rows, to be drawn as small dots.
    columns : (int, int)
        Which columns are drawn. A model of one column is drawn against the order of inclusion.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    p = model.table_.width if hasattr(model, "table_") else model.n_features_in_
    active = numbers(active_vectors(model), "plot_active_set", (p,))
    ax = new_axes(6.4, 5.0) if ax is None else ax
    order = np.arange(1, len(active) + 1)
    if p == 1:
        ax.plot(active[:, 0], order, ".", color=ACTIVE)
        axis_names(model, ax, (0,))
        ax.set_ylabel("order of inclusion")
        return ax
    if not all(0 <= j < p for j in columns) or len(columns) != 2:
        raise ParameterError(f"columns must be two of the {p} columns of the model, got {columns!r}")
    if X is not None:
        rows = numbers(X, "plot_active_set", (p,))
        ax.plot(*rows[:, columns].T, ".", color=FAINT, ms=3, alpha=0.6)
    dots = ax.scatter(*active[:, columns].T, c=order, cmap="viridis", s=28, linewidth=0, zorder=3)
    ax.figure.colorbar(dots, ax=ax, label="order of inclusion")
    axis_names(model, ax, columns)
    return ax
