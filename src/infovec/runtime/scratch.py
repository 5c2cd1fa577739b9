"""Working files: where they are, and what is said when there is no room for them."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ..errors import OutputError

__all__ = ["reserve", "scratch"]

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextmanager
def scratch() -> Iterator[None]:
    """Say of a disk that is full that it is the one of the working files."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError) or error.errno not in _FULL:
            raise
        reason = (error.strerror or str(error)).lower()
        raise OutputError(
            f"the folder of working files, {tempfile.gettempdir()}, cannot be written: {reason}; make room, or set "
            "TMPDIR to a folder on another disk"
        ) from error


def reserve(file: IO[bytes], size: int) -> None:
    """Make a file as large as it will be: what is mapped into memory ends the process where the disk is full."""
    with scratch():
        if hasattr(os, "posix_fallocate") and size:
            os.posix_fallocate(file.fileno(), 0, size)
