"""The target: what is to be predicted, and whether it is a class or a number."""

from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Floats
from ..datasets.cells import Marks
from ..datasets.gaps import truth
from ..errors import DataError
from .parameters import picked
from .pile import Codes
from .table import LARGEST
from .words import spelling, unread

__all__ = ["MANY", "Target", "found_task", "labels", "read_target"]

MANY = 20
"""Whole numbers with at most this many different values are taken for classes."""


class Target(NamedTuple):
    """Targets of all rows, and the task they set."""

    y: Array
    task: str
    categories: list[Any] | None  # of ordered classes, lowest first


def read_target(
    values: Floats | Codes, task: str | None, order: tuple[str, ...], name: str, marks: Marks | None = None
) -> Target:
    """Return targets as the task wants them.

    Parameters
    ----------
    values : array of numbers, or Codes
    task : str, optional
        None finds it: words and few different whole numbers are classes, others numbers.
    order : tuple of str
        Ordered classes, lowest first, as ``--order`` lists them; empty where nothing was said.
    name : str
        Of the column.
    marks : Marks, optional
        How numbers are written, in a text file.
    """
    if isinstance(values, Codes):
        words, codes = values.sorted()
        if task is None and len(words) > MANY and (cause := unread(values, marks)):
            raise DataError(
                f"target {name!r} holds numbers that cannot be read: {cause}. If they are classes, say --task classify"
            )
        y: Array = labels(words)[codes]
        task = task or "classify"
    else:
        y, task = values, task or found_task(values)
        y = y.astype(np.int64) if task != "regress" else y
    if task == "regress":
        if np.max(np.abs(y)) > LARGEST:
            raise DataError(f"target {name!r}: {y[np.argmax(np.abs(y))]:g} is too large; change its unit")
        return Target(y, task, None)
    found = np.unique(y)
    if len(found) < 2:
        raise DataError(f"target {name!r} is {found[0]} in all {len(y)} rows; there is nothing to learn")
    if len(found) > max(100, len(y) // 2):
        cause = spelling(found.tolist() if found.dtype.kind == "U" else ())
        raise DataError(
            f"target {name!r} has {len(found)} different labels in {len(y)} rows (such as {found.tolist()[0]!r}): not "
            f"classes. {cause or 'Name another target, or --task regress for numbers'}"
        )
    return Target(y, task, _categories(found, order, name) if task == "ordinal" else None)


def found_task(y: Floats) -> str:
    """Return "classify" for whole numbers with few different values, else "regress"."""
    if not np.array_equal(y, np.round(y)) or np.max(np.abs(y)) > 2**31:
        return "regress"
    return "classify" if len(np.unique(y)) <= MANY else "regress"


def labels(words: tuple[str, ...]) -> Array:
    """Return labels as whole numbers or truth values where all of them are such, else as they are written."""
    truths = [truth(word) for word in words]
    if words and None not in truths:
        return np.array(truths, dtype=np.bool_)
    try:
        numbers = [float(word) for word in words]
        if all(number == int(number) for number in numbers):
            return np.array([int(number) for number in numbers], dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return np.array(words)


def _categories(found: Array, order: tuple[str, ...], name: str) -> list[Any] | None:
    if order:
        order = picked(order, list(map(str, found.tolist())))
        given = labels(order)
        if given.dtype.kind != found.dtype.kind:
            given = np.array(order)
        absent = [str(label) for label in found.tolist() if label not in given.tolist()]
        if absent:
            raise DataError(f"--order does not name {', '.join(absent[:5])}, which target {name!r} has")
        return list(given.tolist())
    if found.dtype.kind == "U" and len(found) > 2:
        raise DataError(
            f"the order of {', '.join(found[:5].tolist())} is not known: name the categories from lowest to highest, "
            "for example --order low,middle,high"
        )
    return None
