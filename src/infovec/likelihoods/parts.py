"""Functions of a likelihood on many rows, some of them at a time where memory is scarce."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import Floats
from ..runtime import pieces
from .base import Likelihood
from .gaussian import Gaussian
from .laplace import Laplace
from .logit import Logit
from .null_category import NullCategory
from .ordinal import Ordinal
from .probit import Probit
from .student_t import StudentT

__all__ = ["in_parts", "row_bytes"]

# Numbers that a row takes on the way to its moments: closed forms, a series of 24 terms, a mixture of 160 nodes, and
# for any other likelihood quadrature of up to 192 nodes.
_NUMBERS: dict[type[Likelihood], int] = {
    Gaussian: 16,
    Probit: 24,
    NullCategory: 48,
    Ordinal: 120,
    Laplace: 48,
    Logit: 240,
    StudentT: 1300,
}
_OTHERWISE = 1600
_LAPSE = 48  # and as many for a mixture with labels that are wrong


def row_bytes(likelihood: Any) -> int:
    """Memory that one row takes while its moments are found."""
    return 8 * (_NUMBERS.get(type(likelihood), _OTHERWISE) + _LAPSE * bool(getattr(likelihood, "lapse", 0.0)))


def in_parts(
    function: Callable[[Likelihood, Floats, Floats, Floats], Any],
    likelihood: Likelihood,
    y: Floats,
    mean: Floats,
    var: Floats,
    threads: int = 1,
    each: int | None = None,
) -> Any:
    """Return ``function(likelihood, y, mean, var)``, an array or a tuple of them whose last axis is that of the rows.

    Parameters
    ----------
    function : callable
        Which treats every row by itself.
    likelihood : Likelihood
        Of these rows.
    y, mean, var : array of shape (n,)
    threads : int
        That do this at the same time.
    each : int, optional
        Bytes that a row takes on the way, if not those of its moments.
    """
    parts = pieces(len(mean), threads * (row_bytes(likelihood) if each is None else each))
    if len(parts) <= 1:
        return function(likelihood, y, mean, var)
    found = [function(likelihood.take(np.arange(at.start, at.stop)), y[at], mean[at], var[at]) for at in parts]
    if not isinstance(found[0], tuple):
        return np.concatenate(found, axis=-1)
    columns = (np.concatenate(column, axis=-1) for column in zip(*found, strict=True))
    kind: Any = type(found[0])
    return kind(*columns) if hasattr(kind, "_fields") else tuple(columns)
