"""What is known of each column of a table once something was fitted to it: how its values become numbers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Final, TypeAlias, cast

import numpy as np

from .._types import Floats, Mask
from ..errors import ModelFileError, ParameterError
from ..persistence.values import flag, must, number, text, whole
from ..plain import printable
from .raw import Kind, Raw, coded
from .remedies import as_dates, recovered

__all__ = ["CategoryColumn", "Column", "NumberColumn", "RankColumn", "column_from_json", "learned"]

FAR: Final = 10.0
"""Ranges of an order, by which a category that is not in it lies outside: no row is near it in a column that counts."""
LARGEST: Final = 1e30
"""Numbers beyond this are taken for mistakes: their squares do not fit into single precision."""

_NAMES = {
    "number": "numbers", "text": "text", "label": "categories", "rank": "ordered categories", "date": "dates",
    "duration": "durations", "time": "times of day", "nothing": "nothing",
}  # fmt: skip


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; of dates and the like, in days.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "duration", "time", "nothing"}
    fill : float
        What stands where a value is missing.
    indicator : bool
        Whether one more column says where: values were missing when it was learned.
    """

    form: ClassVar[str] = "number"
    name: str
    kind: str
    fill: float
    indicator: bool

    def encoded(self, raw: Raw) -> tuple[Floats, Any]:
        """Return the numbers of a column, and which of its values are missing."""
        if self.kind == "nothing":
            return np.zeros(len(raw.values)), np.zeros(len(raw.values), dtype=bool)
        if self.kind == "date":
            raw = raw.as_dates() or raw
        _must_be_alike(self.name, self.kind, raw, (self.kind,))
        missing = raw.missing
        values = np.where(missing, self.fill, raw.values)
        _check_size(self.name, values)
        return values, missing

    def raw(self, values: Floats, missing: Mask) -> Raw:
        """Return the column as it came, from the numbers of the model."""
        return Raw(self.name, cast(Kind, self.kind), np.where(missing, np.nan, values))

    def written(self, value: float) -> str | None:
        """Return a number as it is written in the table: a date; None where it is a number there."""
        if self.kind != "date":
            return None
        second = np.datetime64(0, "s") + np.timedelta64(round(value * 86400.0), "s")
        return str(second).removesuffix("T00:00:00").replace("T", " ")


@dataclass(frozen=True)
class RankColumn:
    """A column of ordered categories: the place of each from the lowest on."""

    form: ClassVar[str] = "rank"
    name: str
    order: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "rank"

    @property
    def nowhere(self) -> float:
        """The place of categories that are not in the order: far from all that are."""
        return -FAR * len(self.order)

    def encoded(self, raw: Raw) -> tuple[Floats, Any]:
        """Return the places, and which are missing."""
        _must_be_alike(self.name, "rank", raw, ("rank", "text", "label"))
        codes = coded(raw, self.order)
        missing = codes == -2
        return np.select([missing, codes == -1], [self.fill, self.nowhere], codes).astype(np.float64), missing

    def raw(self, values: Floats, missing: Mask) -> Raw:
        """Return the column as it came, from the numbers of the model."""
        codes = np.where(missing | (values == self.nowhere), -1, values)
        return Raw(self.name, "rank", codes.astype(np.intp), self.order, listed=True)

    def written(self, value: float) -> str | None:
        """Return the category at a place; None between two of them."""
        if value == self.nowhere:
            return "new"
        return self.order[int(value)] if value == round(value) and 0 <= value < len(self.order) else None


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: the number of each, and -1 for all others.

    A missing one is the commonest, if one more column says where that is, and else none of them.
    """

    form: ClassVar[str] = "category"
    name: str
    kind: str  # "text" or "label"
    categories: tuple[str, ...]
    fill: int  # number of the commonest
    indicator: bool

    def encoded(self, raw: Raw) -> tuple[Floats, Any]:
        """Return the numbers of categories, and which are missing."""
        known = ("text", "label", "rank") if self.kind == "text" else ("text", "label", "rank", "number")
        _must_be_alike(self.name, self.kind, raw, known)
        codes = coded(raw, self.categories)
        missing = codes == -2
        return np.where(missing, self.fill if self.indicator else -1, codes).astype(np.float64), missing

    def raw(self, values: Floats, missing: Mask) -> Raw:
        """Return the column as it came, from the numbers of the model."""
        codes = np.where(missing, -1, values).astype(np.intp)
        return Raw(self.name, cast(Kind, self.kind), codes, self.categories, listed=True)

    def written(self, value: float) -> str | None:
        """Return the category of a number."""
        return [*self.categories, "new"][int(value)]


Column: TypeAlias = NumberColumn | RankColumn | CategoryColumn


def learned(raw: Raw) -> Column:
    """Return what is to be known of a column of training rows; texts that are all dates are dates."""
    if not raw.listed:
        raw = raw.as_dates() or raw
    missing = raw.missing
    some = bool(missing.any())
    if raw.kind == "nothing":
        return NumberColumn(raw.name, "nothing", 0.0, False)
    if raw.kind in ("text", "label"):
        there, count = np.unique(raw.values[~missing], return_counts=True)
        counted = dict(sorted((raw.words[k], n) for k, n in zip(there, count.tolist(), strict=True)))
        return CategoryColumn(raw.name, raw.kind, tuple(counted), int(np.argmax([*counted.values()])), some)
    values = raw.values[~missing].astype(np.float64)
    _check_size(raw.name, values)
    fill = float(np.median(values))
    if raw.kind == "rank":
        return RankColumn(raw.name, raw.words, fill, some)
    return NumberColumn(raw.name, raw.kind, fill, some)


def _must_be_alike(name: str, kind: str, raw: Raw, known: tuple[str, ...]) -> None:
    if raw.kind in (*known, "nothing"):
        return
    shown = f", such as {printable(repr(_first(raw)))}" if raw.words else ""
    raise ParameterError(
        f"column {name!r} held {_NAMES[kind]} when the model was fitted, and holds {_NAMES[raw.kind]} now{shown}: give "
        f"it the type that it had{_remedy(kind, raw)}"
    )


def _remedy(kind: str, raw: Raw) -> str:
    """How to give a column the type that it had, where that is seen."""
    name = repr(raw.name)
    if kind == "text" and raw.kind == "number":
        return (
            f". Read it as text, for example by pandas.read_csv(..., dtype={{{name}: str}}): of 10115 beside missing "
            f"values X[{name}].astype(str) makes '10115.0', and does not bring back zeros at the beginning"
        )
    if kind == "text":
        return f", for example by X[{name}].astype(str)"
    if kind == "number" and raw.words:
        said = recovered(raw)
        return f". {said}" if said else ""
    if kind == "date" and raw.words:
        return f". {as_dates(raw)}"
    return f", for example by pandas.to_timedelta(X[{name}])" if kind == "duration" and raw.words else ""


def _first(raw: Raw) -> str:
    return raw.words[int(raw.values[int(np.argmax(~raw.missing))])]


def _check_size(name: str, values: Floats) -> None:
    large = ~(np.abs(values) <= LARGEST)
    if not large.any():
        return
    row = int(np.argmax(large))
    value = values[row]
    what = f"{value:g}, too large to compute with" if np.isfinite(value) else "infinite"
    raise ParameterError(
        f"row {row}, column {name!r} is {what}. If it stands for a missing value, make it NaN; else drop the row"
    )


_FORMS: Final[Mapping[str, type]] = {cls.form: cls for cls in (NumberColumn, RankColumn, CategoryColumn)}


def column_to_json(column: Column) -> dict[str, Any]:
    """Return a column as JSON has it."""
    return {"form": column.form, **asdict(column)}


def column_from_json(data: Any, where: str) -> Column:
    """Return a column from what ``column_to_json`` made; raise where it is anything else."""
    form = _FORMS.get(str(data.get("form"))) if isinstance(data, dict) else None
    if form is None or set(data) != {"form", *(field.name for field in fields(form))}:
        raise ModelFileError(f"{where} must be a column of numbers, ranks or categories, with all that belongs to it")
    name = text(data["name"], f"{where}.name")
    if form is CategoryColumn:
        must(data["kind"] in ("text", "label"), f"{where}.kind", "text or label", data["kind"])
        words = _words(data["categories"], f"{where}.categories")
        commonest = whole(data["fill"], f"{where}.fill", 0, max(0, len(words) - 1))
        return CategoryColumn(name, data["kind"], words, commonest, flag(data["indicator"], f"{where}.indicator"))
    fill, indicator = number(data["fill"], f"{where}.fill"), flag(data["indicator"], f"{where}.indicator")
    if form is RankColumn:
        return RankColumn(name, _words(data["order"], f"{where}.order"), fill, indicator)
    kinds = ("number", "date", "duration", "time", "nothing")
    must(data["kind"] in kinds, f"{where}.kind", f"one of {', '.join(kinds)}", data["kind"])
    return NumberColumn(name, data["kind"], fill, indicator)


def _words(value: Any, where: str) -> tuple[str, ...]:
    must(isinstance(value, list | tuple), where, "a list of texts", value)
    words = tuple(text(v, f"{where}[{k}]") for k, v in enumerate(value))
    must(len(set(words)) == len(words), where, "different texts", value)
    return words
