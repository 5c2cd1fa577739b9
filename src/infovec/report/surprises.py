"""The test rows that the model found least probable."""

from typing import Any

import numpy as np

from .._types import Array, Floats, Rows
from ..evaluation import ClassPredictions, NumberPredictions
from .contents import Contents
from .page import escape, paragraph, section, table
from .pictures import image
from .points import short_number
from .rows import taken, values_of
from .shapes import picture_shape

__all__ = ["surprises"]

_MOST = 8
_COLUMNS = 6  # beside what is predicted, so that a line fits on a page
_PICTURES = 24


def surprises(contents: Contents) -> str:
    """Return the test rows whose targets surprised the model most, the worst first."""
    found = contents.predictions
    if found is None:
        return ""
    log_p = found.log_own if isinstance(found, ClassPredictions) else found.log_density
    order = np.argsort(log_p, kind="stable")
    shape = picture_shape(contents.vectors, contents.image_shape)
    if shape is not None and contents.test_rows is not None:
        return section("Most surprising test rows", _said(contents, found), _images(contents, order[:_PICTURES], shape))
    head, lines = _told(contents, found, order[:_MOST])
    columns, cells = _values(contents, order[:_MOST])
    rows = [(contents.test_number(row), *line, *cell) for row, line, cell in zip(order, lines, cells, strict=False)]
    return section("Most surprising test rows", _said(contents, found), table(["row", *head, *columns], rows, words=0))


def _said(contents: Contents, found: ClassPredictions | NumberPredictions) -> str:
    if isinstance(found, NumberPredictions):
        said = "Targets of the lowest density: outliers, wrong entries, or places where the model knows too little."
    elif found.right.all():
        said = "No row is predicted wrong. These were given the lowest probability of being what they are."
    else:
        said = (
            "Rows whose true class had the lowest probability: labels to be checked first, or rows unlike the "
            "training rows."
        )
    return paragraph(f"{said} {contents.counted}", soft=True)


def _told(contents: Contents, found: Any, order: Rows) -> tuple[list[str], list[tuple[str, ...]]]:
    """What is known and predicted of some rows, in words."""
    if isinstance(found, ClassPredictions):
        names, proba, own = contents.classes or [], np.exp(found.log_proba[order]), np.exp(found.log_own[order])
        lines: list[tuple[str, ...]] = [
            (names[found.own[row]], f"{names[p.argmax()]} ({p.max():.2f})", f"{mine:.2g}")
            for row, p, mine in zip(order, proba, own, strict=True)
        ]
        return ["true class", "predicted", "probability of the true class"], lines
    far: Floats = (found.y[order] - found.mean[order]) / found.std[order]
    numbers = zip(found.y[order], found.mean[order], found.std[order], far, strict=True)
    return ["target", "predicted", "deviations off"], [
        (f"{y:.4g}", f"{mean:.4g} ± {std:.2g}", f"{z:+.1f}") for y, mean, std, z in numbers
    ]


def _values(contents: Contents, order: Rows) -> tuple[list[str], list[list[str]]]:
    """The most relevant columns of some rows, as far as these were kept."""
    columns = list(contents.names)
    if len(columns) > _COLUMNS:
        columns = list(contents.relevances.columns or columns)[:_COLUMNS]
    if contents.test_rows is None or not columns:
        return [], [[] for _ in order]
    known = order < taken(contents.test_rows)
    found = values_of(contents.test_rows, order[known], contents.names)
    if found is None:
        return [], [[] for _ in order]
    place = [contents.names.index(name) for name in columns]
    cells, at = list[list[str]](), iter(found)
    for one in known:
        row: Any = next(at) if one else None
        cells.append(["-"] * len(columns) if row is None else [short_number(row[j]) for j in place])
    return columns, cells


def _images(contents: Contents, order: Rows, shape: tuple[int, int]) -> str:
    order = order[order < taken(contents.test_rows)]
    found = values_of(contents.test_rows, order, contents.names)
    if found is None or not len(order):
        return ""
    _, lines = _told(contents, contents.predictions, order)
    pixels: Array = np.asarray(found, dtype=np.float64).reshape(-1, *shape)
    low, high = float(pixels.min()), float(pixels.max())
    figures = [
        f'<figure><img alt="row {contents.test_number(row)}" src="{image(one, low, high)}">'
        f"<figcaption>row {contents.test_number(row)}: {escape(line[0])}<br>"
        f"taken for {escape(line[1])}</figcaption></figure>"
        for row, one, line in zip(order, pixels, lines, strict=True)
    ]
    return '<div class="images">' + "\n".join(figures) + "</div>"
