"""Where output goes: what may be written to, and how it is written: models, reports, graphs, predictions."""

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, TypeAlias, cast

from ..errors import OutputError
from .atomic import replacing

__all__ = ["check_free", "check_output", "same_file", "writing"]

Place: TypeAlias = str | os.PathLike[str]
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}  # what only writing fails by
_BLOCK = 4096  # bytes that are tried
_IN_MEMORY = 2**26  # bytes of what goes to a device, above which it waits on the disk


def check_output(path: Place, inputs: Iterable[Place | int] = ()) -> None:
    """Raise unless a file can be written, so that nothing is computed in vain. Nothing is left behind.

    Parameters
    ----------
    path : str or path
    inputs : iterable of paths or file descriptors
        What is read, and must not be replaced.
    """
    name = os.fspath(path)
    found = _found(name)
    for source in inputs:
        if same_file(name, source):
            said = "standard input" if isinstance(source, int) else os.fspath(source)
            raise OutputError(f"{name} is the file that is read ({said}) and would be lost: name another one to write")
    if found is None or stat.S_ISREG(found.st_mode):
        _check_folder(name)


def check_free(path: Place, size: int) -> None:
    """Raise unless the disk of a file has room for so many bytes; what is replaced stays until the new one is whole."""
    found = _found(os.fspath(path))
    if found is not None and not stat.S_ISREG(found.st_mode):
        return
    folder = os.path.dirname(os.path.realpath(path))
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OutputError(
            f"{os.fspath(path)} would take about {_shown(size)}, and {folder} has {_shown(free)} left: make room, or "
            "name a file on another disk"
        )


def _shown(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def same_file(path: Place | int, other: Place | int) -> bool:
    """Whether writing to one path, or descriptor, would change what is at the other, whatever their names are."""
    try:
        a, b = os.stat(path), os.stat(other)
    except OSError:
        if isinstance(path, int) or isinstance(other, int):
            return False
        return os.path.realpath(path) == os.path.realpath(other)
    return os.path.samestat(a, b) and not stat.S_ISCHR(a.st_mode)  # a terminal is read and written


@contextmanager
def writing(path: Place, streamed: bool = False) -> Iterator[IO[bytes]]:
    """Open a file to be written.

    A regular file is there completely or not at all, as ``replacing`` has it, where links lead to, and with the
    permissions of the file it replaces. A device or a pipe stays what it is and is written into; disks are not.

    Parameters
    ----------
    path : str or path
    streamed : bool
        Whether what goes to a device or a pipe is written as it comes, not when it is complete. It cannot seek then.
    """
    name = os.fspath(path)
    found = _found(name)
    try:
        if found is not None and not stat.S_ISREG(found.st_mode):
            with _straight(name, streamed) as device:
                yield device
        else:
            _check_folder(name)
            with replacing(name) as file:
                if found is not None:
                    _keep_permissions(file.fileno(), found)
                yield file
    except OSError as error:
        if isinstance(error, OutputError) or error.errno not in _FULL:
            raise
        raise _cannot(name, error) from error


def _found(name: str) -> os.stat_result | None:
    """Return what is at a path, links followed, None if nothing; raise where it cannot be written to."""
    if not name or name.endswith(("/", os.sep)):
        raise OutputError(f"{name!r} does not name a file to write")
    try:
        found = os.stat(name)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(name))
        if not os.path.isdir(folder):
            raise OutputError(f"there is no folder {folder} to write {os.path.basename(name)} to") from None
        return None
    except (OSError, ValueError) as error:  # links that lead to themselves, names that are too long
        raise _cannot(name, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise OutputError(f"{name} is a folder; name a file in it to write")
    if stat.S_ISBLK(found.st_mode):
        raise OutputError(f"{name} is a disk, all of which would be lost; name a file to write")
    own = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
    if stat.S_ISSOCK(found.st_mode) or not found.st_mode & 0o222 or not os.access(name, os.W_OK, **own):
        raise OutputError(f"{name} cannot be written: it is protected; name another file, or change its permissions")
    return found


def _check_folder(name: str) -> None:
    """Raise unless the folder of a file takes another one, and its disk a few bytes more."""
    folder, last = os.path.split(os.path.realpath(name))
    try:
        with suppress(FileNotFoundError):
            os.lstat(os.path.join(folder, f".{last}.01234567.tmp"))  # as long as the name of the temporary file
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(_BLOCK))
            file.flush()
    except OSError as error:
        raise _cannot(name, error) from error


def _cannot(name: str, error: Exception) -> OutputError:
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(f"{name} cannot be written: {reason[:1].lower()}{reason[1:]}")


def _keep_permissions(descriptor: int, before: os.stat_result) -> None:
    if os.name == "posix":
        with suppress(PermissionError):  # only the superuser writes for others
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode) & 0o777)


@contextmanager
def _straight(name: str, streamed: bool) -> Iterator[IO[bytes]]:
    """Write into what is there already."""
    if streamed:
        with open(name, "wb") as device:
            yield device
        return
    with SpooledTemporaryFile(_IN_MEMORY) as whole:
        yield cast(IO[bytes], whole)
        whole.seek(0)
        with open(name, "wb") as device:
            shutil.copyfileobj(whole, device)
