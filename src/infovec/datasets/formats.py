"""From what the user names to a table: by the end of the file's name, or as the name of a data set."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError
from .arrays import PARTS, read_npz
from .delimited import DelimitedText
from .several import Several
from .source import Source

__all__ = ["TABS", "Reading", "ending", "input_files", "open_source", "open_sources"]

_LIBSVM = (".libsvm", ".svm", ".svmlight", ".svml")
_PARQUET = (".parquet", ".pq")
TABS = (".tsv", ".tab")
_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data")


@dataclass(frozen=True)
class Reading:
    """How text is to be read; None leaves it to the file."""

    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    empty: bool = False  # whether a table without rows is one
    of_model: tuple[str | None, str | None] = (None, None)  # decimal and thousands, as said of the table of the model


def open_source(name: str, reading: Reading | None = None) -> Source:
    """Open a table.

    Parameters
    ----------
    name : str
        A file (CSV, TSV, LIBSVM, any of them with gzip; Parquet, npz), a folder of Parquet or CSV files, "-" for CSV
        from standard input, or a data set:
        "digits", "openml:credit-g". For those in parts "NAME:train" or "NAME:test".
    reading : Reading, optional
        For text.
    """
    reading = reading or Reading()
    file, part = _located(name)
    if file is None:
        return _named(*_without_part(name))
    name = file
    if name != "-" and Path(name).is_dir():
        return open_sources(_in_folder(name), reading)
    kind = ending(name)
    if part is not None and kind != ".npz":
        raise DataError(f"{name} has no parts; leave out :{part}")
    if kind == ".npz":
        return read_npz(name, part)
    if kind in _PARQUET:
        from .parquet import ParquetTable

        return ParquetTable(name, reading.empty)
    if kind in _LIBSVM:
        from .libsvm import LibsvmText

        return LibsvmText(name)
    if kind in (".zip", ".xlsx", ".xls", ".feather", ".json", ".arff", ".h5", ".pkl", ".pickle", ".ivm"):
        raise DataError(f"{name}: tables are read from CSV, TSV, LIBSVM, Parquet and npz files, not from {kind}")
    delimiter = "\t" if kind in TABS and reading.delimiter is None else reading.delimiter
    return DelimitedText(
        name, delimiter, reading.encoding, reading.header, reading.decimal, reading.thousands, reading.missing,
        reading.empty, reading.of_model,
    )  # fmt: skip


def open_sources(names: Sequence[str], reading: Reading | None = None) -> Source:
    """Open several files of the same columns as one table, in the order given; or one, as ``open_source`` does."""
    if len(names) == 1:
        return open_source(names[0], reading)
    parts = list[Source]()
    try:
        for name in names:
            parts.append(open_source(name, reading))
        return Several(parts)
    except BaseException:
        for part in parts:
            part.close()
        raise


def _in_folder(name: str) -> list[str]:
    files = [path for path in sorted(Path(name).iterdir()) if ending(path.name) in (*_PARQUET, *_TEXT)]
    kinds = {ending(path.name) for path in files}
    if not files or len(kinds) > 1:
        raise DataError(f"{name} is a folder without tables of one kind (Parquet or CSV); name files in it")
    return [str(path) for path in files]


def input_files(name: str) -> list[str | int]:
    """Return the files that a table is read from, those of a folder, or the descriptor of standard input."""
    file, _ = _located(name)
    if file == "-":
        with suppress(OSError, ValueError, AttributeError):  # tests and notebooks have one that is no file
            return [sys.stdin.fileno()]
        return []
    if file is None:
        from .named import stored_file

        stored = stored_file(_without_part(name)[0])
        return [] if stored is None else [stored]
    return [*_in_folder(file)] if Path(file).is_dir() else [file]


def _located(name: str) -> tuple[str | None, str | None]:
    """Return the file that a name means, None if there is none, and the part of it that is wanted."""
    if name == "-" or Path(name).exists():
        return name, None
    stem, part = _without_part(name)
    return (stem, part) if Path(stem).exists() else (None, None)


def _without_part(name: str) -> tuple[str, str | None]:
    stem, _, part = name.rpartition(":")
    return (stem, part) if stem and part in PARTS else (name, None)


def ending(name: str) -> str:
    """Return what a file's name says of its kind, such as ".csv", also before ".gz"; nothing where it says nothing."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _named(name: str, part: str | None) -> Source:
    if "/" in name or ending(name) in (*_TEXT, *_LIBSVM, *_PARQUET, ".npz") or name.lower().endswith(".gz"):
        raise DataError(f"there is no file {name}")
    from .named import load_named

    return load_named(name, part)
