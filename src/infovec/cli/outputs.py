"""What a command may write, seen to before anything is read or computed."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations

from ..datasets import input_files
from ..errors import OutputError
from ..persistence import check_output, same_file

__all__ = ["check_outputs"]


def check_outputs(
    outputs: Sequence[str | None], data: Sequence[str], model: str | None = None, dash: bool = False
) -> None:
    """Raise unless all outputs can be written, and none of them is an input or another output.

    Parameters
    ----------
    outputs : sequence of str
        Files; None is none.
    data : sequence of str
        What is read, as the user names it.
    model : str, optional
    dash : bool
        Whether "-" stands for standard output; else it is no file.
    """
    if "-" in outputs and not dash:
        raise OutputError("standard output takes predictions only: name a file to write instead of -")
    inputs = [*(file for name in data for file in input_files(name)), *([] if model is None else [model])]
    files = [path for path in outputs if path is not None and path != "-"]
    for path in files:
        check_output(path, inputs)
    for path, other in combinations(files, 2):
        if same_file(path, other):
            raise OutputError(f"{path} and {other} are one file, which cannot hold both outputs: name another one")
    if "-" in outputs and _appended_to(inputs):
        raise OutputError("standard output is a file that is read: send it to another one")


def _appended_to(inputs: Sequence[str | int]) -> bool:
    with suppress(OSError, ValueError, AttributeError):  # it is no file, in tests
        return any(same_file(sys.stdout.fileno(), place) for place in inputs)
    return False
