"""A film of the selection."""

import warnings
from os import PathLike, fspath
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._types import Array
from ..errors import ParameterError
from .numbers import plot_regression
from .plane import plot_classifier
from .style import new_axes

__all__ = ["plot_selection_movie"]


def plot_selection_movie(
    model: Any, X: Array, y: Array, path: str | PathLike[str], frames: int = 30, fps: int = 6, ax: Any = None
) -> Any:
    """Write a GIF that shows how the model grows with its active set.

    Each picture is of a model with the kernel and the noise of the fitted one and its first active rows.

    Parameters
    ----------
    model : fitted estimator of two columns, or an IVMRegressor of one
    X, y : arrays
        What it was fitted to.
    path : str or path
        Ends in .gif.
    frames : int
        Pictures at most; the last one, of the whole model, stays for a second.
    fps : int
        Pictures in a second.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    ax : matplotlib Axes
        With the last picture.
    """
    check_is_fitted(model)
    if isinstance(model.active_, list):
        raise ParameterError("each class of the model has active rows of its own: film one class against the rest")
    if not fspath(path).lower().endswith(".gif") or frames < 1 or fps < 1:
        raise ParameterError("a film needs a path that ends in .gif, and positive frames and fps")
    ax = new_axes(6.4, 5.2) if ax is None else ax
    from matplotlib.animation import PillowWriter

    draw = plot_classifier if hasattr(model, "classes_") else plot_regression
    writer, figure = PillowWriter(fps=fps), ax.figure
    sizes = np.unique(np.geomspace(1, len(model.active_), frames).round().astype(np.intp)).tolist()
    with writer.saving(figure, fspath(path), dpi=100):
        for k in sizes:
            for bar in [drawn.colorbar for drawn in ax.collections if drawn.colorbar is not None]:
                bar.remove()  # that of the picture before
            ax.clear()
            draw(model if k == len(model.active_) else _first(model, X, y, k), X, y, ax=ax)
            ax.set_title(f"{k} of {len(model.active_)} active rows", fontsize=10)
            for _ in range(fps if k == sizes[-1] else 1):
                writer.grab_frame()
    return ax


def _first(model: Any, X: Array, y: Array, k: int) -> Any:
    """Return the model of the first k active rows, with the parameters of all."""
    smaller = clone(model).set_params(
        kernel=model.kernel_, likelihood=model.likelihood_, learn=None, n_active=k, initial=model.active_[:k],
        warm_start=False, callback=None, verbose=0, max_time=None,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return smaller.fit(X, y)
