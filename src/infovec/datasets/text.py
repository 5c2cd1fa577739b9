"""Text files in blocks of whole lines: compression, encoding, line ends and open quotes."""

import codecs
import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from ..errors import DataError

__all__ = ["TextBlocks", "open_bytes"]

_BLOCK = 1 << 20  # bytes in a block
_LONGEST_RECORD = 16 << 20  # bytes that a quoted field may reach over
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def open_bytes(path: str) -> tuple[IO[bytes], IO[bytes]]:
    """Open a file, or standard input for "-"; return what to read from, unpacked, and the file itself."""
    raw = cast(IO[bytes], sys.stdin.buffer if path == "-" else Path(path).open("rb"))  # noqa: SIM115
    try:
        start = cast(Any, raw).peek(2)[:2]
    except BaseException:
        if path != "-":
            raw.close()
        raise
    return (cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if start == b"\x1f\x8b" else raw), raw


class TextBlocks:
    """Iterates over (number of the first line, text); every text ends where a record ends.

    Parameters
    ----------
    path : str
        "-" is standard input; gzip is unpacked.
    encoding : str
        A byte-order mark of UTF-8 is skipped.
    """

    def __init__(self, path: str, encoding: str = "utf-8") -> None:
        self.name, self._path = "standard input" if path == "-" else path, path
        try:
            self._recoded = encoding if "\n".encode(encoding) != b"\n" else None  # lines do not end in one byte
        except LookupError as error:
            raise DataError(f"no encoding is called {encoding!r}; some are utf-8, latin-1, cp1252, utf-16") from error
        self.encoding = "utf-8" if self._recoded else encoding
        self._file: IO[bytes] = io.BytesIO()
        self._raw: IO[bytes] = self._file
        self._size = None if path == "-" else Path(path).stat().st_size

    def share_read(self) -> float | None:
        """Return how much of the file was read."""
        return self._raw.tell() / self._size if self._size and not self._raw.closed else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._path != "-":
            self._file.close()
            self._raw.close()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        line, first = 1, True
        self._file, self._raw = open_bytes(self._path)
        if self._recoded:
            self._file = cast(IO[bytes], codecs.EncodedFile(self._file, "utf-8", self._recoded))
        try:
            while data := self._whole_lines():
                if first:
                    data, first = self._without_mark(data), False
                data = self._whole_records(data, line)
                text = self._decoded(data, line)
                yield line, text
                line += text.count("\n")
        finally:
            self.close()

    def _whole_lines(self) -> bytes:
        try:
            data = self._file.read(_BLOCK)
            return data if not data or data.endswith(b"\n") else data + self._file.readline()
        except (EOFError, gzip.BadGzipFile) as error:
            raise DataError(f"{self.name} is a broken gzip file: {error}; it may have been cut off") from error
        except UnicodeError as error:
            raise DataError(f"{self.name} cannot be decoded: {error}; give its encoding") from error

    def _without_mark(self, data: bytes) -> bytes:
        for mark, encoding in _MARKS.items():
            if data.startswith(mark) and not self._recoded:
                raise DataError(f"{self.name} is encoded in {encoding}, not in {self.encoding}: --encoding {encoding}")
        return data.removeprefix(codecs.BOM_UTF8)

    def _whole_records(self, data: bytes, line: int) -> bytes:
        """Read on while a quoted field is open at the end."""
        if data.count(b'"') % 2 == 0:
            return data
        parts, size = [data], 0
        while size < _LONGEST_RECORD and (more := self._file.readline()):
            parts.append(more)
            size += len(more)
            if more.count(b'"') % 2:
                return b"".join(parts)
        place = line + data[: data.rfind(b'"')].count(b"\n")
        raise DataError(f'{self.name}: a quote (") is opened and never closed, in line {place} or before')

    def _decoded(self, data: bytes, line: int) -> str:
        try:
            text = data.decode(self.encoding)
        except UnicodeDecodeError as error:
            place = line + data[: error.start].count(b"\n")
            raise DataError(
                f"{self.name}, line {place}: byte 0x{data[error.start]:02x} is not {self.encoding}. "
                "Give the encoding of the file, for example --encoding latin-1"
            ) from error
        if "\0" in text:
            place = line + text[: text.index("\0")].count("\n")
            raise DataError(f"{self.name}, line {place}: a zero byte; this is not a text file")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
