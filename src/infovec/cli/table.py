"""How the columns of a table become the columns of a model: kept with the model, so that new rows are read alike."""

from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..datasets import Block
from ..datasets.source import Kind, Wanted
from ..errors import DataError, ModelFileError
from ..persistence.values import flag, must, number, text
from ..plain import printable

__all__ = ["LARGEST", "TASKS", "Encoder", "Table", "WordColumn", "check_size"]

TASKS = ("classify", "regress", "ordinal")
LARGEST = 1e30
"""Numbers beyond this are taken for mistakes: their squares do not fit into single precision."""


@dataclass(frozen=True)
class WordColumn:
    """A column of words: one column of zeros and ones for each of its categories."""

    name: str
    categories: tuple[str, ...]
    fill: str | None  # for missing words


@dataclass(frozen=True)
class Table:
    """What is known of a table once a model was fitted to it. Plain data, which JSON can hold.

    Parameters
    ----------
    task : {"classify", "regress", "ordinal"}
    target : str
    target_kind : {"number", "word"}
    numbers : tuple of str
        Columns of numbers.
    words : tuple of WordColumn
    fill : tuple of float, optional
        What missing numbers are replaced by; None where they are not.
    centre, scale : tuple of float
        One for each column of the model, those of numbers first: x becomes (x - centre) / scale.
    sparse : bool
        Whether the model takes CSR matrices.
    """

    task: str
    target: str
    target_kind: Kind
    numbers: tuple[str, ...]
    words: tuple[WordColumn, ...]
    fill: tuple[float, ...] | None
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    sparse: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the model's columns."""
        hot = (f"{column.name}={category}" for column in self.words for category in column.categories)
        return (*self.numbers, *hot)

    def wanted(self, with_target: bool) -> Wanted:
        """Return what is to be read of a table for this model."""
        target = self.target if with_target else None
        return Wanted(self.numbers, tuple(column.name for column in self.words), target, self.target_kind)

    def to_json(self) -> dict[str, Any]:
        """Return it as numbers, texts, lists and dicts."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return it from what ``to_json`` made; raise where it is anything else."""
        known = {field.name for field in fields(cls)}
        if not isinstance(data, dict) or set(data) != known:
            raise ModelFileError(f"the description of the table must have {', '.join(sorted(known))}")
        where = "the table's"
        task, target = text(data["task"], f"{where} task"), text(data["target"], f"{where} target")
        must(task in TASKS, f"{where} task", f"one of {', '.join(TASKS)}", task)
        kind: Kind = "word" if data["target_kind"] == "word" else "number"
        must(data["target_kind"] == kind, f"{where} target_kind", "number or word", data["target_kind"])
        numbers, words = _texts(data["numbers"], f"{where} numbers"), _list(data["words"], f"{where} words")
        columns = tuple(_word_column(column, f"{where} words[{i}]") for i, column in enumerate(words))
        fill = None if data["fill"] is None else _floats(data["fill"], f"{where} fill", len(numbers))
        p, is_sparse = len(numbers) + sum(len(c.categories) for c in columns), flag(data["sparse"], f"{where} sparse")
        centre, scale = _floats(data["centre"], f"{where} centre", p), _floats(data["scale"], f"{where} scale", p)
        must(all(v > 0.0 for v in scale), f"{where} scale", "positive", min(scale, default=0.0))
        if is_sparse and (columns or fill is not None or any(centre)):
            raise ModelFileError("the table is sparse, and has words, values to fill in or a centre, which none has")
        return cls(task, target, kind, numbers, columns, fill, centre, scale, is_sparse)


def _list(value: Any, where: str) -> list[Any]:
    must(isinstance(value, list | tuple), where, "a list", value)
    return list(value)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    return tuple(text(v, f"{where}[{i}]") for i, v in enumerate(_list(value, where)))


def _floats(value: Any, where: str, length: int) -> tuple[float, ...]:
    found = tuple(number(v, f"{where}[{i}]") for i, v in enumerate(_list(value, where)))
    must(len(found) == length, where, f"{length} numbers", f"{len(found)}")
    return found


def _word_column(value: Any, where: str) -> WordColumn:
    fits = isinstance(value, dict) and set(value) == {"name", "categories", "fill"}
    must(fits, where, "a column with name, categories and fill", value)
    categories, fill = _texts(value["categories"], f"{where}.categories"), value["fill"]
    must(len(set(categories)) == len(categories), f"{where}.categories", "different texts", value)
    must(fill is None or fill in categories, f"{where}.fill", "one of the categories", fill)
    return WordColumn(text(value["name"], f"{where}.name"), categories, fill)


class Encoder:
    """Turns blocks of a table into inputs of the model, and counts words it has not seen before.

    Parameters
    ----------
    table : Table
    name : str
        Of the file, for messages.
    """

    def __init__(self, table: Table, name: str) -> None:
        self.table, self.name = table, name
        self.unseen: Counter[tuple[str, str]] = Counter()
        self._centre, self._scale = np.array(table.centre), np.array(table.scale)
        self._codes = [{word: k for k, word in enumerate(c.categories)} for c in table.words]

    def __call__(self, block: Block) -> Inputs:
        """Return the inputs of the block's rows."""
        check_size(block, self.table.numbers, self.name)
        if self.table.sparse:
            X = sparse.csr_matrix(block.numbers, dtype=np.float64)
            X.data /= self._scale[X.indices]
            return X
        dense = block.numbers.toarray() if sparse.issparse(block.numbers) else block.numbers
        X = np.hstack([self._filled(block, dense), *(self._hot(block, k) for k in range(len(self._codes)))])
        return (X - self._centre) / self._scale

    def _filled(self, block: Block, X: Floats) -> Floats:
        missing = np.isnan(X)
        if not missing.any():
            return X
        if self.table.fill is None:
            row, column = np.argwhere(missing)[0]
            raise self._missing(block, int(row), self.table.numbers[column])
        return np.where(missing, np.array(self.table.fill), X)

    def _hot(self, block: Block, k: int) -> Floats:
        """Zeros and ones of a column of words; zeros only for a word that the model has not seen."""
        column, codes = self.table.words[k], self._codes[k]
        hot = np.zeros((len(block), len(codes)))
        for i, word in enumerate(block.words[k]):
            word = column.fill if word is None else word
            if word is None:
                raise self._missing(block, i, column.name)
            if word in codes:
                hot[i, codes[word]] = 1.0
            else:
                self.unseen[column.name, word] += 1
        return hot

    def _missing(self, block: Block, row: int, column: str) -> DataError:
        return DataError(
            f"{self.name}, {block.place(row)}, column {column!r}: the value is missing, and the model does not know "
            "how to fill it. Fit it with --impute median, or fill the value"
        )

    def warning(self) -> str | None:
        """Return what to say of the words that were not seen when the model was fitted."""
        if not self.unseen:
            return None
        common = self.unseen.most_common(5)
        shown = ", ".join(f"{printable(column)}={printable(word)} ({count})" for (column, word), count in common)
        more = f" and {len(self.unseen) - 5} more" if len(self.unseen) > 5 else ""
        return (
            f"{self.unseen.total()} cells hold words that were not there when the model was fitted, and count as none "
            f"of its categories: {shown}{more}"
        )


def check_size(block: Block, names: tuple[str, ...], name: str) -> None:
    """Raise where a number is infinite or beyond LARGEST."""
    X = block.numbers
    values = X.data if sparse.issparse(X) else X
    if not values.size or not np.any(np.abs(values) > LARGEST):
        return
    X = X.tocoo() if sparse.issparse(X) else X
    if sparse.issparse(X):
        k = int(np.flatnonzero(np.abs(X.data) > LARGEST)[0])
        row, column, value = int(X.row[k]), int(X.col[k]), float(X.data[k])
    else:
        row, column = map(int, np.argwhere(np.abs(X) > LARGEST)[0])
        value = float(X[row, column])
    raise DataError(
        f"{name}, {block.place(row)}, column {names[column]!r}: {value:g} is too large to compute with (the limit is "
        f"{LARGEST:g}). If it stands for a missing value, leave the cell empty; else change the unit of the column"
    )
