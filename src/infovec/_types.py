"""Names for the arrays that travel between layers."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
"""Any dense array; capital variable names are matrices, small ones vectors or scalars."""

Floats: TypeAlias = npt.NDArray[Any]
"""A dense array of float32 or float64 (NumPy's own types cannot tell which)."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One truth value for each row."""

Rows: TypeAlias = npt.NDArray[np.intp]
"""Indices of training rows."""

Inputs: TypeAlias = Any
"""A matrix of inputs: a dense array, a CSR matrix, or an array of objects."""

Message: TypeAlias = Any
"""What a driver and its shards send each other: numbers, arrays, and tuples of them."""

Foreign: TypeAlias = Any
"""An object of another library, or of the user, of which some methods are called."""
