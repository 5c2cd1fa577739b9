"""Pictures of fitted models. Needs matplotlib (the ``plot`` extra)."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._types import Array
from .errors import ParameterError
from .estimators import IVMClassifier

__all__ = ["plot_classifier"]

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
