"""The section about columns: how much each counts, and what it does."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..estimators.relevances import NOT_IMPORTANCE, Relevances
from ..evaluation import Dependence
from ..plots import plot_dependence, plot_relevances
from ..tables import NumberColumn
from .contents import Contents
from .page import card, cards, escape, paragraph, section
from .pictures import Pictures
from .shapes import picture_shape

__all__ = ["columns"]

_BARS = 25  # relevances to show


def columns(contents: Contents, picture: Pictures) -> str:
    """How much every column counts, as bars, and the mean prediction against the values of some."""
    return section("Columns", *_relevances(contents, picture), _dependences(contents, picture))


def _relevances(contents: Contents, picture: Pictures) -> list[str]:
    found = contents.relevances
    note = f"{found.note[:1].upper()}{found.note[1:]}." if found.note else ""
    if not len(found):
        return [paragraph(note, soft=True)]
    most = min(_BARS, max(found.n_seen, 1))
    lines = []
    for name, share, scale in list(zip(found.columns, found.relevance, found.length_scale, strict=True))[:most]:
        lines.append(
            f'<span>{escape(name)}</span><span class="soft">{_scale(share, scale)}</span>'
            f'<span class="bar" style="width:{100 * share:.2f}%"></span>'
        )
    less, off = max(found.n_seen, 1) - most, len(found) - max(found.n_seen, 1)
    more = f"And {less} columns that count less. " if less > 0 else ""
    more += f"{off} say nothing: switched off, or constant." if off > 0 else ""
    said = (
        "(Spread / length scale)² of each column as a share of the largest; length scales in the column's unit. "
        f"{NOT_IMPORTANCE}"
    )
    bars = '<div class="bars">' + "\n".join(lines) + "</div>"
    shape = picture_shape(contents.vectors, contents.image_shape) if _are_pixels(contents) else None
    if shape is not None:
        image = picture(partial(_draw_relevances, found, shape), "relevance of every pixel")
        return [
            paragraph(note),
            paragraph(said, soft=True),
            cards(card(image, "Pixels"), card(bars, "Relevances", more)),
        ]
    return [paragraph(note), paragraph(said, soft=True), card(bars, "Relevances", more)]


def _are_pixels(contents: Contents) -> bool:
    """Whether each column of the active inputs has a relevance, so that they may make a picture."""
    return contents.vectors.shape[1:] == (len(contents.relevances),)


def _draw_relevances(found: Relevances, shape: tuple[int, int], ax: Any) -> Any:
    return plot_relevances(found, ax=ax, image_shape=shape)


def _scale(share: float, scale: float) -> str:
    return f"{share:.3g}; length scale {scale:.3g}" if np.isfinite(scale) else f"{share:.3g}"


def _dependences(contents: Contents, picture: Pictures) -> str:
    found = contents.dependences
    if not found:
        return ""
    bands = any(one.low is not None for one in found)
    said = (
        "The mean prediction over some rows when one column has the given value in all of them and the others stay as "
        "they are" + ("; the band has 95 % of the functions that the model thinks possible." if bands else ".")
    )
    boxes = []
    for one in found:
        name = contents.names[one.column]
        draw = partial(_draw, one, name, contents.classes, _date_at(contents, one.column))
        boxes.append(card(picture(draw, f"mean prediction against {name}"), name))
    return paragraph(said, soft=True) + cards(*boxes)


def _date_at(contents: Contents, column: int) -> Callable[[float], str] | None:
    """Return what tells the day of a number of a column of dates; None for other columns."""
    table = getattr(contents.model, "table_", None)
    known = None if table is None else table.columns[column]
    if not isinstance(known, NumberColumn) or known.kind != "date":
        return None
    return lambda value: str(known.written(value)).partition(" ")[0]


def _draw(
    found: Dependence, name: str, classes: list[str] | None, date_at: Callable[[float], str] | None, ax: Any
) -> Any:
    ax = plot_dependence(found, name, classes, ax=ax)
    if date_at is not None:
        ax.locator_params(axis="x", nbins=3, integer=True)  # dates are wide
        ax.xaxis.set_major_formatter(lambda value, place: date_at(value))
    return ax
