"""A file that is there completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .leftovers import collect
from .leftovers import temporary as new_temporary

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` that takes its place when all is written and safely on the disk.

    When the block fails, or the process is killed, what was at ``path`` before is still there. A killed process may
    leave the temporary file behind, a hidden one whose name ends in ``.tmp``: the next one that writes to ``path``
    removes it.
    """
    final = Path(os.path.realpath(path))  # where a link points to
    collect(final)
    temporary, opened = new_temporary(final)
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":  # while it is still locked
                os.replace(temporary, final)
        if os.name != "posix":  # where files in use cannot be renamed
            os.replace(temporary, final)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(final.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a loss of power, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
