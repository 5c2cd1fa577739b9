"""Which rows are pictures."""

from typing import Any

import numpy as np

from .._types import Array
from ..errors import ParameterError

__all__ = ["picture_shape"]

_SMALLEST = 6  # side of a square that may be an image


def picture_shape(X: Array, shape: Any) -> tuple[int, int] | None:
    """Return height and width of the pictures that rows are, or None if they are none.

    Parameters
    ----------
    X : array of shape (d, p)
    shape : (int, int), "auto" or None
        "auto": a square of at least 6 x 6 in which neighbours are more alike than columns picked at random, down and
        across to a similar degree, which they are not in a series of measurements.
    """
    if shape is None:
        return None
    if not isinstance(shape, str):
        height, width = shape
        if X.ndim != 2 or height * width != X.shape[1]:
            raise ParameterError(f"image_shape={shape!r} does not make pictures of inputs of shape {X.shape[1:]}")
        return int(height), int(width)
    if X.ndim != 2 or X.dtype.kind not in "fiub" or len(X) < 2:
        return None
    side = round(np.sqrt(X.shape[1]))
    if side**2 != X.shape[1] or side < _SMALLEST:
        return None
    pixels = X.reshape(-1, side, side).astype(np.float64)
    beside = [np.mean(np.diff(pixels, axis=axis) ** 2) for axis in (1, 2)]
    anywhere = 2.0 * np.var(pixels.reshape(len(X), -1), axis=1).mean()  # two columns picked at random
    alike = max(beside) < min(0.75 * anywhere, 4.0 * min(beside))
    return (side, side) if alike else None
