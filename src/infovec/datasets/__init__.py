"""Tables from files and data sets by name, read in blocks."""

from .formats import Reading, input_files, open_source, open_sources
from .parquet_rows import ParquetRows
from .source import Block, Source

__all__ = ["Block", "ParquetRows", "Reading", "Source", "input_files", "open_source", "open_sources"]
