"""Checks of constructor parameters, done when fitting starts. Every message names the cause and the remedy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Floats, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..scores import SCORES, Score

__all__ = [
    "PROJECTED_GAIN",
    "active_size",
    "check_choice",
    "check_growth",
    "check_kernel",
    "initial_rows",
    "open_size",
    "precision",
    "score_function",
]


PROJECTED_GAIN = "projected_gain"
"""The score that looks at the projected posterior, which no function of one row's marginal can."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def active_size(n_active: Any, n: int) -> int:
    """Return the number of rows to include, at most n."""
    if _is_whole(n_active) and n_active >= 1:
        return min(int(n_active), n)
    if isinstance(n_active, float | np.floating) and 0 < n_active <= 1:
        return max(1, round(float(n_active) * n))
    raise ParameterError(
        f"n_active must be a whole number from 1 or a fraction of the rows in (0, 1], got {n_active!r}"
    )


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is among the choices."""
    if not any(value is c or (isinstance(c, str) and isinstance(value, str) and value == c) for c in choices):
        raise ParameterError(f"{name} must be one of {list(choices)} in this version, got {value!r}")


def precision(dtype: Any) -> str:
    """Return the name of a floating point type."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in ("float32", "float64"):
        raise ParameterError(f"dtype must be one of 'float32' and 'float64', got {dtype!r}")
    return name


def check_growth(n: Any, size: int) -> int:
    """Return the size of an active set of ``size`` rows grown by n."""
    if not _is_whole(n) or n < 1:
        raise ParameterError(f"grow needs a whole number of rows from 1, got {n!r}")
    return size + int(n)


def check_kernel(kernel: Any) -> None:
    """Raise unless the kernel is None or a Kernel."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise ParameterError(
            f"kernel must be None or a kernel from infovec.kernels, got {kernel!r}; "
            "wrap a function of your own in infovec.kernels.FromFunction"
        )


def score_function(score: Any) -> Score:
    """Return the selection score by name, or a function of (log_z, g, nu, mean, var) with its answers checked."""
    if isinstance(score, str) and score in SCORES:
        return SCORES[score]
    if isinstance(score, str) and score == PROJECTED_GAIN:
        return SCORES["entropy"]  # not asked
    if not callable(score):
        raise ParameterError(f"score must be one of {sorted([*SCORES, PROJECTED_GAIN])} or a function, got {score!r}")

    def checked(log_z: Floats, g: Floats, nu: Floats, mean: Floats, var: Floats) -> Floats:
        value = np.asarray(score(log_z, g, nu, mean, var), dtype=np.float64)
        if value.shape != var.shape or np.isnan(value).any() or np.isposinf(value).any():
            raise ParameterError(
                f"score must return one number for each of {len(var)} rows, none of them NaN or inf; "
                f"it returned shape {value.shape}"
            )
        return value

    return checked


def open_size(name: str, value: Any) -> int | None:
    """Return a size, or None where it is left open."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if not _is_whole(value) or value < 1:
        raise ParameterError(f"{name} must be a whole number from 1 or 'auto', got {value!r}")
    return int(value)


def initial_rows(initial: Any, n: int, wanted: int) -> Rows:
    """Return the rows to include first, from numbers or a boolean mask."""
    if initial is None or (np.ndim(initial) == 1 and len(initial) == 0):
        return np.empty(0, dtype=np.intp)
    rows = np.asarray(initial)
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    fits = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
    if not fits or np.any((rows < 0) | (rows >= n)) or len(np.unique(rows)) != len(rows):
        raise ParameterError(
            f"initial must be a list of distinct row numbers from 0 to {n - 1}, or a mask of {n} truth values"
        )
    if len(rows) > wanted:
        raise ParameterError(
            f"initial has {len(rows)} rows, more than n_active = {wanted}; give fewer or raise n_active"
        )
    return rows.astype(np.intp)
