"""How a fit went: evidence, inclusions, and what came of them."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Floats
from ..errors import ParameterError
from ..estimators.relevances import Relevances
from ..evaluation import LearningCurve
from .style import ACTIVE, GRID, POSITIVE, literal, new_axes

__all__ = ["plot_evidence_history", "plot_inclusions", "plot_learning_curve", "plot_relevances"]


def plot_relevances(model: Any, most: int = 20, ax: Any = None, image_shape: tuple[int, int] | None = None) -> Any:
    """Draw how much every column counts, the most relevant on top; of images as an image.

    Parameters
    ----------
    model : fitted estimator, or its ``relevances()``
    most : int
        Columns to draw.
    ax : matplotlib Axes, optional
        A new figure if None.
    image_shape : (int, int), optional
        Height and width of images whose pixels are the columns, row by row.

    Returns
    -------
    ax : matplotlib Axes
    """
    found = model if isinstance(model, Relevances) else model.relevances()
    if not len(found):
        raise ParameterError(f"there are no relevances to draw: {found.note}")
    if image_shape is not None:
        return _pixels(found.picture(image_shape), new_axes(4.6, 3.8) if ax is None else ax)
    shown = min(most, len(found))
    ax = new_axes(5.6, 0.8 + 0.26 * shown) if ax is None else ax
    place = np.arange(shown)
    ax.barh(place, found.relevance[:shown], color=ACTIVE, height=0.65)
    ax.set_yticks(place, [_short(name) for name in found.columns[:shown]])
    ax.set(xlim=(0, 1.02), ylim=(shown - 0.4, -0.6), xlabel="relevance, as a share of the largest")
    ax.grid(axis="x", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def _pixels(picture: Floats, ax: Any) -> Any:
    """Draw the root of the relevances, what one over the length scales is, so that small ones are seen too."""
    drawn = ax.imshow(np.sqrt(picture), cmap="viridis", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set(xticks=[], yticks=[], xlabel="root of the relevance, as a share of the largest")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.85)
    return ax


def _short(name: str, most: int = 28) -> str:
    return literal(name if len(name) <= most else f"{name[: most - 1]}…")


def plot_evidence_history(model: Any, of: str = "auto", ax: Any = None) -> Any:
    """Draw the log evidence over the steps of learning, or over the sweeps of inference.

    Parameters
    ----------
    model : fitted estimator
    of : {"auto", "learning", "sweeps"}
        "auto" takes learning where there was any. Learning starts on some of the rows with a small active set, so
        that its stages differ in level; major steps are marked.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    history = _history(model)
    values = {"learning": history.get("criterion"), "sweeps": history.get("sweep_log_evidence")}
    if of not in ("auto", *values):
        raise ParameterError(f"of must be 'auto', 'learning' or 'sweeps', got {of!r}")
    if of == "auto":
        of = "learning" if values["learning"] is not None else "sweeps"
    found = values[of]
    if found is None or not len(found):
        raise ParameterError(f"the model has no history of {of}: it was fitted without")
    ax = new_axes(5.6, 3.6) if ax is None else ax
    steps = np.arange(1, len(found) + 1)
    ax.plot(steps, found, ".-", color=ACTIVE, linewidth=1.2, ms=4)
    major = history.get("major") if of == "learning" else None
    if major is not None and np.any(major):
        ax.plot(steps[major], found[major], "o", mfc="none", color=POSITIVE, ms=7, label="major steps")
        ax.legend(frameon=False)
    below = _cut(ax, np.asarray(found))
    outside = f" ({below} lie{'s' if below == 1 else ''} below the picture)" if below else ""
    ax.set(xlabel=("step of learning" if of == "learning" else "sweep over all rows") + outside, ylabel="log evidence")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(color=GRID, linewidth=0.6)
    return ax


def _cut(ax: Any, values: Floats) -> int:
    """Leave out steps far below the others, which would flatten them; return their number."""
    low, high = np.quantile(values, 0.25), values.max()
    lowest = low - 0.5 * (high - low)
    below = int(np.sum(values < lowest))
    if below:
        ax.set_ylim(lowest, high + 0.08 * (high - lowest))
    return below


def plot_inclusions(model: Any, ax: Any = None) -> Any:
    """Draw the score of every row when it was included: how much it told the model.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_is_fitted(model)
    history = _history(model)
    score = np.asarray(history.get("score", ()), dtype=np.float64)
    known = np.isfinite(score)
    if not known.any():
        raise ParameterError("the model has no scores to draw: all rows were given as initial ones")
    ax = new_axes(5.6, 3.6) if ax is None else ax
    ax.plot(np.arange(1, len(score) + 1)[known], score[known], ".", color=ACTIVE, ms=4)
    ax.set(xlabel="inclusions", ylabel="score of the row included")
    if score[known].min() > 0.0 and score[known].max() > 30.0 * score[known].min():
        ax.set_yscale("log")
    ax.grid(color=GRID, linewidth=0.6)
    return ax


def plot_learning_curve(curve: LearningCurve, ax: Any = None) -> Any:
    """Draw the loss of test rows over inclusions, with a band of two standard errors.

    Parameters
    ----------
    curve : LearningCurve
        Of ``infovec.evaluation.learning_curve``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = new_axes(5.6, 3.6) if ax is None else ax
    low, high = (curve.loss + sign * 2.0 * curve.standard_error for sign in (-1.0, 1.0))
    ax.fill_between(curve.size, low, high, color=ACTIVE, alpha=0.2, linewidth=0)
    ax.plot(curve.size, curve.loss, ".-", color=ACTIVE, linewidth=1.4, ms=5)
    ax.set(xlabel="active rows", ylabel="loss of test rows, nats", xscale="log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(color=GRID, linewidth=0.6)
    return ax


def _history(model: Any) -> dict[str, Any]:
    """Return the history, that of the first class where classes differ."""
    found = model.history_[0] if isinstance(model.history_, list) else model.history_
    return dict(found)
