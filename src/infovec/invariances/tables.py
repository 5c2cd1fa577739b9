"""Tables some of whose columns may change sign, change places, or be measured again."""

from dataclasses import dataclass

import numpy as np

from .._types import Floats
from ..errors import ParameterError

__all__ = ["Jitter", "Permutations", "Signs"]


@dataclass(frozen=True)
class Signs:
    """Columns whose sign means nothing: all of them together the other way round.

    Parameters
    ----------
    columns : tuple of int, optional
        All columns unless given.
    """

    columns: tuple[int, ...] | None = None

    def __call__(self, X: Floats) -> Floats:
        """Return one image of each row."""
        images = np.array(X, dtype=np.float64)
        at = slice(None) if self.columns is None else list(self.columns)
        images[:, at] *= -1.0
        return images


@dataclass(frozen=True)
class Permutations:
    """Columns that may change places.

    Parameters
    ----------
    orders : tuple of tuples of int
        Orders of all columns, one image for each; column j of the image is column ``order[j]``.
    """

    orders: tuple[tuple[int, ...], ...]

    def __call__(self, X: Floats) -> Floats:
        """Return an image of each row for every order."""
        X = np.asarray(X)
        for order in self.orders:
            if sorted(order) != list(range(X.shape[1])):
                raise ParameterError(f"Permutations: {order!r} is no order of {X.shape[1]} columns")
        return np.stack([X[:, list(order)] for order in self.orders])


@dataclass(frozen=True)
class Jitter:
    """Columns measured again: normal errors of known size, the same for the same rows.

    Parameters
    ----------
    error : float or tuple of float
        Standard deviation of the measuring error, of all columns or of each.
    copies : int
        Images of each row.
    seed : int
    """

    error: float | tuple[float, ...]
    copies: int = 2
    seed: int = 0

    def __call__(self, X: Floats) -> Floats:
        """Return the images of all rows."""
        X = np.asarray(X, dtype=np.float64)
        noise = np.random.default_rng(self.seed).normal(size=(self.copies, *X.shape))
        return np.asarray(X + noise * np.asarray(self.error))
