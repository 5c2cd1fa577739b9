"""A folder of Parquet files as one array of rows that is not in memory. Needs pyarrow (the ``parquet`` extra)."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from .._types import Array, Foreign
from ..errors import DataError

__all__ = ["ParquetRows", "parquet_files"]

_KEPT = 2  # row groups that were read last: pieces of them are asked for in turn
_TARGET = 1 << 16  # rows of a target that are read at once


def parquet_files(names: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the files that a folder, a pattern or a list of them names, in the order of their names."""
    given = [names] if isinstance(names, str | Path) else list(names)
    found = list[Path]()
    for name in map(Path, given):
        if name.is_dir():
            found += sorted([*name.glob("*.parquet"), *name.glob("*.pq")])
        elif any(sign in name.name for sign in "*?["):
            found += sorted(name.parent.glob(name.name))
        else:
            found.append(name)
    if not found:
        raise DataError(f"{', '.join(map(str, given))}: there are no Parquet files")
    return found


class ParquetRows:
    """Columns of numbers of one or more Parquet files, to be sliced like an array; row groups are read when asked for.

    Parameters
    ----------
    files : path, pattern, folder, or list of them
    target : str, optional
        A column that is no input; see ``column``.
    columns : list of str, optional
        Inputs; all columns but the target unless given.

    Examples
    --------
    >>> rows = ParquetRows("rows", target="label")  # doctest: +SKIP
    >>> IVMClassifier(max_memory="1GB").fit(rows, rows.column("label"))  # doctest: +SKIP
    """

    ndim, dtype = 2, np.dtype(np.float64)

    def __init__(
        self, files: str | Path | Sequence[str | Path], target: str | None = None, columns: Sequence[str] | None = None
    ) -> None:
        try:
            from pyarrow import default_memory_pool, parquet
        except ImportError as error:
            raise DataError("Parquet files need pyarrow: pip install 'infovec[parquet]'") from error
        self._parquet, self.files, self._memory = parquet, parquet_files(files), default_memory_pool()
        self._groups: list[tuple[int, int]] = []  # file and row group
        self.pieces: list[int] = []
        self._firsts, n = list[int](), 0
        first: dict[str, Foreign] = {}
        for number, path in enumerate(self.files):
            schema, metadata = self._opened(path)
            types = {field.name: field.type for field in schema}
            first = first or types
            wanted = list(columns) if columns is not None else [name for name in first if name != target]
            self._check(path, types, first, wanted)
            self._firsts.append(n)
            for group in range(metadata.num_row_groups):
                size = metadata.row_group(group).num_rows
                if size:
                    self._groups.append((number, group))
                    self.pieces.append(size)
                    n += size
        self.names = list(columns) if columns is not None else [name for name in first if name != target]
        if not n:
            raise DataError(f"{self.files[0]} has no rows")
        self.shape = n, len(self.names)
        self._starts = np.concatenate([[0], np.cumsum(self.pieces)])
        self._read: OrderedDict[int, Array] = OrderedDict()
        self._lock = Lock()

    def _opened(self, path: Path) -> tuple[Foreign, Foreign]:
        import pyarrow as arrow

        try:
            with self._parquet.ParquetFile(path) as file:
                return file.schema_arrow, file.metadata
        except arrow.ArrowInvalid as error:
            raise DataError(f"{path} is not a Parquet file: {error}") from error

    def _check(self, path: Path, types: dict[str, Foreign], first: dict[str, Foreign], wanted: Sequence[str]) -> None:
        from pyarrow import types as kinds

        tests = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal)
        for name in wanted:
            if name not in types:
                raise DataError(f"{path} has no column {name!r}, which {self.files[0]} has")
            if not any(test(types[name]) for test in tests):
                other = "" if types[name] == first.get(name) else f", in {self.files[0]} {first.get(name)}"
                raise DataError(
                    f"{path}, column {name!r} holds {types[name]}{other}, and no numbers; leave it out with columns=, "
                    "or encode it first"
                )

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: slice | Array) -> Array:
        if not isinstance(at, slice):
            at = np.asarray(at)
            found = np.empty((len(at), self.shape[1]))
            group = np.searchsorted(self._starts, at, side="right") - 1
            for number in np.unique(group).tolist():
                here = group == number
                found[here] = self._group(number)[at[here] - self._starts[number]]
            return found
        start, stop, step = at.indices(len(self))
        first, last = np.searchsorted(self._starts, [start, max(stop - 1, start)], side="right") - 1
        parts = []
        for number in range(int(first), int(last) + 1) if stop > start else ():
            begin = int(self._starts[number])
            parts.append(self._group(number)[max(start - begin, 0) : max(stop - begin, 0)])
        rows = np.concatenate(parts) if parts else np.empty((0, self.shape[1]))
        return rows if step == 1 else rows[::step]

    def _group(self, number: int) -> Array:
        """Numbers of a row group; those read last are kept."""
        with self._lock:
            if number in self._read:
                return self._read[number]
        file, group = self._groups[number]
        with self._parquet.ParquetFile(self.files[file]) as opened:
            table = opened.read_row_group(group, columns=self.names, use_threads=False)
        X = np.empty((table.num_rows, len(self.names)))
        for j, name in enumerate(self.names):
            X[:, j] = table.column(name).cast("float64").to_numpy()
        del table
        self._memory.release_unused()
        with self._lock:
            self._read[number] = X
            while len(self._read) > _KEPT:
                self._read.popitem(last=False)
        return X

    threads = True  # who reads a row group opens the file anew

    def column(self, name: str) -> Array:
        """Return a column of all rows, in memory: the targets, or weights."""
        parts = []
        for path in self.files:
            with self._parquet.ParquetFile(path) as file:
                if name not in file.schema_arrow.names:
                    raise DataError(f"{path} has no column {name!r}; it has {', '.join(file.schema_arrow.names[:8])}")
                batches = file.iter_batches(_TARGET, columns=[name], use_threads=False)
                parts += [np.asarray(batch.column(0).to_numpy(zero_copy_only=False)) for batch in batches]
        kinds = {part.dtype.kind for part in parts}
        if "O" in kinds and len(kinds) > 1:
            raise DataError(f"column {name!r} holds words in some files and numbers in others")
        return np.concatenate(parts)

    def where(self, row: int) -> str:
        """Say which file a row is in, and where."""
        number = int(np.searchsorted(self._firsts, row, side="right")) - 1
        return f"{self.files[number]}, row {row - self._firsts[number]}"
