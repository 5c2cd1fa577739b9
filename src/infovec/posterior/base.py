"""What every sparse posterior is to new inputs: a mean and a variance from their kernel to the active inputs."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.linalg import blas

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..runtime import at_once

__all__ = ["Posterior"]

_MANY = 12  # kernels in a kernel, beyond which not all of them are to have a copy of the active inputs
_BLOCK_BYTES = 64 * 2**20  # memory for one block of predictions


@dataclass(frozen=True, repr=False)
class Posterior(ABC):
    r"""Gaussian posterior process that new inputs see through the active inputs only.

    .. math:: \mu(x) = k_I(x)^T \xi, \qquad \sigma^2(x) = k(x, x) - |T k_I(x)|^2

    Parameters
    ----------
    kernel : Kernel
    X : inputs of the active rows, in order of inclusion
    """

    kernel: Kernel
    X: Inputs

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """Weights xi of the mean."""

    @property
    @abstractmethod
    def reduction(self) -> Floats:
        """Lower triangular matrix T of the reduction of variance, row by row in memory."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not what follows from them

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.X.shape[0]} active rows, {self.kernel!r})"

    def _blocks(self, X: Inputs) -> Iterator[tuple[slice, Floats]]:
        """Yield the rows of X in blocks of bounded memory, with their kernel to the active inputs."""
        d = self.X.shape[0]
        step = max(1, at_once(_BLOCK_BYTES, 1.0) // (32 * max(d, 1)))
        block = self.kernel.on(self.X) if self.kernel.n_parts <= _MANY else self.kernel.part_by_part(self.X)
        for start in range(0, X.shape[0] if d else 0, step):
            part = slice(start, min(start + step, X.shape[0]))
            yield part, np.asarray(block(X[part]), dtype=np.float64)

    def mean(self, X: Inputs) -> Floats:
        """Latent mean at new inputs, O(d) for each."""
        mean = np.zeros(X.shape[0])
        for part, K in self._blocks(X):
            mean[part] = K @ self.weights
        return mean

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent mean and variance at new inputs, O(d^2) for each."""
        mean, var = np.zeros(X.shape[0]), np.array(self.kernel.diag(X), dtype=np.float64)
        for part, K in self._blocks(X):
            mean[part] = K @ self.weights
            var[part] = self.variance(K, var[part])
        return mean, var

    def predict_several(self, X: Inputs, weights: Floats) -> tuple[Floats, Floats]:
        """Latent means of several functions, (n, q), by their weights, (d, q), and the variance they share, (n,)."""
        mean, var = np.zeros((X.shape[0], weights.shape[1])), np.array(self.kernel.diag(X), dtype=np.float64)
        for part, K in self._blocks(X):
            mean[part] = K @ weights
            var[part] = self.variance(K, var[part])
        return mean, var

    def variance(self, K: Floats, prior_var: Floats) -> Floats:
        """Variance of inputs, from their kernel to the active ones and their variance a priori."""
        stubs = blas.dtrmm(1.0, self.reduction.T, K.T, trans_a=1)
        return np.maximum(prior_var - np.einsum("ij,ij->j", stubs, stubs), 0.0)
