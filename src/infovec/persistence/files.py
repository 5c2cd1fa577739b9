"""Writing and reading model files."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple

from ..errors import ModelFileError, ParameterError
from .archive import HEAD, MODEL, SUMS, TEXT_LIMIT, Reader, Writer, too_many_parts
from .arrays import chunks
from .decoder import Decoder, own_things, parsed
from .encoder import Encoder
from .outputs import writing
from .registry import Registry

__all__ = ["FORMAT", "VERSION", "Content", "read", "read_provenance", "write"]

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
    with open(path, "rb") as file, _as_model_file_error(path):
        reader, provenance = _opened(file)
        tree = parsed(reader.model())
        decoder = Decoder(reader, registry, things)
        content = Content(decoder.decode(tree.pop("model")), decoder.decode(tree.pop("extra")), provenance)
        if tree or set(reader.members) != {HEAD, MODEL, SUMS, *decoder.arrays}:
            raise ModelFileError("it has parts that do not belong to the model")
        return content


def read_provenance(path: _Path) -> dict[str, Any]:
    """Return where the model in a file comes from, without loading it."""
    with open(path, "rb") as file, _as_model_file_error(path):
        return _opened(file)[1]


def _opened(file: BinaryIO) -> tuple[Reader, dict[str, Any]]:
    """Check the form and the version, then the sums."""
    reader = Reader(file)
    head = parsed(reader.head)
    version = head["version"]
    if head["format"] != FORMAT or type(version) is not int or version < 1:
        raise ModelFileError("it is of another format")
    if version > VERSION:
        raise ModelFileError(
            f"it has format version {version}, and this infovec reads up to {VERSION}: upgrade infovec"
        )
    reader.read_sums()
    return reader, dict(head["provenance"])


@contextmanager
def _as_model_file_error(path: _Path) -> Iterator[None]:
    """Whatever goes wrong with the contents of a file is one kind of error."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}") from error
    except ParameterError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: it has a value that cannot be: {error}") from error
    except Exception as error:  # zipfile, json, NumPy and SciPy raise many kinds when what they get makes no sense
        detail = f"{type(error).__name__}: {str(error)[:200]}"
        raise ModelFileError(
            f"{os.fspath(path)} cannot be loaded: it is damaged or no model file ({detail})"
        ) from error
