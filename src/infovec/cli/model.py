"""Model files of the command line: an estimator, the table it was fitted to, and where both come from."""

from typing import Any, NamedTuple

from ..errors import DataError
from .table import Table

__all__ = ["Model", "load_model", "save_model"]
