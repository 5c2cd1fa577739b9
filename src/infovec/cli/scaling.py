"""Units of columns: what is taken from a column and what it is divided by."""

import numpy as np

from .._types import Array, Floats
from ..machines.defaults import length_scales

__all__ = ["SCALINGS", "centre_and_scale", "divide"]

SCALINGS = ("auto", "standard", "none")
_ROWS = 4096  # at a time


def centre_and_scale(scaling: str, mean: Floats, deviation: Floats, extent: Floats) -> tuple[Floats, Floats]:
    """Return what is subtracted from every column and what it is then divided by.

    Parameters
    ----------
    scaling : {"auto", "standard", "none"}
        "standard" divides by the standard deviation. "auto" does as the default kernel: columns in a common unit, such
        as the pixels of an image, are divided by the same number, others each by its own spread.
    mean, deviation, extent : array of shape (p,)
    """
    if scaling == "none":
        return np.zeros_like(mean), np.ones_like(mean)
    varying = deviation > 1e-30
    if scaling == "standard":
        unit: Floats = np.where(varying, deviation, 1.0)
    else:
        root = np.sqrt(max(1, int(varying.sum())))
        unit = np.broadcast_to(length_scales(deviation, np.where(varying, extent, 0.0)) / root, mean.shape)
    return mean, np.where(varying, unit, 1.0)


def divide(X: Array, shift: Floats, scale: Floats) -> None:
    """Replace X by (X - shift) / scale, some rows at a time."""
    shift, factor = shift.astype(X.dtype), (1.0 / scale).astype(X.dtype)
    for start in range(0, len(X), _ROWS):
        part = X[start : start + _ROWS]
        part -= shift
        part *= factor
