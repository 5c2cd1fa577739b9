"""What the values of a file must be: each check names the field, what belongs there, and what is there instead."""

import math
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from .._types import Array
from ..errors import ModelFileError

__all__ = [
    "array",
    "array_of_floats",
    "finite_inputs",
    "flag",
    "in_a_line",
    "must",
    "number",
    "refuse",
    "shown",
    "text",
    "whole",
]

_LINE = 300
_LARGEST = 1e100  # its square is finite, and so is any sum of those
_LONGEST = 10_000  # characters of a text that is no name of anything


def must(holds: bool, where: str, wanted: str, value: Any) -> None:
    """Raise unless something holds of the value of a field."""
    if not holds:
        refuse(where, wanted, value)


def refuse(where: str, wanted: str, value: Any) -> NoReturn:
    """Raise, saying what the value of a field must be and what it is."""
    raise ModelFileError(f"{where} must be {wanted}, not {shown(value)}")


def shown(value: Any) -> str:
    """Return a value, or what it is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of type {value.dtype} and shape {value.shape}"
    if sparse.issparse(value):
        return f"a sparse matrix of type {value.dtype} and shape {value.shape}"
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a whole number of {value.bit_length()} bits"
    if value is None or isinstance(value, bool | int | float | np.number):
        return repr(value)
    if isinstance(value, str):
        return repr(value[:40])
    return f"a {type(value).__name__}"


def in_a_line(error: Exception) -> str:
    """Return what an error says, which may be about a large array, in a line."""
    said = " ".join(str(error).split())
    return said if len(said) <= _LINE else f"{said[:_LINE]} ..."


def whole(value: Any, where: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """Return a whole number within its limits, both of which it may be."""
    wanted = f"a whole number from {low}" + (f" to {high}" if high < 2**63 - 1 else "")
    is_one = isinstance(value, Integral) and not isinstance(value, bool)
    must(is_one and low <= value <= high, where, wanted, value)
    return int(value)


def number(value: Any, where: str, low: float = -math.inf, finite: bool = True) -> float:
    """Return a number from ``low`` on; ``finite=False`` lets it be NaN or infinite."""
    wanted = ("a finite number" if finite else "a number") + (f" from {low:g}" if low > -math.inf else "")
    fits = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    fits = fits and not (isinstance(value, int) and value.bit_length() > 1000)  # no float is as large
    must(fits and (not finite or (math.isfinite(value) and value >= low)), where, wanted, value)
    return float(value)


def flag(value: Any, where: str) -> bool:
    """Return a truth value."""
    must(isinstance(value, bool | np.bool_), where, "true or false", value)
    return bool(value)


def text(value: Any, where: str) -> str:
    """Return a text of moderate length."""
    must(isinstance(value, str) and len(value) <= _LONGEST, where, f"a text of at most {_LONGEST} characters", value)
    return str(value)


def array(value: Any, where: str, kinds: str, shape: tuple[int | None, ...]) -> Array:
    """Return an array of one of NumPy's kinds of types and of a shape, in which None may be any number."""
    names = {"f": "floats", "i": "whole numbers", "b": "truth values", "O": "objects"}
    wanted = f"an array of {' or '.join(names[k] for k in kinds if k in names)} of shape "
    wanted += f"({', '.join('any' if n is None else str(n) for n in shape)})"
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    fits = fits and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
    must(fits, where, wanted, value)
    found: Array = value
    return found


def array_of_floats(value: Any, where: str, shape: tuple[int | None, ...], finite: bool = True) -> Array:
    """Return an array of double precision; ``finite=False`` lets it have NaN, infinity and what is as good as that."""
    found = array(value, where, "f", shape)
    must(found.dtype == np.float64, where, "in double precision", found)
    if finite and not np.all(np.abs(found) <= _LARGEST):
        bad = found[~(np.abs(found) <= _LARGEST)]
        raise ModelFileError(
            f"{where} must be finite, at most {_LARGEST:g}, and has {len(bad)} numbers such as {bad[0]:g}"
        )
    return found


def finite_inputs(value: Any, where: str, numeric: bool) -> Any:
    """Return inputs of a kernel: rows of finite numbers, dense or CSR, or objects for one that takes them."""
    if not numeric:
        return array(value, where, "O", (None,))
    if not sparse.issparse(value):
        found = array_of_floats(value, where, (None, None))
        must(found.shape[1] >= 1, where, "of one column at least", found)
        return found
    must(value.format == "csr" and value.dtype == np.float64, where, "CSR in double precision", value)
    must(1 <= value.shape[1] < 2**31, where, "of one column at least, and fewer than 2^31", value)
    array_of_floats(value.data, where, (None,))
    return value
