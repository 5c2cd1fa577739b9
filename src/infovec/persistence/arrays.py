"""Arrays as bytes: the NPY format 1.0, little-endian, of plain types only."""

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._types import Array
from ..errors import ModelFileError

__all__ = ["CHUNK", "Layout", "chunks", "filled"]

CHUNK = 2**20
_PLAIN = frozenset(["|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8))])
_TEXT = re.compile(r"(<U|\|S)[1-9][0-9]{0,6}")
_MOST_AXES = 32


@dataclass(frozen=True)
class Layout:
    """What an array is before its numbers are known.

    Parameters
    ----------
    dtype : str
        As NumPy writes it, such as ``<f8``.
    shape : tuple of int
    order : {"C", "F"}
        Whether rows or columns are contiguous: products round differently.
    """

    dtype: str
    shape: tuple[int, ...]
    order: str

    @classmethod
    def of(cls, array: Array) -> Self:
        """Return the layout in which an array is written."""
        columns = array.flags.f_contiguous and not array.flags.c_contiguous
        return cls(array.dtype.newbyteorder("<").str, array.shape, "F" if columns else "C").checked()

    @classmethod
    def declared(cls, dtype: Any, shape: Any, order: Any) -> Self:
        """Return the layout that a file declares."""
        if not isinstance(dtype, str) or order not in ("C", "F") or not isinstance(shape, list):
            raise ModelFileError("an array is declared in a way that no model file has")
        if len(shape) > _MOST_AXES or not all(type(n) is int and 0 <= n < 2**62 for n in shape):
            raise ModelFileError("an array has an impossible shape")
        return cls(dtype, tuple(shape), order).checked()

    def checked(self) -> Self:
        """Return the layout if it is of a type that needs no code to be read."""
        if self.dtype not in _PLAIN and not _TEXT.fullmatch(self.dtype):
            raise ModelFileError(f"arrays of type {self.dtype[:40]} cannot be in a model file: numbers and text only")
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers; a Python integer, which does not overflow."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def header(self) -> bytes:
        """The NPY header, to the byte: what is in a file must equal it, so that it need not be parsed."""
        text = f"{{'descr': '{self.dtype}', 'fortran_order': {self.order == 'F'}, 'shape': {self.shape}, }}"
        padding = -(10 + len(text) + 1) % 64
        body = text.encode("ascii") + b" " * padding + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def chunks(array: Array, layout: Layout) -> Iterator[Any]:
    """Yield the bytes of a member, a piece at a time."""
    yield layout.header
    plain = np.asarray(array, dtype=layout.dtype)
    data = _bytes(np.ascontiguousarray(plain.T if layout.order == "F" else plain))
    if plain.dtype.kind == "U" and not _characters(data):
        raise ModelFileError("a text has half a character (a lone surrogate), which cannot be saved")
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK].data


def filled(layout: Layout, pieces: Iterator[bytes]) -> Array:
    """Return the array whose bytes, without the header, come in pieces."""
    dtype = np.dtype(layout.dtype)
    array = np.empty(layout.shape[::-1] if layout.order == "F" else layout.shape, dtype=dtype)
    data, at = _bytes(array), 0
    for piece in pieces:
        data[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        at += len(piece)
    if at != len(data) or (dtype.kind == "b" and np.any(data > 1)) or (dtype.kind == "U" and not _characters(data)):
        raise ModelFileError("an array does not have the contents it declares")
    array = array.T if layout.order == "F" else array
    return array.astype(dtype.newbyteorder("="), copy=False)


def _characters(data: Array) -> bool:
    """Whether all of a text are characters, and none of them halves of one."""
    points = data.view("<u4")
    return not np.any((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000)))


def _bytes(array: Array) -> Array:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8)
