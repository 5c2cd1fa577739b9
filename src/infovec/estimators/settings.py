"""Checks of constructor parameters, done when fitting starts. Every message names the cause and the remedy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..scores import SCORES, Score

__all__ = [
    "active_size",
    "block_sizes",
    "check_choice",
    "check_kernel",
    "initial_rows",
    "score_function",
]


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
    if not any(value is c or (isinstance(c, str) and value == c) for c in choices):
        raise ParameterError(f"{name} must be one of {list(choices)} in this version, got {value!r}")


def check_kernel(kernel: Any) -> None:
    """Raise unless the kernel is None or a Kernel."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise ParameterError(
            f"kernel must be None or a kernel from infovec.kernels, got {kernel!r}; "
            "wrap a function of your own in infovec.kernels.FromFunction"
        )


def score_function(score: Any) -> Score:
    """Return the selection score by name, or a function of (log_z, g, nu, mean, var) as it is."""
    if callable(score):
        return score
    if isinstance(score, str) and score in SCORES:
        return SCORES[score]
    raise ParameterError(f"score must be one of {sorted(SCORES)} or a function, got {score!r}")


def block_sizes(block_size: Any, pool_size: Any) -> tuple[int, int | None]:
    """Check the sizes of blocks and pools."""
    for name, value in (("block_size", block_size), ("pool_size", pool_size)):
        if value is None and name == "pool_size":
            continue
        if not _is_whole(value) or value < 1:
            raise ParameterError(f"{name} must be a whole number from 1, got {value!r}")
    if pool_size is not None and pool_size < block_size:
        raise ParameterError(f"pool_size ({pool_size}) must be at least block_size ({block_size})")
    return int(block_size), None if pool_size is None else int(pool_size)


def initial_rows(initial: Any, n: int, wanted: int) -> Rows:
    """Check the rows to include first."""
    if initial is None:
        return np.empty(0, dtype=np.intp)
    rows = np.atleast_1d(np.asarray(initial))
    fits = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
    if not fits or np.any((rows < 0) | (rows >= n)) or len(np.unique(rows)) != len(rows):
        raise ParameterError(f"initial must hold distinct row numbers from 0 to {n - 1}, got {initial!r}")
    if len(rows) > wanted:
        raise ParameterError(
            f"initial has {len(rows)} rows, more than n_active = {wanted}; give fewer or raise n_active"
        )
    return rows.astype(np.intp)
