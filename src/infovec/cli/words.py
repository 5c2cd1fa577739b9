"""Whether a column of words can be used as categories, and what else it may be."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..datasets.cells import THOUSANDS, Marks, is_number
from ..datasets.gaps import truth
from ..errors import CellError, DataError, UndecidedError
from ..plain import printable
from ..tables.writing import (
    HANDFUL,
    are_dates,
    are_with_commas,
    first_amount,
    has_decimal_comma,
    is_amount,
    odd_among_numbers,
)
from ..tables.writing import are_amounts as amounts
from .pile import Codes

__all__ = ["MOST", "Obstacle", "Seen", "beside_numbers", "no_number", "obstacle", "spelling", "undecided", "unread"]

MOST = 100
"""Categories that a column may have without being named as categorical."""

_UNIT = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*([^\W\d_]+|%)")  # 43 yrs, 12 %
_COMMA = (
    "if it is a decimal comma say --decimal , (or --thousands . where points stand between thousands in other columns)"
    "; if it stands between thousands, --thousands ,"
)


def spelling(words: Iterable[str | None]) -> str:
    """Say of the first number with a currency sign or thousands separators how it is read; nothing of other words."""
    found = first_amount(words)
    if found is None:
        return ""
    if has_decimal_comma(found):
        return f"{found!r} has a comma: {_COMMA}"
    mark = next((mark for mark in THOUSANDS if _is_marked(found, mark)), None)
    if mark is not None:
        return f"{found!r} has marks between thousands: say --thousands {shlex.quote(mark)}"
    return f"{found!r} has a currency sign or thousands separators: write 104300.00 for $104,300.00 in the file"


def no_number(error: CellError) -> DataError:
    """Say of a cell that cannot be read that the model wants a number there, and how it is read."""
    cause = "" if "--thousands" in str(error) else spelling((error.cell,))
    return DataError(f"{error}; the model takes numbers in this column" + (f". {cause}" if cause else ""))


def unread(labels: Codes, marks: Marks | None) -> str:
    """Say why words are not read as numbers where all or most are written for such; nothing of other words."""
    counts = labels.counts()
    if _only_points(counts, marks):
        what, remedy, _ = _points(tuple(counts), marks)
        return f"it {what}: {remedy}"
    if _are_amounts(counts):
        return spelling(counts)
    if are_with_commas(counts):
        return f"{next(word for word in counts if ',' in word)!r} has a comma: {_COMMA}"
    seen = Seen(counts, labels.places, 0, marks)
    if not odd_among_numbers(counts):
        return ""
    missing = f", or say {_as_missing(seen)} and --skip-missing-target if its target is missing" if marks else ""
    return f"{seen.told()}. Mend the cell{missing}"


def _are_amounts(words: Iterable[str]) -> bool:
    """Whether words are numbers, some of them with currency signs or thousands separators."""
    return amounts(word for word in words if not is_number(word))


class Seen(NamedTuple):
    """What a column of words holds.

    Parameters
    ----------
    counts : mapping from word to int
        Sorted.
    places : mapping from word to str
        Where the first few words are that nobody reads as numbers.
    rows : int
    marks : Marks, optional
        How numbers are written in the table, if it is a text file.
    """

    counts: Mapping[str, int]
    places: Mapping[str, str]
    rows: int
    marks: Marks | None

    def told(self) -> str:
        """Say how many cells are numbers, and which are not."""
        total = sum(self.counts.values())
        odd = sum(count for word, count in self.counts.items() if not is_amount(word))
        shown = ", ".join(f"{place} {printable(repr(word))}" for word, place in self.places.items())
        others = f"{shown} is not" if odd == 1 else f"{odd} are not, such as {shown}"
        return f"{total - odd} of {total} cells are numbers, {others}"


class Obstacle(NamedTuple):
    """A column of words that may be something else, and the option that would say so."""

    column: str
    what: str
    remedy: str
    option: str  # nothing where the file has to be mended
    values: tuple[str, ...]


def obstacle(column: str, seen: Seen) -> Obstacle | None:
    """Return what is to be decided where words are dates, numbers for the most part, or too many to be categories.

    Parameters
    ----------
    column : str
    seen : Seen
    """
    words = tuple(seen.counts)
    remedy = f"leave the column out with --drop {column!r}, or say --categorical {column!r} to take them as categories"
    if are_dates(words):
        said = f"Say --dates {column!r} to take them as numbers, or {remedy}"
        return Obstacle(column, f"holds dates (such as {words[0]!r})", said, "--dates", (column,))
    if _only_points(words, seen.marks):
        what, said, option = _points(words, seen.marks)
        return Obstacle(column, what, said if option else f"{said}; or {remedy}", option, (".",) if option else ())
    if are_with_commas(words):
        between = all(_is_marked(word, ",") for word in words)
        what = f"has numbers with a comma ({words[0]!r})"
        return Obstacle(column, what, _COMMA, "--thousands" if between else "--decimal", (",",))
    if _are_amounts(words):
        what = f"holds numbers that cannot be read: {spelling(words)}"
        mark = next((mark for mark in THOUSANDS if all(_is_marked(word, mark) for word in words)), "")
        said = f"If they are categories, say --categorical {column!r}"
        return Obstacle(column, what, said, "--thousands" if mark else "", (mark,))
    if odd_among_numbers(words):
        return _with_odd_cells(column, seen)
    if len(words) > HANDFUL and (unit := _unit(words)):
        said = f"Write {words[0].removesuffix(unit).strip()} for {words[0]} in the file; or {remedy}"
        return Obstacle(column, f"has numbers with a unit ({words[0]!r})", said, "", ())
    if len(words) > MOST:
        what = f"holds {len(words)} different words in {seen.rows} rows (such as {words[0]!r} and {words[1]!r})"
        said = f"If they are names or numbers of rows, {remedy}"
        return Obstacle(column, f"{what}, too many for categories", said, "--drop", (column,))
    return None


def _unit(words: Sequence[str]) -> str:
    """Return what is behind the number in all words; nothing where some have another unit, or none."""
    units = {match and match[1] for match in map(_UNIT.fullmatch, words)}
    return (units.pop() or "") if len(units) == 1 else ""


def _only_points(words: Iterable[str], marks: Marks | None) -> bool:
    """Whether words are no numbers for their points only, in a table where commas are before decimals."""
    return marks is not None and marks.decimal == "," and all(map(is_number, words))


def _points(words: Sequence[str], marks: Marks | None) -> tuple[str, str, str]:
    """Return what is to be said of numbers with points where commas are before decimals, the remedy and its option."""
    point = next((word for word in words if "." in word), words[0])
    what = f"has numbers with a point ({point!r}), where commas are before decimals"
    if marks and not marks.thousands and all(_is_marked(word, ".") for word in words):
        said = "if points stand between thousands, say --thousands .; else write them with commas in the file"
        return what, said, "--thousands"
    return what, f"Write {point.replace('.', ',')} for {point} in the file, as in other columns", ""


def _with_odd_cells(column: str, seen: Seen) -> Obstacle:
    """Return what is to be decided where most of a column are numbers."""
    missing = "" if seen.marks is None else f"{_as_missing(seen)} if it stands for a missing value, "
    said = f"Mend the cell, or say {missing}--categorical {column!r} if these are categories, or --drop {column!r}"
    option = "--missing" if missing and len(seen.places) == len(odd_among_numbers(seen.counts)) else ""
    return Obstacle(column, f"is not of numbers only: {seen.told()}", said, option, tuple(seen.places))


def _as_missing(seen: Seen) -> str:
    return f"--missing {shlex.quote(next(iter(seen.places)))}"


def beside_numbers(column: str, seen: Seen) -> str:
    """Say of words beside truth values or a handful of numbers that all are taken for categories; else nothing."""
    if said := _beside_truths(seen):
        return f"column {column!r} is taken as categories: {said}"
    numbers = sum(map(is_amount, seen.counts))
    if numbers < 2 or numbers <= len(seen.counts) - numbers:
        return ""
    return f"column {column!r} is taken as categories: {seen.told()}"


def _beside_truths(seen: Seen) -> str:
    """Say how many cells are truth values and which are not, where most are; else nothing."""
    odd = {word: count for word, count in seen.counts.items() if truth(word) is None}
    total, others = sum(seen.counts.values()), sum(odd.values())
    if not odd or others >= total - others:
        return ""
    example = next(iter(odd))
    where = f"{seen.places[example]} " if example in seen.places else ""
    shown = f"{others} {'is' if others == 1 else 'are'} not, such as {where}{printable(repr(example))}"
    return f"{total - others} of {total} cells are True or False, {shown}"


def undecided(file: str, found: Sequence[Obstacle]) -> UndecidedError:
    """Return the error of columns that need a decision: all of them at once."""
    options = dict[str, list[str]]()
    for one in found:
        if one.option:
            options.setdefault(one.option, []).extend(one.values)
    if len(found) == 1:
        one = found[0]
        joined = ": " if one.option in ("--thousands", "--decimal") and not one.remedy.startswith("If") else ". "
        return UndecidedError(f"{file}, column {one.column!r} {one.what}{joined}{one.remedy}", options)
    listed = "; ".join(f"{one.column!r} {one.what}" for one in found)
    return UndecidedError(
        f"{file}: {len(found)} columns need a decision. {listed}. --drop leaves a column out, --categorical takes its "
        "words as categories, --dates takes dates as numbers, --missing takes a word for a missing value, --thousands "
        "and --decimal say what marks in numbers are",
        options,
    )


def _is_marked(word: str, mark: str) -> bool:
    return is_number(word, Marks.of(None, mark, [[word]]))
