"""The section about columns: how much each counts, and what it does."""

from functools import partial
from typing import Any

import numpy as np

from ..estimators.relevances import NOT_IMPORTANCE
from ..evaluation import Dependence
from ..plots import plot_dependence
from .contents import Contents
from .page import card, cards, escape, paragraph, section
from .pictures import Pictures

__all__ = ["columns"]

_BARS = 25  # relevances to show


def columns(contents: Contents, picture: Pictures) -> str:
    """How much every column counts, as bars, and the mean prediction against the values of some."""
    return section("Columns", *_relevances(contents), _dependences(contents, picture))


def _relevances(contents: Contents) -> list[str]:
    found = contents.relevances
    note = f"{found.note[:1].upper()}{found.note[1:]}." if found.note else ""
    if not len(found):
        return [paragraph(note, soft=True)]
    most = _BARS
    lines = []
    for name, share, scale in list(zip(found.columns, found.relevance, found.length_scale, strict=True))[:most]:
        lines.append(
            f'<span>{escape(name)}</span><span class="soft">{_scale(share, scale)}</span>'
            f'<span class="bar" style="width:{100 * share:.2f}%"></span>'
        )
    more = f"And {len(found) - most} columns that count less." if len(found) > most else ""
    said = (
        "(Spread / length scale)² of each column as a share of the largest; length scales in the column's unit. "
        f"{NOT_IMPORTANCE}"
    )
    bars = '<div class="bars">' + "\n".join(lines) + "</div>"
    return [paragraph(note), paragraph(said, soft=True), card(bars, "Relevances", more)]


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
        draw = partial(_draw, one, name, contents.classes)
        boxes.append(card(picture(draw, f"mean prediction against {name}"), name))
    return paragraph(said, soft=True) + cards(*boxes)


def _draw(found: Dependence, name: str, classes: list[str] | None, ax: Any) -> Any:
    return plot_dependence(found, name, classes, ax=ax)
