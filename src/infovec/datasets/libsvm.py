"""Files in the format of LIBSVM: a label, then ``column:value`` for what is not zero."""

import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._types import Floats
from ..errors import DataError
from .gaps import Kind
from .source import Block, Source, Wanted
from .text import TextBlocks

__all__ = ["LibsvmText"]


class LibsvmText(Source):
    """Columns are named by their numbers; those that a row leaves out are zero, and so are those no row has.

    The names of all columns are known only once the file was read through, which asking for ``columns`` does.
    """

    target = "target"

    def __init__(self, path: str) -> None:
        if path == "-":
            raise DataError("a LIBSVM file is read twice, so it cannot come from standard input")
        self.name, self._path = path, path
        self._text = TextBlocks(path)
        self._columns: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        if self._columns is None:
            low, high = 1, 0
            with closing(TextBlocks(self._path)) as text:
                for _, matrix, _ in self._parsed(text):
                    if matrix.nnz:
                        low, high = min(low, int(matrix.indices.min())), max(high, int(matrix.indices.max()))
            self._columns = (*(str(j) for j in range(low, high + 1)), self.target)
        return self._columns

    def require(self, names: Sequence[str]) -> None:
        wrong = [name for name in names if name != self.target and not name.isdecimal()]
        if wrong:
            raise DataError(f"{self.name} has no column {wrong[0]!r}; in a LIBSVM file columns have numbers")

    def kinds(self) -> dict[str, Kind]:
        return dict.fromkeys(self.columns, "number")

    def close(self) -> None:
        self._text.close()

    def share_read(self) -> float | None:
        return self._text.share_read()

    def _blocks(self, wanted: Wanted) -> Iterator[Block]:
        at = np.array([int(name) for name in wanted.numbers], dtype=np.intp)
        width, first = int(at.max(initial=0)) + 1, 0
        in_order = np.array_equal(at, np.arange(at[0], at[0] + len(at))) if len(at) else True
        for lines, matrix, labels in self._parsed(self._text):
            matrix = sparse.csr_matrix(
                (matrix.data, matrix.indices, matrix.indptr), (len(labels), _wide(matrix, width))
            )
            X = matrix[:, at[0] : at[0] + len(at)] if in_order and len(at) else matrix[:, at]
            target: Any = None
            if wanted.target is not None:
                target = labels if wanted.target_kind == "number" else [f"{label:g}" for label in labels]
            if len(labels):
                yield Block(first, X, (), target, lines)
            first += len(labels)

    def _parsed(self, text: TextBlocks) -> Iterator[tuple[list[int], Any, Floats]]:
        for line, block in text:
            lines = block.split("\n")
            kept = [k for k, content in enumerate(lines) if content.split("#", 1)[0].strip()]
            try:
                matrix, labels = _parse([lines[k] for k in kept])
            except (ValueError, OverflowError) as error:
                raise self._located(lines, kept, line, error) from error
            yield [line + k for k in kept], matrix, labels

    def _located(self, lines: list[str], kept: list[int], line: int, error: Exception) -> DataError:
        for k in kept:
            try:
                _parse([lines[k]])
            except (ValueError, OverflowError) as reason:
                return DataError(f"{self.name}, line {line + k}: not 'label column:value column:value ...' ({reason})")
        return DataError(f"{self.name}: {error}")


def _wide(matrix: Any, width: int) -> int:
    return max(width, int(matrix.indices.max()) + 1 if matrix.nnz else 1)


def _parse(lines: list[str]) -> tuple[Any, Floats]:
    if not lines:
        return sparse.csr_matrix((0, 1)), np.empty(0)
    data = io.BytesIO("\n".join(lines).encode())
    matrix, labels = load_svmlight_file(data, zero_based=True)
    return matrix, labels
