"""Layer 6: tables from files and data sets by name, read in blocks."""

from .formats import Reading, open_source
from .source import Block, Source

__all__ = ["Block", "Reading", "Source", "open_source"]
