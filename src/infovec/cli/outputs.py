"""What a command may write, seen to before anything is read or computed."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import click

from ..datasets import TABS, ending, input_files
from ..errors import ModelFileError, OutputError
from ..persistence import check_output, read_provenance, same_file

__all__ = ["check_outputs", "check_replaced", "delimiter_of"]

_JSON = (".json", ".jsonl", ".ndjson")
_NOT_WRITTEN = (
    ".parquet", ".pq", ".feather", ".arrow", ".orc", ".xlsx", ".xls", ".ods", ".npz", ".npy", ".h5", ".hdf5", ".pkl",
    ".pickle", ".libsvm", ".svm", ".svmlight", ".svml", ".arff", ".db", ".sqlite", ".dta", ".sav", ".zip", ".bz2",
    ".xz", ".zst", ".html",
)  # fmt: skip


def check_replaced(output: str) -> None:
    """Raise where a model would replace a file that is none, and is not called like one."""
    path = Path(output)
    if ending(output) in ("", ".ivm") or not path.is_file() or not path.stat().st_size:
        return
    try:
        read_provenance(path)
    except ModelFileError as error:
        raise OutputError(
            f"{output} is there and is no model file, which a model would replace: name another file, or remove it"
        ) from error
    except OSError:  # it cannot be read: whether it can be written is seen elsewhere
        return


def delimiter_of(output: str, as_json: bool) -> str:
    """Return what stands between the fields of a table to write; raise where its name is that of no text."""
    kind = ending(output) if output != "-" else ""
    if kind in _NOT_WRITTEN or (kind in _JSON and not as_json):
        said = "; or say --json" if kind in _JSON else ""
        raise click.UsageError(
            f"{output}: rows are written as CSV, or TSV to a name that ends in .tsv, not as {kind}: name a file that "
            f"ends in .csv{said}"
        )
    return "\t" if kind in TABS else ","


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
