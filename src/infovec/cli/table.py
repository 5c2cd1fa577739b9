"""How the columns of a table become the columns of a model: kept with the model, so that new rows are read alike."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, cast

import numpy as np
from scipy import sparse

from .._types import Inputs
from ..datasets import Block
from ..datasets.source import Wanted
from ..errors import DataError, ModelFileError
from ..persistence.values import flag, must, number, text
from ..plain import printable
from ..tables import CategoryColumn, Column, Encoded, NumberColumn, RankColumn, Raw, TableSchema, known_words
from ..tables.raw import Kind, word

__all__ = ["LARGEST", "TASKS", "Encoder", "Table", "check_size", "raw_columns", "stacked"]

TASKS = ("classify", "regress", "ordinal")
LARGEST = 1e30
"""Numbers beyond this are taken for mistakes: their squares do not fit into single precision."""


@dataclass(frozen=True)
class Table:
    """What is known of a table once a model was fitted to it. Plain data, which JSON can hold.

    Parameters
    ----------
    task : {"classify", "regress", "ordinal"}
    target : str
    target_kind : {"number", "word"}
    schema : TableSchema
        Columns in the order of the table.
    centre, scale : tuple of float
        One for each column of the model: x becomes (x - centre) / scale. Zeros and ones, but in files of earlier
        versions: models take columns in the units of the table.
    sparse : bool
        Whether the model takes CSR matrices.
    """

    task: str
    target: str
    target_kind: Literal["number", "word"]
    schema: TableSchema
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    sparse: bool = False

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return tuple(column.name for column in self.schema.columns if isinstance(column, NumberColumn))

    @property
    def words(self) -> tuple[CategoryColumn | RankColumn, ...]:
        """Columns of words, ordered or not."""
        return tuple(column for column in self.schema.columns if not isinstance(column, NumberColumn))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.schema.columns)

    def given(self, X: Inputs) -> Inputs:
        """Return rows as the model has them in a form in which it takes them."""
        return X if self.sparse or isinstance(X, Encoded) else Encoded(X, self.schema)

    def cells(self, X: Inputs) -> Any:
        """Return rows as the model has them as they are in the table."""
        matrix = X.matrix if isinstance(X, Encoded) else X
        found = matrix * np.array(self.scale) + np.array(self.centre)
        if self.schema.plain:
            return found
        rows = [[self.schema.word(j, row) for j in range(len(self.features))] for row in found]
        return np.array([[v if w is None else w for v, w in zip(row, words, strict=False)]
                         for row, words in zip(found.tolist(), rows, strict=True)], dtype=object)  # fmt: skip

    def wanted(self, with_target: bool) -> Wanted:
        """Return what is to be read of a table for this model."""
        target = self.target if with_target else None
        return Wanted(self.numbers, tuple(column.name for column in self.words), target, self.target_kind)

    def to_json(self) -> dict[str, Any]:
        """Return it as numbers, texts, lists and dicts."""
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "schema": self.schema.to_json()}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return it from what ``to_json`` made; raise where it is anything else."""
        data, known = _of_today(data), {field.name for field in fields(cls)}
        if not isinstance(data, dict) or set(data) != known:
            raise ModelFileError(f"the description of the table must have {', '.join(sorted(known))}")
        where = "the table's"
        task, target = text(data["task"], f"{where} task"), text(data["target"], f"{where} target")
        must(task in TASKS, f"{where} task", f"one of {', '.join(TASKS)}", task)
        kind: Literal["number", "word"] = "word" if data["target_kind"] == "word" else "number"
        must(data["target_kind"] == kind, f"{where} target_kind", "number or word", data["target_kind"])
        schema, is_sparse = TableSchema.from_json(data["schema"]), flag(data["sparse"], f"{where} sparse")
        kinds = [column.form for column in schema.columns]
        must("rank" not in kinds, f"{where} schema", "numbers and words", kinds)
        centre = _floats(data["centre"], f"{where} centre", schema.width)
        scale = _floats(data["scale"], f"{where} scale", schema.width)
        must(all(v > 0.0 for v in scale), f"{where} scale", "positive", min(scale, default=0.0))
        if is_sparse and (not schema.plain or any(centre)):
            raise ModelFileError("the table is sparse, and has words, gaps or a centre, which none has")
        return cls(task, target, kind, schema, centre, scale, is_sparse)


def _of_today(data: Any) -> Any:
    """What earlier versions wrote, as it is written now: they had names of numbers, and words as zeros and ones."""
    if not isinstance(data, dict) or "schema" in data or not {"numbers", "words", "fill"} <= set(data):
        return data
    if data["words"]:
        raise ModelFileError(
            "it was fitted by an earlier version of infovec to a table with words, which were columns of zeros and "
            "ones then: fit it again with this version, or predict with the one that fitted it"
        )
    must(isinstance(data["numbers"], list), "the table's numbers", "a list", data["numbers"])
    fill = [0.0] * len(data["numbers"]) if data["fill"] is None else data["fill"]
    must(
        isinstance(fill, list) and len(fill) == len(data["numbers"]),
        "the table's fill",
        "a number for each column",
        fill,
    )
    schema = [
        {"form": "number", "name": name, "kind": "number", "fill": value, "indicator": False}
        for name, value in zip(data["numbers"], fill, strict=True)
    ]
    return {**{k: v for k, v in data.items() if k not in ("numbers", "words", "fill")}, "schema": schema}


def _floats(value: Any, where: str, length: int) -> tuple[float, ...]:
    must(isinstance(value, list | tuple), where, "a list", value)
    found = tuple(number(v, f"{where}[{i}]") for i, v in enumerate(value))
    must(len(found) == length, where, f"{length} numbers", f"{len(found)}")
    return found


def raw_columns(block: Block, schema: TableSchema) -> list[Raw]:
    """Return the columns of a block in the order of a schema."""
    dense = block.numbers.toarray() if sparse.issparse(block.numbers) else block.numbers
    numbers, words = iter(dense.T), iter(block.words)
    return [
        Raw(column.name, _number_kind(column), next(numbers))
        if isinstance(column, NumberColumn)
        else Raw.of_words(column.name, _as_known(column, next(words)))
        for column in schema.columns
    ]


def _as_known(column: CategoryColumn | RankColumn, words: Sequence[str | None]) -> Sequence[str | None]:
    """Return words as the column has them: categories that are no texts may be written otherwise, 1.0 for 1."""
    if column.kind == "text":
        return words
    strange = {found for found in words if found is not None} - set(known_words(column))
    spelt = {found: word(value) for found in strange if (value := _number(found)) is not None}
    return [None if found is None else spelt.get(found, found) for found in words]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _number_kind(column: Column) -> Kind:
    return cast(Kind, column.kind) if column.kind in ("date", "duration", "time") else "number"


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
        self._known = {column.name: frozenset(known_words(column)) for column in table.words}

    def __call__(self, block: Block) -> Inputs:
        """Return the inputs of the block's rows."""
        check_size(block, self.table.numbers, self.name)
        if self.table.sparse:
            X = sparse.csr_matrix(block.numbers, dtype=np.float64)
            X.data /= self._scale[X.indices]
            return X
        raws = raw_columns(block, self.table.schema)
        for raw in raws:
            if (known := self._known.get(raw.name)) is not None:
                self.unseen.update({(raw.name, w): n for w, n in raw.counts().items() if w not in known})
        encoded = self.table.schema.encode(raws, tell=False)
        return Encoded((encoded - self._centre) / self._scale, self.table.schema)

    def warning(self) -> str | None:
        """Return what to say of the words that were not seen when the model was fitted."""
        if not self.unseen:
            return None
        common = self.unseen.most_common(5)
        shown = ", ".join(f"{printable(column)}={printable(word)} ({count})" for (column, word), count in common)
        more = f" and {len(self.unseen) - 5} more" if len(self.unseen) > 5 else ""
        ordered = {column.name for column in self.table.words if isinstance(column, RankColumn)}
        far = " (ordered ones lie far from all of them)" * any(column in ordered for column, _ in self.unseen)
        return (
            f"{self.unseen.total()} cells hold words that were not there when the model was fitted, and count as none "
            f"of its categories{far}: {shown}{more}"
        )


def stacked(parts: list[Any]) -> Any:
    """Return the rows of several parts, which an encoder has made, together."""
    if isinstance(parts[0], Encoded):
        return Encoded(np.concatenate([part.matrix for part in parts]), parts[0].schema)
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


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
