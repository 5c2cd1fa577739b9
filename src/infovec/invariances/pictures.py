"""Images that may be moved, turned, scaled, or drawn with another pen."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from .._types import Floats
from ..errors import ParameterError

__all__ = ["Rotations", "Scalings", "Shifts", "Thickness"]

_CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)


@dataclass(frozen=True)
class _Pictures(ABC):
    """Rows that are images, row after row of pixels.

    Parameters
    ----------
    image_shape : (int, int)
        Height and width.
    """

    image_shape: tuple[int, int]

    def __call__(self, X: Floats) -> Floats:
        """Return the images of all rows, shape (k, n, p)."""
        X = np.asarray(X)
        height, width = self.image_shape
        if X.ndim != 2 or X.shape[1] != height * width:
            raise ParameterError(
                f"{type(self).__name__}: image_shape={self.image_shape!r} has {height * width} pixels, rows have shape "
                f"{X.shape[1:]}"
            )
        pictures = X.reshape(-1, height, width).astype(np.float64)
        return np.stack([image.reshape(X.shape) for image in self._images(pictures)])

    @abstractmethod
    def _images(self, pictures: Floats) -> Iterator[Floats]:
        """Return all pictures, transformed, one way after the other."""

    def _moved(self, pictures: Floats, matrix: Floats, shift: Floats) -> Floats:
        """Pictures whose pixel x is what was at ``matrix`` (x - middle) + middle - shift; background is the least."""
        middle = 0.5 * (np.array(self.image_shape) - 1.0)
        offset = middle - matrix @ middle - shift
        background = pictures.min(axis=(1, 2))
        return np.stack(
            [
                ndimage.affine_transform(one, matrix, offset, order=1, mode="grid-constant", cval=low)
                for one, low in zip(pictures, background, strict=True)
            ]
        )


@dataclass(frozen=True)
class Shifts(_Pictures):
    r"""Images moved up, down, left and right (SLH 6.5). What comes in at the edge is the least of the image's pixels.

    .. math:: x'_{r, c} = x_{r - i, c - j}

    Parameters
    ----------
    image_shape : (int, int)
        Height and width.
    pixels : int
        How far.
    diagonal : bool
        Whether along the diagonals as well, which makes eight images of each.
    """

    pixels: int = 1
    diagonal: bool = False

    def _images(self, pictures: Floats) -> Iterator[Floats]:
        steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)] if self.diagonal else []
        low, k = pictures.min(axis=(1, 2), keepdims=True), self.pixels
        height, width = self.image_shape
        for down, right in steps:
            wide = np.broadcast_to(low, (len(pictures), height + 2 * k, width + 2 * k)).copy()
            wide[:, k : k + height, k : k + width] = pictures
            yield wide[:, k - k * down : k - k * down + height, k - k * right : k - k * right + width]


@dataclass(frozen=True)
class Rotations(_Pictures):
    """Images turned around their middle, by linear interpolation.

    Parameters
    ----------
    image_shape : (int, int)
        Height and width.
    degrees : tuple of float
        By how much; one image for each.
    """

    degrees: tuple[float, ...] = (-7.0, 7.0)

    def _images(self, pictures: Floats) -> Iterator[Floats]:
        for angle in np.deg2rad(self.degrees):
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            yield self._moved(pictures, turn, np.zeros(2))


@dataclass(frozen=True)
class Scalings(_Pictures):
    """Images made larger or smaller around their middle, by linear interpolation.

    Parameters
    ----------
    image_shape : (int, int)
        Height and width.
    factors : tuple of float
        One image for each; above one is larger.
    """

    factors: tuple[float, ...] = (0.92, 1.08)

    def __post_init__(self) -> None:
        if not all(factor > 0.0 for factor in self.factors):
            raise ParameterError(f"Scalings: factors must be positive, got {self.factors!r}")

    def _images(self, pictures: Floats) -> Iterator[Floats]:
        for factor in self.factors:
            yield self._moved(pictures, np.eye(2) / factor, np.zeros(2))


@dataclass(frozen=True)
class Thickness(_Pictures):
    """Strokes made thicker and thinner: part of the way to the largest, and the least, of a pixel and its neighbours.

    Parameters
    ----------
    image_shape : (int, int)
        Height and width.
    amount : float
        How much of the way, up to one.
    """

    amount: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.amount <= 1.0:
            raise ParameterError(f"Thickness: amount must be above 0 and at most 1, got {self.amount!r}")

    def _images(self, pictures: Floats) -> Iterator[Floats]:
        for filtered in (ndimage.grey_dilation, ndimage.grey_erosion):
            yield pictures + self.amount * (filtered(pictures, footprint=_CROSS[None]) - pictures)
