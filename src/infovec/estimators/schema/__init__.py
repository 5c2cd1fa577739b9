"""What a saved estimator must be, field by field: what is in a file is checked as a whole before it is a model.

``FITTED`` and ``PARAMS`` are tables from the name of an attribute or parameter to its check. A check raises a
``ModelFileError`` that names the field; it may look at those that stand before it in the table.
"""

from .check import check_model, check_params, fits
from .fitted import FITTED, OPTIONAL
from .params import PARAMS

__all__ = ["FITTED", "OPTIONAL", "PARAMS", "check_model", "check_params", "fits"]
