"""What every sparse posterior is to new inputs: a mean and a variance from their kernel to the active inputs."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import blas

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..runtime import at_once

__all__ = ["Posterior"]

_MANY = 12  # kernels in a kernel, beyond which not all of them are to have a copy of the active inputs
_MANY_ACTIVE = 1000  # from which on predictions may be in single precision
_TRIALS, _ERROR = 32, 3e-4  # to find out whether that is enough: the largest error, in posterior deviations
_PANEL = 512  # rows of T at once
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

    def blocks(self, X: Inputs, dtype: str = "float64") -> Iterator[tuple[slice, Floats]]:
        """Yield the rows of X in blocks of bounded memory, with their kernel to the active inputs."""
        d, active = self.X.shape[0], self.X if dtype == "float64" else self.X.astype(dtype)
        step = max(1, at_once(_BLOCK_BYTES, 1.0) // (32 * max(d, 1)))
        block = self.kernel.on(active) if self.kernel.n_parts <= _MANY else self.kernel.part_by_part(active)
        for start in range(0, X.shape[0] if d else 0, step):
            part = slice(start, min(start + step, X.shape[0]))
            rows = X[part] if dtype == "float64" else X[part].astype(dtype)
            yield part, np.asarray(block(rows), dtype=dtype)

    def mean(self, X: Inputs) -> Floats:
        """Latent mean at new inputs, O(d) for each."""
        mean = np.zeros(X.shape[0])
        for part, K in self.blocks(X):
            mean[part] = K @ self.weights
        return mean

    def predict(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent mean and variance at new inputs, O(d^2) for each.

        Where the active inputs are many the products are in single precision, if that is enough.
        """
        return self._predict(X, self._products)

    def predict_in_double(self, X: Inputs) -> tuple[Floats, Floats]:
        """Latent mean and variance at new inputs, in double precision however many active inputs there are."""
        return self._predict(X, "float64")

    def _predict(self, X: Inputs, dtype: str) -> tuple[Floats, Floats]:
        mean, var = np.zeros(X.shape[0]), np.array(self.kernel.diag(X), dtype=np.float64)
        variance = self.variance if dtype == "float64" else self._rough_variance
        for part, K in self.blocks(X, dtype):
            mean[part] = K @ self.weights.astype(dtype, copy=False)
            var[part] = variance(K, var[part])
        return mean, var

    @cached_property
    def _products(self) -> str:
        """Precision of predictions: single if there are many active inputs, and trials near them agree with double.

        The trials are the model's own, so that what is predicted for a row does not depend on others.
        """
        d = self.X.shape[0]
        if d < _MANY_ACTIVE or not self.kernel.numeric or not isinstance(self.X, np.ndarray):
            return "float64"
        some = self.kernel.in_double(self.X[:: -(-d // _TRIALS)])
        trials = np.concatenate([some, 0.5 * (some + some[::-1])])
        with np.errstate(all="ignore"):
            (mean, var), (rough, wide) = (self._predict(trials, dtype) for dtype in ("float64", "float32"))
            far = np.abs(rough - mean) / np.sqrt(np.maximum(var, 1e-300)) + np.abs(wide - var) / np.maximum(var, 1e-300)
        return "float32" if np.all(far <= _ERROR) else "float64"

    def _rough_variance(self, K: Floats, prior_var: Floats) -> Floats:
        """Variance by products in single precision, which leave out what is zero in every panel of T."""
        T, explained = self._rough_reduction, np.zeros(len(K))
        for start in range(0, len(T), _PANEL):
            stop = min(start + _PANEL, len(T))
            stubs = K[:, :stop] @ T[start:stop, :stop].T
            explained += np.einsum("ij,ij->i", stubs, stubs)
        return np.maximum(prior_var - explained, 0.0)

    @cached_property
    def _rough_reduction(self) -> Floats:
        return self.reduction.astype(np.float32)

    def predict_several(self, X: Inputs, weights: Floats) -> tuple[Floats, Floats]:
        """Latent means of several functions, (n, q), by their weights, (d, q), and the variance they share, (n,)."""
        mean, var = np.zeros((X.shape[0], weights.shape[1])), np.array(self.kernel.diag(X), dtype=np.float64)
        for part, K in self.blocks(X):
            mean[part] = K @ weights
            var[part] = self.variance(K, var[part])
        return mean, var

    def features(self, K: Floats) -> tuple[Floats, Floats]:
        r"""Features A and B of inputs, from their kernel to the active ones, which make their covariances.

        .. math:: \mathrm{Cov}(f(x), f(z)) = k(x, z) - A_x^T A_z + B_x^T B_z
        """
        return K @ self.reduction.T, np.empty((len(K), 0))

    def variance(self, K: Floats, prior_var: Floats) -> Floats:
        """Variance of inputs, from their kernel to the active ones and their variance a priori."""
        stubs = blas.dtrmm(1.0, self.reduction.T, K.T, trans_a=1)
        return np.maximum(prior_var - np.einsum("ij,ij->j", stubs, stubs), 0.0)
