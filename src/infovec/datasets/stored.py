"""Matrices in .npz files that are read some rows at a time."""

import zipfile
from typing import IO, Any

import numpy as np

from .._types import Array

__all__ = ["StoredRows", "stored_rows"]

_LARGE = 2**22  # numbers up to which a matrix is simply loaded


class StoredRows:
    """A matrix that stays in its file; its rows are read in order.

    Parameters
    ----------
    path, member : str
        File, and name of the array in it.
    shape : (int, int)
    dtype : numpy.dtype
    """

    ndim = 2

    def __init__(self, path: str, member: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self._path, self._member = path, member
        self._file: zipfile.ZipFile | None = None
        self._next = 0  # row

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(len(self))
        if self._file is None or start < self._next:
            self._open()
        size = self.shape[1] * self.dtype.itemsize
        self._stream.seek((start - self._next) * size, 1)
        raw = self._stream.read((stop - start) * size)
        self._next = stop
        if len(raw) < (stop - start) * size:
            raise EOFError(f"{self._member} ends before row {stop}")
        return np.frombuffer(raw, dtype=self.dtype).reshape(stop - start, self.shape[1])

    def _open(self) -> None:
        self.close()
        self._file, self._next = zipfile.ZipFile(self._path), 0
        self._stream = self._file.open(f"{self._member}.npy")
        _header(self._stream)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._stream.close()
            self._file.close()
            self._file = None


def stored_rows(path: str, member: str) -> StoredRows | None:
    """Return a large matrix by its rows; None where an array is small, no matrix, or not stored by rows."""
    with zipfile.ZipFile(path) as file, file.open(f"{member}.npy") as stream:
        shape, by_columns, dtype = _header(stream)
    if len(shape) != 2 or by_columns or dtype.hasobject or np.prod(shape) <= _LARGE:
        return None
    return StoredRows(path, member, (shape[0], shape[1]), dtype)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(stream)
    if version not in readers:
        return (), True, np.dtype(object)  # names of fields beyond Latin letters: no matrix
    return readers[version](stream)
