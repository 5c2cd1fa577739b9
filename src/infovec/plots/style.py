"""Colours, new axes, and inputs of a plane or a line."""

import warnings
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..errors import ParameterError
from ..plain import printable

__all__ = [
    "ACTIVE", "COLORS", "FAINT", "GRID", "NEGATIVE", "POSITIVE", "active_vectors", "axis_names", "literal", "new_axes",
    "numbers", "quietly", "span", "styles",
]  # fmt: skip

NEGATIVE, POSITIVE, ACTIVE = "#2e7d32", "#c62828", "#1565c0"
COLORS = (
    ACTIVE, POSITIVE, NEGATIVE, "#6a1b9a", "#ef6c00", "#00838f", "#ad1457", "#827717", "#4e342e", "#455a64",
)  # fmt: skip
FAINT, GRID = "#9a9a9a", "#e5e5e5"


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ParameterError("pictures need matplotlib: pip install 'infovec[plot]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def styles() -> Iterator[dict[str, Any]]:
    """Colour and dashes of one line after the other."""
    for dashes in cycle(["-", "--", ":"]):
        for color in COLORS[:5]:
            yield {"color": color, "linestyle": dashes, "linewidth": 1.4}


def numbers(X: Any, what: str, columns: tuple[int, ...]) -> Floats:
    """Return inputs as numbers with one of the given counts of columns."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if X.ndim != 2 or X.shape[1] not in columns or X.dtype.kind not in "fiub":
        counted = " or ".join("one column" if c == 1 else f"{c} columns" for c in columns)
        raise ParameterError(f"{what} takes inputs of {counted}, got shape {X.shape}")
    return X.astype(np.float64)


def span(X: Floats, j: int, points: int) -> Floats:
    """Return evenly spaced values of column j, a little beyond those of X."""
    low, high = X[:, j].min(), X[:, j].max()
    pad = 0.05 * (high - low) or 1.0
    return np.linspace(low - pad, high + pad, points)


def quietly(predict: Callable[..., Any], X: Array, **options: Any) -> Any:
    """Predict for inputs without column names, whatever names the model was fitted with."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        return predict(X, **options)


def active_vectors(model: Any) -> Array:
    """Return the active inputs, those of the first class where classes differ."""
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


def axis_names(model: Any, ax: Any, columns: tuple[int, ...]) -> None:
    """Label the axes by the names of the columns, if they have any."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        for label, j in zip((ax.set_xlabel, ax.set_ylabel), columns, strict=False):
            label(literal(names[j]))


def literal(text: object) -> str:
    r"""Return a text that matplotlib draws as it is written: two $ in a name would begin and end a formula."""
    return printable(text).replace("$", r"\$")
