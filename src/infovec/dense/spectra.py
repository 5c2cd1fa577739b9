"""Eigenvectors of the kernel matrices: one factorisation for all draws, and for all multiples of the kernel."""

from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..errors import NotPositiveDefinite

__all__ = ["Spectrum", "spectrum"]

_ROUNDING = 1e-7  # of the largest eigenvalue, by which others may be negative


class Spectrum(NamedTuple):
    """Eigenvalues and eigenvectors of one kernel matrix that all classes share, or of one for each class."""

    values: Floats  # (n, 1) or (n, C)
    vectors: Floats  # (1, n, n) or (C, n, n)

    @property
    def shared(self) -> bool:
        """Whether all classes have one kernel."""
        return len(self.vectors) == 1

    def turn(self, Y: Floats) -> Floats:
        """Coordinates along the eigenvectors, of an array of shape (n, k, C)."""
        if self.shared:
            return np.asarray((self.vectors[0].T @ Y.reshape(len(Y), -1)).reshape(Y.shape))
        return np.stack([U.T @ Y[:, :, c] for c, U in enumerate(self.vectors)], axis=2)

    def back(self, T: Floats) -> Floats:
        """The array of shape (n, k, C) that has these coordinates."""
        if self.shared:
            return np.asarray((self.vectors[0] @ T.reshape(len(T), -1)).reshape(T.shape))
        return np.stack([U @ T[:, :, c] for c, U in enumerate(self.vectors)], axis=2)

    def times(self, factor: float) -> "Spectrum":
        """That of a multiple of the kernel."""
        return self._replace(values=factor * self.values)


def spectrum(K: Floats) -> Spectrum:
    """Eigenvalues and eigenvectors of a kernel matrix of shape (n, n), or of C of them.

    Eigenvalues that rounding has made negative are zero: smooth kernels need no jitter.
    """
    parts = [np.linalg.eigh(k) for k in (K if K.ndim == 3 else K[None])]
    values = np.stack([lam for lam, _ in parts], axis=1)
    lowest, highest = float(values.min()), float(values.max())
    if not lowest >= -_ROUNDING * max(highest, 1.0):
        raise NotPositiveDefinite(
            f"the kernel matrix has an eigenvalue of {lowest:.2g} beside {highest:.2g}, which no covariance has; give "
            "a kernel that is positive definite on these rows"
        )
    return Spectrum(np.maximum(values, 0.0), np.stack([U for _, U in parts]))
