"""Points in numbers that stand before decimals or between thousands: who wrote a table knows, and has to say so."""

import re
from collections.abc import Collection, Mapping, Sequence

from ..errors import DataError, UndecidedError
from .cells import is_number
from .gaps import is_gap

__all__ = ["check_kept", "check_points"]

_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")  # 1.234
_WITH_COMMA = re.compile(r"[-+]?\d[\d.]*,\d+")


def check_points(file: str, columns: Mapping[str, Sequence[str]], wanted: Collection[str]) -> None:
    """Raise where all points of a wanted column stand before three digits, and no column has points that do not.

    This is for tables of semicolons, which programs write where a comma is before decimals, and a point between
    thousands.

    Parameters
    ----------
    file : str
    columns : mapping from name to cells
    wanted : collection of str
        Columns that are read as numbers.
    """
    found = dict[str, str]()
    for name, cells in columns.items():
        points = _with_points(cells)
        if not all(map(_GROUPS.fullmatch, points)):
            return
        if name in wanted and len(points) > 1:
            found[name] = points[0]
    if not found:
        return
    listed = ", ".join(f"{name!r} ({cell})" for name, cell in list(found.items())[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    cell, comma = next(iter(found.values())), _comma(columns)
    other = f" where points stand between thousands in other columns (commas seem to be before decimals, {comma!r})"
    between = other if comma else f" if {cell} is {cell.replace('.', '')}"
    raise UndecidedError(
        f"{file}, column{'s' * (len(found) > 1)} {listed}{more}: all points stand before three digits, in a table of "
        f"semicolons. Say --thousands .{between}, or --decimal . if points are before decimals",
        {"--thousands": (".",)},
    )


def check_kept(file: str, columns: Mapping[str, Sequence[str]], wanted: Collection[str]) -> None:
    """Raise where points may be before decimals in a table of commas, for a model of points between thousands.

    Only quotes let a comma before decimals into such a table, and where one is, points are between thousands.
    """
    if _comma(columns):
        return
    for name in columns:
        if name in wanted and (points := _with_points(columns[name])):
            raise DataError(
                f"{file}, column {name!r}: {points[0]} has a point, in a table of commas, and the model was fitted to "
                "one of points between thousands: say --decimal . if it is before decimals, and --thousands . if not"
            )


def _with_points(cells: Sequence[str]) -> list[str]:
    """Different cells with a point, of a column of numbers; none of another."""
    if not all(map(is_number, cells)):
        return []
    return list(dict.fromkeys(cell.strip() for cell in cells if "." in cell and not is_gap(cell)))


def _comma(columns: Mapping[str, Sequence[str]]) -> str | None:
    return next((cell for cells in columns.values() for cell in cells if _WITH_COMMA.fullmatch(cell.strip())), None)
