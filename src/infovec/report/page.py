"""Pieces of HTML. Whatever comes from data is escaped here."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

from ..plain import printable
from .style import CSS

__all__ = ["card", "cards", "definitions", "escape", "folded", "page", "paragraph", "section", "table"]


def escape(text: object) -> str:
    """Return a text of any origin as HTML that shows it, and nothing else."""
    return html.escape(printable(text))


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole document: no scripts, nothing from elsewhere."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """Return a section, or nothing if it is empty."""
    inside = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(title)}</h2>\n{inside}\n</section>" if inside else ""


def folded(title: str, inside: str) -> str:
    """Return a section that opens when its title is clicked."""
    if not inside:
        return ""
    return f"<section>\n<details>\n<summary>{escape(title)}</summary>\n{inside}\n</details>\n</section>"


def paragraph(text: str, soft: bool = False) -> str:
    """Return a paragraph."""
    kind = ' class="soft"' if soft else ""
    return f"<p{kind}>{escape(text)}</p>" if text else ""


def card(inside: str, title: str = "", note: str = "") -> str:
    """Return a box with a title, what is inside, and a note below."""
    head = f"<h3>{escape(title)}</h3>\n" if title else ""
    return f'<div class="card">\n{head}{inside}\n{paragraph(note, soft=True)}</div>'


def cards(*inside: str) -> str:
    """Return boxes beside each other, as many as there is room for."""
    found = [box for box in inside if box]
    return '<div class="cards">\n' + "\n".join(found) + "\n</div>" if found else ""


def definitions(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return names and what they stand for; those that stand for nothing are left out."""
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(v)}</dd>" for name, v in pairs if v not in (None, "", [], {}))
    return "<dl>\n" + "\n".join(rows) + "\n</dl>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 1) -> str:
    """Return a table that scrolls by itself; the first ``words`` columns hold words, the others numbers."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        kinds = ("" if k < words else ' class="number"' for k in range(len(cells)))
        inside = (f"<{tag}{kind}>{_joined(escape(cell))}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return f'<div class="scroll"><table>\n<thead>{line("th", head)}</thead>\n<tbody>{body}</tbody>\n</table></div>'


def _joined(text: str) -> str:
    """A figure that breaks, where there is no room, before its standard error and nowhere else."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace("± ", "±\N{NO-BREAK SPACE}")
