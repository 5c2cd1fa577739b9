"""Text of unknown origin, made harmless to look at, also in the small pieces of HTML that notebooks show."""

from collections.abc import Sequence
from html import escape

__all__ = ["bars", "frame", "pairs", "printable", "without_formula", "words"]

_STYLE = (
    "font:13px/1.45 system-ui,sans-serif;display:inline-block;padding:.5em .8em;border:1px solid #8886;"
    "border-radius:6px;color:inherit;background:transparent;max-width:100%;overflow-x:auto"
)
_CELL = "padding:.1em .8em .1em 0;text-align:left;background:transparent;vertical-align:top"
_BAR = "display:inline-block;height:.7em;background:#4a8fd4;border-radius:2px"

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a cell begins with that a spreadsheet computes


def printable(text: object, lines: bool = False) -> str:
    r"""Return a text in which all that is not shown as it is, but does something, is written as an escape.

    Names in tables and model files can be anything: sequences that move the cursor, set a terminal's title or fill the
    clipboard, marks that turn the direction of writing, halves of characters that no encoding has. Escape becomes
    ``\x1b``, and a line break ``\n``.

    Parameters
    ----------
    text : object
        Anything that is shown as text.
    lines : bool
        Whether lines may break: for a text that was put together from harmless ones.
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (lines and c == "\n") else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def without_formula(word: str) -> str:
    """Return a word that a spreadsheet does not take for a formula: with ' before it if it would. Numbers stay."""
    if not word.lstrip(" ").startswith(_FORMULA):
        return word
    try:
        float(word)
    except ValueError:
        return f"'{word}"
    return word


def words(text: object) -> str:
    """Return a text as HTML that shows it as it is, and does nothing."""
    return escape(printable(text))


def frame(title: object, *parts: str) -> str:
    """Return a box with a title; its colours are those around it, so that it is as light or as dark."""
    return f'<div style="{_STYLE}"><b>{words(title)}</b>{"".join(parts)}</div>'


def pairs(rows: Sequence[tuple[object, object]]) -> str:
    """Return a table of names and values."""
    lines = [
        f'<tr style="background:transparent"><td style="{_CELL};opacity:.7">{words(name)}</td>'
        f'<td style="{_CELL}">{words(value)}</td></tr>'
        for name, value in rows
    ]
    return f'<table style="border-collapse:collapse;margin:.3em 0 0;border:0">{"".join(lines)}</table>'


def bars(rows: Sequence[tuple[object, float, object]]) -> str:
    """Return a table of names, shares between zero and one as bars, and remarks."""
    lines = [
        f'<tr style="background:transparent"><td style="{_CELL}">{words(name)}</td>'
        f'<td style="{_CELL};min-width:8em"><span style="{_BAR};width:{max(8.0 * share, 0.05):.2f}em"></span></td>'
        f'<td style="{_CELL};opacity:.7">{words(remark)}</td></tr>'
        for name, share, remark in rows
    ]
    return f'<table style="border-collapse:collapse;margin:.3em 0 0;border:0">{"".join(lines)}</table>'
