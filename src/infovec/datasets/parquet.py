"""Parquet files. Needs pyarrow (the ``parquet`` extra)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._types import Floats
from ..errors import CellError, DataError
from .gaps import Kind, is_gap, word
from .source import Block, Source, Wanted, block_rows

__all__ = ["ParquetTable"]


_DAY = 86400.0  # seconds
_IN_A_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


class ParquetTable(Source):
    """A Parquet file, read in batches of the wanted columns only.

    Parameters
    ----------
    path : str
    empty : bool
        Whether it may be without rows.
    """

    def __init__(self, path: str, empty: bool = False) -> None:
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError as error:
            raise DataError(
                f"{path}: Parquet files need pyarrow, which is not installed: pip install 'infovec[parquet]'"
            ) from error
        self.name = path
        try:
            self._file = parquet.ParquetFile(path)
        except arrow.ArrowInvalid as error:
            raise DataError(f"{path} is not a Parquet file: {error}") from error
        self._schema = self._file.schema_arrow
        self._types, self._memory = arrow.types, arrow.default_memory_pool()
        if self._file.metadata.num_rows == 0 and not empty:
            raise DataError(f"{path} has no rows")
        self._read = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._schema.names)

    @property
    def ordered(self) -> Sequence[str]:
        is_dictionary = self._types.is_dictionary
        return [field.name for field in self._schema if is_dictionary(field.type) and field.type.ordered]

    def close(self) -> None:
        self._file.close()
        self._memory.release_unused()

    def share_read(self) -> float | None:
        return self._read / max(1, self._file.metadata.num_rows)

    def kinds(self) -> dict[str, Kind]:
        return {field.name: self._kind(field.type) for field in self._schema}

    def _kind(self, kind: Any) -> Kind:
        t = self._types
        if t.is_boolean(kind):
            return "truth"
        if t.is_duration(kind) or t.is_time(kind):
            return "duration" if t.is_duration(kind) else "time"
        numeric = any(test(kind) for test in (t.is_integer, t.is_floating, t.is_decimal, t.is_null))
        return "number" if numeric else "word"

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        columns = list(dict.fromkeys(wanted.names()))
        for batch in self._file.iter_batches(batch_size=block_rows(len(columns)), columns=columns):
            X = np.empty((batch.num_rows, len(wanted.numbers)))
            for j, name in enumerate(wanted.numbers):
                X[:, j] = self._numbers(name, batch.column(name))
            words = [[word(v) for v in batch.column(name).to_pylist()] for name in wanted.words]
            target: Any = None
            if wanted.target is not None and wanted.target_kind == "number":
                target = self._numbers(wanted.target, batch.column(wanted.target))
            elif wanted.target is not None:
                target = [word(v) for v in batch.column(wanted.target).to_pylist()]
            block = Block(self._read, X, words, target)
            self._read += batch.num_rows
            yield block

    def _numbers(self, name: str, values: Any) -> Floats:
        kind = self._kind(values.type)
        if kind in ("duration", "time"):
            units = values.cast(f"int{values.type.bit_width}").cast("float64").to_numpy(zero_copy_only=False)
            return np.array(units) / (_IN_A_SECOND[values.type.unit] * _DAY)
        if kind == "word":
            cells = values.to_pylist()
            try:
                return np.array([np.nan if is_gap(v) else float(v) for v in cells])
            except (TypeError, ValueError):
                raise CellError(f"{self.name}, from row {self._read + 1}", name, str(cells[0])) from None
        return np.array(values.cast("float64").to_numpy(zero_copy_only=False))  # NaN where there is none
