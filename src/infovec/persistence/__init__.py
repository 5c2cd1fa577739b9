"""Layer 4: model files. One zip of JSON and arrays: data, never code. The format is in docs/model_files.md."""

from .atomic import replacing
from .classes import BUILT_IN
from .files import Content, about, read, read_provenance, write
from .registry import Maybe, Record, Registry, value

__all__ = [
    "BUILT_IN",
    "Content",
    "Maybe",
    "Record",
    "Registry",
    "about",
    "read",
    "read_provenance",
    "replacing",
    "value",
    "write",
]
