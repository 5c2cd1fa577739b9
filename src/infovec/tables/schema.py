"""What is known of a table once something was fitted to it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._types import Floats, Rows
from ..errors import ModelFileError, ParameterError
from ..persistence.values import must
from ..plain import printable
from ..runtime import outside
from .columns import CategoryColumn, Column, NumberColumn, RankColumn, column_from_json, column_to_json, learned
from .iso import days_of, share_of_dates
from .raw import Raw
from .remedies import as_written, mostly_numbers
from .unseen import strange
from .writing import are_numbers

__all__ = ["Encoded", "TableSchema"]

_FEW = 20  # numbers written as texts that may be codes
_MANY, _SHARE = 100, 0.5  # categories that are no longer a few, and their share of the rows that makes them names


@dataclass(frozen=True)
class TableSchema:
    """How the columns of a table become the columns of a model. Plain data, which JSON can hold.

    A model has one column for each of the table, in the same order: numbers, or the numbers of categories. After these
    there is a column of zeros and ones for each whose values were missing in some rows.

    Parameters
    ----------
    columns : tuple of Column
    """

    columns: tuple[Column, ...]

    @classmethod
    def learned(cls, raws: Sequence[Raw]) -> Self:
        """Return what is to be known of the columns of training rows; warn of those that tell nothing."""
        found = cls(tuple(learned(raw) for raw in raws))
        empty = [raw.name for raw in raws if raw.kind == "nothing"]
        if len(empty) == len(raws):
            raise ParameterError("no column of X has any value: there is nothing to learn from")
        if empty:
            _warn(f"{_listed(empty)} no values and will not count, whatever is there later")
        words = [(c, raw) for c, raw in zip(found.columns, raws, strict=True) if isinstance(c, CategoryColumn)]
        dates = [raw for _, raw in words if not raw.listed and share_of_dates(raw.words) > _SHARE]
        for raw in dates:
            others = [k for k, word in enumerate(raw.words) if days_of([word]) is None]
            count, total = int(np.isin(raw.values, others).sum()), int(np.sum(~raw.missing))
            _warn(
                f"column {raw.name!r} holds dates, but not only ({printable(repr(raw.words[others[0]]))}), and is "
                f"taken for categories. As dates, which leaves {count} of {total} missing that are none: "
                f'X[{raw.name!r}] = pandas.to_datetime(X[{raw.name!r}], errors="coerce")'
            )
        told = {raw.name for raw in dates}
        for _, raw in words:
            if raw.name not in told and (said := _of_numbers(raw)):
                told.add(raw.name)
                _warn(f'{said}; if they are categories, say so by X[{raw.name!r}].astype("category")')
        names = [
            raw.name
            for column, raw in words
            if raw.name not in told and len(column.categories) > max(_MANY, _SHARE * np.sum(~raw.missing))
        ]
        if names:
            _warn(
                f"{_listed(names)} more different texts than half of the rows, which look like names or numbers of "
                "rows. As categories they tell little, and a regressor's std can be twice as wide as it should be with "
                "them; leave such columns out, or make them into what they stand for: dates by pandas.to_datetime, "
                "numbers by pandas.to_numeric"
            )
        return found

    @classmethod
    def of_numbers(cls, raws: Sequence[Raw]) -> Self:
        """Return what is known of columns where the model was fitted to numbers without gaps."""
        return cls(tuple(NumberColumn(raw.name, "number", 0.0, False) for raw in raws))

    @property
    def plain(self) -> bool:
        """Whether it is a table of numbers without gaps, which needs no encoding."""
        return all(isinstance(c, NumberColumn) and c.kind == "number" and not c.indicator for c in self.columns)

    @property
    def indicators(self) -> Rows:
        """Columns of the table for which one more column says where they are missing."""
        return np.flatnonzero([column.indicator for column in self.columns])

    @property
    def width(self) -> int:
        """Columns of the model."""
        return len(self.columns) + len(self.indicators)

    @property
    def names(self) -> list[str]:
        """Names of the model's columns."""
        gaps = [f"{self.columns[j].name} is missing" for j in self.indicators]
        return [*(column.name for column in self.columns), *gaps]

    @property
    def codes(self) -> Rows:
        """Columns of the model in which two rows are the same or not, nothing between: categories and indicators."""
        p = len(self.columns)
        categories = np.flatnonzero([isinstance(column, CategoryColumn) for column in self.columns])
        return np.concatenate([categories, np.arange(p, self.width)])

    @property
    def sources(self) -> Rows:
        """For each column of the model, the column of the table that it is made from."""
        return np.concatenate([np.arange(len(self.columns)), self.indicators])

    def encode(self, raws: Sequence[Raw], tell: bool = True) -> Floats:
        """Return rows as the model takes them; warn where values are missing in a column that had none missing.

        With ``tell`` also where most categories of a column are unknown, or any of an order.
        """
        if len(raws) != len(self.columns):
            raise ParameterError(f"X has {len(raws)} columns, the model was fitted to {len(self.columns)}")
        found = np.empty((len(raws[0].values), self.width))
        gaps, new, new_words = list[Any](), list[str](), list[str]()
        for j, (column, raw) in enumerate(zip(self.columns, raws, strict=True)):
            found[:, j], missing = column.encoded(raw)
            if column.indicator:
                gaps.append(missing)
            elif missing.any():
                (new_words if isinstance(column, CategoryColumn) else new).append(column.name)
        for k, missing in enumerate(gaps):
            found[:, len(self.columns) + k] = missing
        said = {c: text for c, raw in zip(self.columns, raws, strict=True) if tell and (text := strange(c, raw))}
        if said:
            where = "; ordered ones lie far from all of them" * any(isinstance(c, RankColumn) for c in said)
            _warn(f"{'; '.join(said.values())}. They count as none of these{where}")
        for names, done in ((new, "the median in their place"), (new_words, "them for none of its categories")):
            if names:
                _warn(
                    f"{_listed(names)} missing values now and had none when the model was fitted, which therefore "
                    f"takes {done}; fit to rows with missing values for it to learn what they mean"
                )
        return found

    def decode(self, X: Floats) -> list[Raw]:
        """Return the columns of the table that rows of the model came from."""
        gaps = [self.gap(j) for j in range(len(self.columns))]
        missing = [np.zeros(len(X), dtype=bool) if gap is None else X[:, gap] != 0.0 for gap in gaps]
        return [column.raw(X[:, j], missing[j]) for j, column in enumerate(self.columns)]

    def one_hot(self, X: Floats) -> Floats:
        """Return rows of the model with a column of zeros and ones for each category."""
        parts = [
            X[:, j, None] == np.arange(len(column.categories)) if isinstance(column, CategoryColumn) else X[:, [j]]
            for j, column in enumerate(self.columns)
        ]
        return np.hstack([*parts, X[:, len(self.columns) :]]).astype(np.float64)

    def rows(self, X: Floats) -> "Encoded":
        """Return rows of the model in a form in which an estimator does not encode them again."""
        return Encoded(X, self)

    def gap(self, column: int) -> int | None:
        """Return the column of the model that says where a column of the table is missing, if there is one."""
        place = np.flatnonzero(self.indicators == column)
        return len(self.columns) + int(place[0]) if len(place) else None

    def word(self, column: int, row: Floats) -> str | None:
        """Return the value of a column of the table in a row of the model as it is written; None for a number."""
        gap, value = self.gap(column), row[column]
        return "missing" if gap is not None and row[gap] else self.columns[column].written(float(value))

    def words(self, column: int, values: Floats) -> tuple[str, ...] | None:
        """Return what values of a column of the table stand for; None where they are numbers there."""
        if self.columns[column].form == "number":
            return None
        return tuple(self.columns[column].written(float(value)) or "between" for value in values)

    def to_json(self) -> list[dict[str, Any]]:
        """Return it as texts, numbers, lists and dicts."""
        return [column_to_json(column) for column in self.columns]

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return it from what ``to_json`` made; raise where it is anything else."""
        must(isinstance(data, list) and len(data) > 0, "the table", "a list of columns", data)
        return cls(tuple(column_from_json(column, f"the table's columns[{j}]") for j, column in enumerate(data)))

    def saved(self) -> dict[str, Any]:
        """Return what a model file has of it."""
        return {"columns": self.to_json()}

    @classmethod
    def loaded(cls, given: Any) -> Self:
        """Return it from what a model file has of it."""
        if set(given) != {"columns"}:
            raise ModelFileError("a TableSchema must have columns, and nothing else")
        return cls.from_json(given["columns"])


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows of a table as a model takes them, where an estimator expects rows of a table."""

    matrix: Any
    schema: TableSchema

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self.matrix.shape
        return n, p

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Numbers that a linear model can take: zeros and ones for categories."""
        return self.schema.one_hot(self.matrix).astype(dtype or np.float64)

    def __getitem__(self, rows: Any) -> "Encoded":
        """Return some rows."""
        return Encoded(self.matrix[rows[0] if isinstance(rows, tuple) else rows], self.schema)


def _of_numbers(raw: Raw) -> str:
    """Say of texts that they, or most, are written for numbers or dates; nothing where they may be categories."""
    if raw.listed:
        return ""
    name = f"column {raw.name!r}"
    few = _FEW if are_numbers(raw.words) else 1
    if len(raw.words) > few and (remedy := as_written(raw)):
        return (
            f"{name} holds texts such as {printable(repr(raw.words[0]))}, and is taken for categories, nothing between "
            f"one and another. {remedy}"
        )
    odd = mostly_numbers(raw)
    return f"{name} is taken for categories, nothing between one and another, as {odd}" if odd else ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(printable(name)) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column {shown} has" if len(names) == 1 else f"columns {shown}{more} have"


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=outside())
