"""Model files. One zip of JSON and arrays: data, never code. The format is in docs/model_files.md."""

from .classes import BUILT_IN
from .files import Content, about, read, read_provenance, write
from .outputs import check_free, check_output, same_file, writing
from .registry import Maybe, Record, Registry, value

__all__ = [
    "BUILT_IN",
    "Content",
    "Maybe",
    "Record",
    "Registry",
    "about",
    "check_free",
    "check_output",
    "read",
    "read_provenance",
    "same_file",
    "value",
    "write",
    "writing",
]
