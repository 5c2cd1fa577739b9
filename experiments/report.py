"""Rows of paper, ours and difference, and how they are printed."""

from typing import Any

__all__ = ["claim", "compare", "table"]

_COLUMNS = ("quantity", "paper", "ours", "difference")


def compare(quantity: str, paper: float | None, ours: float) -> dict[str, Any]:
    """A number of the paper beside ours; None where the paper prints none."""
    return {
        "quantity": quantity, "paper": paper, "ours": float(ours),
        "difference": None if paper is None else float(ours) - paper,
    }  # fmt: skip


def claim(quantity: str, words: str, ours: float, holds: bool) -> dict[str, Any]:
    """A statement of the paper without a number of its own, and whether it holds here."""
    return {"quantity": quantity, "paper": words, "ours": float(ours), "difference": "holds" if holds else "FAILS"}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as aligned text."""
    cells = [_COLUMNS, *([_shown(row[column], column) for column in _COLUMNS] for row in rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(_COLUMNS))]
    lines = [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _shown(value: Any, column: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    sign = "+" if column == "difference" else ""
    if 0.0 < abs(value) < 5e-5:
        return f"{value:{sign}.0e}"
    return f"{value:{sign}.3g}" if abs(value) >= 1.0 else f"{value:{sign}.4f}"
