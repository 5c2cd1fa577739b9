"""What a column does to predictions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evaluation import Dependence
from .style import ACTIVE, COLORS, GRID, literal, new_axes

__all__ = ["plot_dependence"]

_LINES = 4  # classes at most
_LETTERS = 36  # of the names of categories side by side
_FEW = 12  # values that are drawn as dots beside the line


def plot_dependence(found: Dependence, name: str = "", classes: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Draw the mean prediction against the values of one column, with a band of 95 % of the functions.

    Parameters
    ----------
    found : Dependence
        Of ``infovec.evaluation.partial_dependence``.
    name : str
        Of the column.
    classes : sequence of str, optional
        Of two the probability of the second is drawn, of more that of the four which move most.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    ax = new_axes(4.6, 3.2) if ax is None else ax
    moves = np.ptp(found.mean, axis=0)
    lines = [len(moves) - 1] if len(moves) <= 2 else np.sort(np.argsort(-moves, kind="stable")[:_LINES]).tolist()
    for k, color in zip(lines, (ACTIVE, *COLORS[1:]), strict=False):
        if found.words and found.low is not None and found.high is not None:
            ax.vlines(found.values, found.low[:, k], found.high[:, k], color=color, alpha=0.4, linewidth=3)
        elif found.low is not None and found.high is not None:
            ax.fill_between(found.values, found.low[:, k], found.high[:, k], color=color, alpha=0.2, linewidth=0)
        dots = "o" if found.words else "o-" if len(found.values) <= _FEW else "-"
        said = literal(classes[k]) if classes is not None else None
        ax.plot(found.values, found.mean[:, k], dots, color=color, linewidth=1.6, ms=4, label=said)
    what = "mean prediction"
    if classes is not None:
        what = f"probability of {literal(_short(classes[-1]))}" if len(lines) == 1 else "probability of the class"
    ax.set(xlabel=literal(_short(name, 40)), ylabel=what)
    if found.words:
        many = sum(map(len, found.words)) > _LETTERS
        ax.set_xticks(found.values, [literal(_short(word, 14)) for word in found.words], rotation=60 if many else 0)
    elif ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=5)  # longer numbers would run into each other
    ax.grid(color=GRID, linewidth=0.6)
    if len(lines) > 1:
        ax.legend(frameon=False, fontsize=8.5)
    return ax


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
