"""The active points: as images where they look like some, as rows otherwise."""

import warnings
from typing import Any

import numpy as np

from .._types import Array
from ..estimators.fitted import as_given
from ..tables import is_missing
from .contents import Contents, first
from .page import escape, paragraph, table
from .pictures import image
from .shapes import picture_shape

__all__ = ["active_points", "relevant_columns", "short_number"]

_IMAGES, _ROWS, _COLUMNS = 48, 25, 8


def active_points(contents: Contents) -> str:
    """Return the first active points with what the model says of them."""
    rows = first(contents.model.active_)
    X = contents.vectors
    answers = _answers(contents.model, len(X))
    shape = picture_shape(X, contents.image_shape)
    if shape is not None:
        return _images(contents, rows, X[:_IMAGES].reshape(-1, *shape), answers)
    return _table(contents, rows, X[:_ROWS], answers)


def _answers(model: Any, most: int) -> list[str]:
    """What the model predicts at its own active points."""
    X = first(model.active_vectors_)[:most]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        X = as_given(model, X)
        if hasattr(model, "classes_"):
            proba = model.predict_proba(X)
            return [f"{model.classes_[p.argmax()]} ({p.max():.2f})" for p in proba]
        return [f"{mean:.4g} ± {std:.2g}" for mean, std in zip(*model.predict(X, return_std=True), strict=True)]


def _marks(model: Any, most: int) -> list[str]:
    """What is said of rows that are images of others, or that have moved."""
    if getattr(model, "moved_", False):
        return [", moved"] * most
    virtual = first(getattr(model, "virtual_", np.zeros(most, dtype=bool)))
    return [", image" if one else "" for one in virtual]


def _images(contents: Contents, rows: Array, pixels: Array, answers: list[str]) -> str:
    low, high = float(pixels.min()), float(pixels.max())
    figures = [
        f'<figure><img alt="row {row + contents.first_row}" src="{image(one, low, high)}">'
        f"<figcaption>row {row + contents.first_row}{mark}<br>{escape(answer)}</figcaption></figure>"
        for row, one, answer, mark in zip(rows, pixels, answers, _marks(contents.model, len(rows)), strict=False)
    ]
    said = f"The first {len(pixels)} rows in order of inclusion, each with what the model predicts for it."
    return paragraph(said, soft=True) + '<div class="images">' + "\n".join(figures) + "</div>"


def _table(contents: Contents, rows: Array, X: Array, answers: list[str]) -> str:
    columns, which = relevant_columns(contents)
    head = (
        ["#", "row", "score", "prediction", *columns] if X.ndim == 2 else ["#", "row", "score", "prediction", "input"]
    )
    score = contents.history.get("score", np.full(len(rows), np.nan))
    place = [contents.names.index(name) for name in columns]
    marks = _marks(contents.model, len(rows))
    lines = []
    for k, x in enumerate(X):
        cells = [cell_of(contents.model, j, x) for j in place] if X.ndim == 2 else [str(x)[:80]]
        told = f"{score[k]:.3g}" if np.isfinite(score[k]) else "-"
        row = int(rows[k]) + contents.first_row
        lines.append([k + 1, f"{row}{marks[k]}" if marks[k] else row, told, answers[k], *cells])
    said = f"The first {len(X)} rows in order of inclusion, each with what the model predicts for it{which}."
    return paragraph(f"{said} {contents.counted}", soft=True) + table(head, lines, words=0)


def cell_of(model: Any, column: int, row: Array) -> str:
    """Return the value of a column as it is in the table that the model was fitted to."""
    schema = getattr(model, "table_", None)
    word = None if schema is None else schema.word(column, row)
    return short_number(row[column]) if word is None else word


def relevant_columns(contents: Contents) -> tuple[list[str], str]:
    """Return the columns that are shown, and a remark when they are not all."""
    if len(contents.names) <= _COLUMNS:
        return list(contents.names), ""
    relevant = contents.relevances.columns or contents.names
    return list(relevant[:_COLUMNS]), f"; {_COLUMNS} of {len(contents.names)} columns, the most relevant ones"


def short_number(value: Any) -> str:
    """Return a value in a few digits."""
    if is_missing(value):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
