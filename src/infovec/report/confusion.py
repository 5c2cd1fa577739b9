"""The confusion matrix, whole on any screen, and its largest entries in words."""

import numpy as np

from .._types import Rows
from .page import escape, paragraph, table

__all__ = ["confusion"]

_SHORT, _LONGER = 3, 12  # letters that fit over a column; over one of a few
_FEW = 4  # classes
_LISTED = 8  # confusions in words
_NUMBERED = 5.0  # width of names with their numbers, in columns


def confusion(counts: Rows, classes: list[str]) -> str:
    """Return the matrix: the darker a cell, the larger its share of the true class.

    It shrinks with the page instead of scrolling. Names that are too long to stand over a column are numbers there.
    """
    C = len(classes)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    longest = max(map(len, classes))
    short = longest <= (_LONGER if C <= _FEW else _SHORT)
    heads = classes if short else [str(k + 1) for k in range(C)]
    names = classes if short else [f"{k + 1} {name}" for k, name in enumerate(classes)]
    digits = max(len(str(int(counts.max(initial=0)))), *map(len, heads))
    lines = ["<tr><th></th>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"]
    for i, name in enumerate(names):
        cells = "".join(_cell(int(counts[i, j]), float(share[i, j]), i == j) for j in range(C))
        lines.append(f'<tr><th title="{escape(classes[i])}">{escape(name)}</th>{cells}</tr>')
    first = 1.2 if short else _NUMBERED if C > _FEW else 0.5 * _NUMBERED
    size = f"--columns:{C + first:.1f};--digits:{digits};--first:{100 * first / (C + first):.1f}%"
    return (
        f'<div class="whole"><table class="confusion" style="{size}">'
        + "\n".join(lines)
        + "</table></div>"
        + _largest(counts, share, classes)
    )


def _cell(count: int, share: float, right: bool) -> str:
    if not count:
        return '<td class="none">·</td>'
    depth = 10.0 + 55.0 * share if right else 18.0 + 60.0 * np.sqrt(share)
    color = f"color-mix(in srgb, var(--{'blue' if right else 'red'}) {depth:.0f}%, transparent)"
    return f'<td style="background:{color}">{count}</td>'


def _largest(counts: Rows, share: Rows, classes: list[str]) -> str:
    """The commonest confusions in words, where the matrix is too large to be read at a glance."""
    wrong = counts * (1 - np.eye(len(classes), dtype=counts.dtype))
    if not wrong.any():
        return paragraph("No row is predicted wrong: everything is on the diagonal.", soft=True)
    if len(classes) <= _FEW:
        return ""
    order = np.argsort(-wrong, axis=None, kind="stable")[: min(_LISTED, int(np.sum(wrong > 0)))]
    pairs = [divmod(int(at), len(classes)) for at in order]
    rows = [(classes[i], classes[j], int(wrong[i, j]), f"{share[i, j]:.1%}") for i, j in pairs]
    return table(["true", "taken for", "rows", "of the true class"], rows, words=2)
