"""Tables as they come: categories, dates and missing values as numbers, learned once and kept with a model."""

from .columns import CategoryColumn, Column, NumberColumn, RankColumn
from .encoder import TableEncoder, columns_of, out_of_place
from .frames import check_names, is_frame, is_plain, raw_columns
from .objects import is_missing
from .raw import Raw
from .schema import Encoded, TableSchema
from .unseen import known_words

__all__ = [
    "CategoryColumn",
    "Column",
    "Encoded",
    "NumberColumn",
    "RankColumn",
    "Raw",
    "TableEncoder",
    "TableSchema",
    "check_names",
    "columns_of",
    "is_frame",
    "is_missing",
    "is_plain",
    "known_words",
    "out_of_place",
    "raw_columns",
]
