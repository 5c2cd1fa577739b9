"""The zip around a model: what is written, and how strictly it is read.

Members are stored, not compressed, one directly behind the other, with nothing before, between or after them: what a
file declares can then be compared with what it has before anything is allocated, and no member is larger than the file.
"""

import hashlib
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO, Self

from .._types import Array
from ..errors import ModelFileError
from .arrays import CHUNK, Layout, filled

__all__ = ["ARRAYS", "HEAD", "MODEL", "PARTS_LIMIT", "SUMS", "TEXT_LIMIT", "Reader", "Writer", "too_many_parts"]

HEAD, MODEL, SUMS, ARRAYS = "infovec.json", "model.json", "SHA256SUMS", "arrays/"
TEXT_LIMIT, PARTS_LIMIT = 16 * 2**20, 300_000
"""Most bytes of a text, and most lists, objects or keys in it: parsed they take many times the memory."""

_NAME = re.compile(r"infovec\.json|model\.json|SHA256SUMS|arrays/[0-9]{1,6}\.npy")
_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
_DIRECTORY_LIMIT = 8 * 2**20
_END, _END64, _LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_LOCAL = struct.Struct("<4s5H3L2H")


class Writer:
    """A zip being written, with the SHA-256 of every member in the last one."""

    def __init__(self, file: IO[bytes]) -> None:
        self.zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self.sums: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self.zip.fp = None  # what failed would else write its directory later, to a file that is closed

    def add(self, name: str, size: int, pieces: Iterable[Any]) -> None:
        """Write a member from its pieces."""
        info, digest = zipfile.ZipInfo(name), hashlib.sha256()
        info.file_size = size  # tells whether it needs a long header
        with self.zip.open(info, "w") as member:
            for piece in pieces:
                digest.update(piece)
                member.write(piece)
        self.sums.append(f"{digest.hexdigest()}  {name}\n")

    def close(self) -> None:
        """Write the sums and the directory."""
        self.zip.writestr(zipfile.ZipInfo(SUMS), "".join(self.sums))
        self.zip.close()


class Reader:
    """A zip that has exactly the form in which ``Writer`` writes."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, file.seek(0, 2)
        start = _directory_start(file)
        self.zip = zipfile.ZipFile(file)
        self.members = {info.filename: info for info in self.zip.infolist()}
        if len(self.members) != len(self.zip.infolist()):
            raise ModelFileError("two members have the same name")
        self._check_members(start)
        self.head = self.text(HEAD)

    def _check_members(self, directory: int) -> None:
        at = 0
        for name, info in self.members.items():
            if not _NAME.fullmatch(name) or info.orig_filename != name:
                raise ModelFileError(f"a member is called {name[:80]!r}, which none of a model file is")
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                raise ModelFileError(f"{name} is compressed, which no member of a model file is")
            if info.header_offset != at:
                raise ModelFileError(f"{name} does not follow the member before it")
            self.file.seek(at)
            local = _LOCAL.unpack(self.file.read(_LOCAL.size))
            at += _LOCAL.size + local[-2] + local[-1] + info.file_size
        if at != directory:
            raise ModelFileError("there is something between the members and their directory")
        for name in (HEAD, MODEL, SUMS):
            if name not in self.members:
                raise ModelFileError(f"it has no member {name}")

    def read_sums(self) -> None:
        """Read the SHA-256 of every member, and compare that of the head."""
        lines = self.text(SUMS).decode("ascii").splitlines(keepends=True)
        found = [_LINE.fullmatch(line.removesuffix("\n")) for line in lines]
        self.sums = {match[2]: match[1] for match in found if match}
        if [*self.sums, SUMS] != list(self.members) or len(self.sums) != len(lines):
            raise ModelFileError(f"{SUMS} does not list the members that are there")
        self.compare(HEAD, hashlib.sha256(self.head).hexdigest())

    def compare(self, name: str, digest: str) -> None:
        """Raise when the contents of a member are not what was written."""
        if self.sums[name] != digest:
            raise ModelFileError(f"{name} was altered: its SHA-256 differs")

    def text(self, name: str) -> bytes:
        """Return the contents of a member that is not an array."""
        if self.members[name].file_size > TEXT_LIMIT:
            raise ModelFileError(f"{name} is larger than {TEXT_LIMIT} bytes")
        text = self.zip.read(self.members[name])
        if too_many_parts(text):
            raise ModelFileError(f"{name} has more than {PARTS_LIMIT} parts")
        return text

    def model(self) -> bytes:
        """Return the description of the model, compared with its sum."""
        text = self.text(MODEL)
        self.compare(MODEL, hashlib.sha256(text).hexdigest())
        return text

    def array(self, name: str, layout: Layout) -> Array:
        """Return an array, compared with its sum; its size is checked before memory is taken."""
        header, info = layout.header, self.members.get(name)
        if info is None or not name.startswith(ARRAYS):
            raise ModelFileError(f"there is no array {name[:80]!r}")
        if info.file_size != len(header) + layout.nbytes:
            raise ModelFileError(f"{name} has {info.file_size} bytes, but {len(header) + layout.nbytes} are declared")
        digest = hashlib.sha256()
        with self.zip.open(info) as member:
            if member.read(len(header)) != header:
                raise ModelFileError(f"the header of {name} is not that of the array declared")
            digest.update(header)
            array = filled(layout, _hashed(member, digest))
        self.compare(name, digest.hexdigest())
        return array


def too_many_parts(text: bytes) -> bool:
    """Whether a JSON text has more lists and objects, or more keys, than any model."""
    return text.count(b"[") + text.count(b"{") > PARTS_LIMIT or text.count(b":") > PARTS_LIMIT


def _hashed(member: Any, digest: Any) -> Iterator[bytes]:
    while piece := member.read(CHUNK):
        digest.update(piece)
        yield piece


def _directory_start(file: BinaryIO) -> int:
    """Return where the directory of a zip starts, after comparing what its end says with the size of the file."""
    size = file.seek(0, 2)
    tail_size = _END64.size + _LOCATOR.size + _END.size
    file.seek(max(size - tail_size, 0))
    tail = file.read(tail_size).rjust(tail_size, b"\0")
    end = _END.unpack(tail[-_END.size :])
    if end[0] != b"PK\5\6" or end[-1]:
        raise ModelFileError("it is truncated, or no model file at all")
    length, start, end_size = end[5], end[6], _END.size
    if tail[_END64.size :].startswith(b"PK\6\7"):  # more than 2 GiB
        end64 = _END64.unpack(tail[: _END64.size])
        length, start, end_size = end64[-2], end64[-1], tail_size
    if start + length + end_size != size or length > _DIRECTORY_LIMIT:
        raise ModelFileError("its directory does not fit the file: it is truncated or something was added")
    return int(start)
