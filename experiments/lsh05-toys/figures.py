"""Figures 2 to 4 of LSH05: data, active rows, and what was learned of the plane."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from infovec import IVMOrdinalClassifier, IVMRegressor

__all__ = ["Shown", "draw"]

_SIDE = 70  # points of the grid along an axis


class Shown(NamedTuple):
    """One panel."""

    title: str
    X: np.ndarray
    y: np.ndarray
    model: Any


def draw(path: Path, panels: list[Shown]) -> None:
    """Draw the panels side by side."""
    figure = Figure(figsize=(4.6 * len(panels), 4.2), layout="constrained")
    for ax, shown in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _panel(ax, shown)
    figure.savefig(path, dpi=120)


def _panel(ax: Axes, shown: Shown) -> None:
    X, y, model = shown.X, shown.y, shown.model
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    x1, x2 = (np.linspace(low[j] - margin[j], high[j] + margin[j], _SIDE) for j in range(2))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x1, x2)])
    if isinstance(model, IVMRegressor):
        ax.contourf(x1, x2, model.predict(grid).reshape(_SIDE, _SIDE), 20, cmap="viridis", alpha=0.8)
        ax.scatter(*X.T, s=4, color="#c62828")
    else:
        ax.scatter(*X.T, s=10, c=y, cmap="coolwarm")
        below = np.cumsum(model.predict_proba(grid), axis=1)[:, :-1]
        for at in below.T:  # between two categories
            ax.contour(x1, x2, at.reshape(_SIDE, _SIDE), [0.25, 0.5, 0.75], colors=["#1565c0", "#c62828", "#1565c0"],
                       linestyles=["dashed", "solid", "dashed"], linewidths=0.9)  # fmt: skip
    ax.scatter(*X[model.active_].T, s=26, facecolors="none", edgecolors="#1565c0", linewidths=0.7)
    categories = f", {len(model.classes_)} categories" if isinstance(model, IVMOrdinalClassifier) else ""
    ax.set(title=f"{shown.title}, d = {len(model.active_)}{categories}")
