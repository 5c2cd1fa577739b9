"""Relevances shared by the pixels of square blocks of an image (LSH05 4.2, footnote 4)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from infovec.kernels.embedding import Embedding
from infovec.numerics.transforms import LOG, Transform

__all__ = ["BlockRelevance"]


@dataclass(frozen=True, eq=False, repr=False)
class BlockRelevance(Embedding):
    """The kernel of an image whose pixels are weighted by the relevances of their blocks.

    Parameters
    ----------
    kernel : Kernel
    relevance : array of shape (b^2,)
        One weight for each block, row by row.
    side : int
        Pixels along a side of the image; b must divide it.
    """

    relevance: np.ndarray | float = 0.999
    side: int = 16

    @property
    def transforms(self) -> Mapping[str, Transform]:
        return {"relevance": LOG}

    @property
    def block(self) -> np.ndarray:
        """The block of each pixel."""
        along = int(np.sqrt(np.size(self.relevance)))
        at = np.arange(self.side) * along // self.side
        return (along * at[:, None] + at).ravel()

    def _embed(self, X: np.ndarray) -> np.ndarray:
        return X * np.sqrt(self.relevance)[self.block].astype(X.dtype)

    def _pull(self, X: np.ndarray, by_h: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        root = np.sqrt(self.relevance)[self.block]
        by_pixel = np.sum(X * by_h, axis=0) / (2.0 * root)
        by_block = np.bincount(self.block, weights=by_pixel, minlength=np.size(self.relevance))
        return by_h * root, {"relevance": by_block}
