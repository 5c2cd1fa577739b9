"""Temporary files of processes that were killed: told from those in use by a lock, removed by whoever comes next."""

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file in use cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

__all__ = ["collect", "temporary"]


def temporary(final: Path) -> tuple[Path, BinaryIO]:
    """Return a new file beside ``final``, open, and locked as long as it is."""
    while True:
        path = final.with_name(f".{final.name}.{secrets.token_hex(4)}.tmp")
        file = open(path, "xb")  # noqa: SIM115  whoever asked closes it
        if _lock(file, wait=True) and os.fstat(file.fileno()).st_nlink == 0:  # collected before it was locked
            file.close()
            continue
        return path, file


def collect(final: Path) -> None:
    """Remove temporary files for ``final`` that nobody is writing any more."""
    name = re.compile(rf"\.{re.escape(final.name)}\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError):
        for entry in os.scandir(final.parent):
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    with suppress(OSError), open(path, "rb") as file:
        if fcntl is None or _lock(file, wait=False):  # held while the name goes, so that no writer takes it up
            path.unlink()


def _lock(file: BinaryIO, wait: bool) -> bool:
    """Whether the file could be locked: not where another has it, or where the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
