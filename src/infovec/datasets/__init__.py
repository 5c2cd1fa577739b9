"""Tables from files and data sets by name, read in blocks."""

from .formats import TABS, Reading, ending, input_files, open_source, open_sources
from .parquet_rows import ParquetRows
from .source import Block, Source

__all__ = [
    "TABS",
    "Block",
    "ParquetRows",
    "Reading",
    "Source",
    "ending",
    "input_files",
    "open_source",
    "open_sources",
]
