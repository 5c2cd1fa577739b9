"""Tables as they come: categories, dates and missing values as numbers, learned once and kept with a model."""

from .columns import CategoryColumn, Column, NumberColumn
from .encoder import TableEncoder, columns_of, out_of_place
from .frames import check_names, is_frame, is_plain, raw_columns
from .objects import is_missing
from .raw import Raw
from .schema import Encoded, TableSchema

__all__ = [
    "CategoryColumn",
    "Column",
    "Encoded",
    "NumberColumn",
    "Raw",
    "TableEncoder",
    "TableSchema",
    "check_names",
    "columns_of",
    "is_frame",
    "is_missing",
    "is_plain",
    "out_of_place",
    "raw_columns",
]
