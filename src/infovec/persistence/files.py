"""Writing and reading model files."""

import json
import os
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple

from ..errors import ModelFileError
from .archive import HEAD, MODEL, SUMS, TEXT_LIMIT, Reader, Writer, too_many_parts
from .arrays import chunks
from .decoder import Decoder, check_characters, own_things, parsed
from .encoder import Encoder
from .outputs import writing
from .registry import Registry
from .values import in_a_line, must

__all__ = ["FORMAT", "VERSION", "Content", "about", "read", "read_provenance", "write"]

FORMAT, VERSION = "infovec model", 1
_Path = str | os.PathLike[str]


class Content(NamedTuple):
    """What is in a model file."""

    model: Any
    extra: dict[str, Any]
    provenance: dict[str, Any]


def write(
    model: Any,
    path: _Path,
    registry: Registry,
    extra: Mapping[str, Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file, completely or not at all.

    Parameters
    ----------
    model : object
        Of a class in the registry.
    path : str or path
    registry : Registry
    extra : dict, optional
        Anything to keep with the model: numbers, texts, arrays, lists and dicts of them.
    provenance : dict, optional
        Where the model comes from, as JSON has it; time and command are added, and what could not be saved.
    """
    encoder = Encoder(registry)
    try:
        tree = {
            "model": encoder.encode(model, type(model).__name__),
            "extra": encoder.encode(dict(extra or {}), "extra"),
        }
    except RecursionError as error:
        raise ModelFileError("the model is nested too deeply to be saved, or contains itself") from error
    encoder.check_size()
    origin = {
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(sys.argv),
        **(provenance or {}),
        "left_out": encoder.left_out,
    }
    head = {"format": FORMAT, "version": VERSION, "provenance": origin}
    texts = {HEAD: _text(head, "provenance"), MODEL: _text(tree, "the model or extra")}
    with writing(path) as file, Writer(file) as writer:
        for name, text in texts.items():
            writer.add(name, len(text), [text])
        for name, (array, layout) in encoder.arrays.items():
            writer.add(name, len(layout.header) + layout.nbytes, chunks(array, layout))


def _text(tree: Any, what: str) -> bytes:
    try:
        text = json.dumps(tree, ensure_ascii=True, allow_nan=False, indent=1).encode("ascii")
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{what} cannot be written as JSON: {error}") from error
    check_characters(tree)
    if len(text) > TEXT_LIMIT or too_many_parts(text):
        raise ModelFileError(f"{what} cannot be saved: too many or too long texts, lists or dicts; use arrays")
    return text


def read(path: _Path, registry: Registry, own: Mapping[str, Any] | Iterable[Any] = ()) -> Content:
    """Read a model file; nothing in it is ever executed.

    Parameters
    ----------
    path : str or path
    registry : Registry
        The classes that may be built.
    own : list or dict
        Classes and functions of the user's own that the model needs, or by name.

    Raises
    ------
    ModelFileError
        When the file is no model file, is damaged, altered, or of a later version.
    """
    things = own_things(own)
    with _regular(path) as file, about(path):
        reader, provenance = _opened(file)
        tree = parsed(reader.model())
        if tree.keys() != {"model", "extra"}:
            raise ModelFileError("model.json must have model and extra, and has parts that do not belong to the model")
        decoder = Decoder(reader, registry, things)
        model, extra = decoder.decode(tree.pop("model"), ""), decoder.decode(tree.pop("extra"), "extra")
        must(isinstance(extra, dict), "extra", "a dict", extra)
        if set(reader.members) != {HEAD, MODEL, SUMS, *decoder.arrays}:
            raise ModelFileError("it has parts that do not belong to the model")
        return Content(model, extra, provenance)


def read_provenance(path: _Path) -> dict[str, Any]:
    """Return where the model in a file comes from, without loading it."""
    with _regular(path) as file, about(path):
        return _opened(file)[1]


def _regular(path: _Path) -> BinaryIO:
    """Open a file without waiting for someone to write it, as a pipe would make us do."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise ModelFileError(
        f"{os.fspath(path)} cannot be loaded: it is a folder, pipe or device; what comes from a pipe must be in a file"
    )


def _opened(file: BinaryIO) -> tuple[Reader, dict[str, Any]]:
    """Check the form and the version, then the sums."""
    reader = Reader(file)
    head = parsed(reader.head)
    version, provenance = head.get("version"), head.get("provenance")
    if head.get("format") != FORMAT or type(version) is not int or version < 1:
        raise ModelFileError("it is of another format")
    if version > VERSION:
        raise ModelFileError(
            f"it has format version {version}, and this infovec reads up to {VERSION}: upgrade infovec"
        )
    reader.read_sums()
    must(isinstance(provenance, dict), "provenance", "a JSON object", provenance)
    return reader, dict(provenance or {})


@contextmanager
def about(path: _Path) -> Iterator[None]:
    """Whatever goes wrong with the contents of a file is one kind of error, which names the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}") from error
    except Exception as error:  # zipfile, json, NumPy and SciPy raise many kinds when what they get makes no sense
        detail = f"{type(error).__name__}: {in_a_line(error)}"
        raise ModelFileError(
            f"{os.fspath(path)} cannot be loaded: it is damaged or no model file ({detail})"
        ) from error
