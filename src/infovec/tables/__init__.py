"""Tables as they come: categories, dates and missing values as numbers, learned once and kept with a model."""

from .encoder import TableEncoder, columns_of
from .frames import is_frame, is_plain
from .schema import Encoded, TableSchema

__all__ = ["Encoded", "TableEncoder", "TableSchema", "columns_of", "is_frame", "is_plain"]
