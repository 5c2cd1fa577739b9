"""Kernels that come from elsewhere: a function of your own, or a matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import LOG, Transform
from .algebra import Block, Kernel

__all__ = ["FromFunction", "Precomputed"]


@dataclass(frozen=True, eq=False, repr=False)
class _Foreign(Kernel):
    """A variance times a given kernel without parameters."""

    amplitude = "variance"
    variance: float = field(default=1.0, kw_only=True)

    transforms: ClassVar[Mapping[str, Transform]] = {"variance": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"variance": Role.VARIANCE}

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return self._gradient({"variance": np.sum(G * self(X, Z)) / self.variance})

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self._gradient({"variance": w @ self.diag(X) / self.variance})


_WANTED = "FromFunction: function(X, Z) gets two sequences and must return a len(X) x len(Z) matrix of numbers."


@dataclass(frozen=True, eq=False, repr=False)
class FromFunction(_Foreign):
    r"""A kernel given as a Python function, for strings, graphs or any other objects.

    .. math:: k(x, z) = v \, \mathrm{function}(x, z)

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` gets two sequences of objects and returns the matrix between them.
    diagonal : callable, optional
        ``diagonal(X)`` returns the kernel of every object with itself; without it ``function`` is called
        on one object at a time.
    variance : float
        v.
    """

    function: Callable[[Any, Any], Floats] | None = None
    diagonal: Callable[[Any], Floats] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ParameterError(f"FromFunction: function must be callable, got {self.function!r}")

    @property
    def numeric(self) -> bool:
        return False

    def on(self, Z: Inputs) -> Block:
        def block(X: Inputs) -> Floats:
            try:
                K = np.array(self.function(X, Z), dtype=np.float64)  # type: ignore[misc]
            except (TypeError, ValueError) as error:
                raise ParameterError(f"{_WANTED} It failed: {error}") from error
            if K.shape != (len(X), len(Z)):
                raise ParameterError(f"{_WANTED} It returned shape {K.shape} for {len(X)} and {len(Z)} objects.")
            K *= self.variance
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        if self.diagonal is not None:
            return self.variance * np.asarray(self.diagonal(X), dtype=np.float64)
        return np.array([self.on(X[i : i + 1])(X[i : i + 1])[0, 0] for i in range(len(X))])


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(_Foreign):
    r"""A kernel given as a matrix; an input is a single column holding the row number of an object.

    .. math:: k(i, j) = v \, K_{ij}

    Train with ``X = train_rows[:, None]`` and predict with ``test_rows[:, None]``. Only the columns of chosen
    rows are read, so the matrix may be memory-mapped.

    Parameters
    ----------
    matrix : array of shape (n_objects, n_objects)
        K, symmetric.
    variance : float
        v.
    """

    matrix: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.matrix) != 2 or np.shape(self.matrix)[0] != np.shape(self.matrix)[1]:
            raise ParameterError(f"Precomputed: matrix must be square, got shape {np.shape(self.matrix)}")

    def _rows(self, X: Inputs) -> Any:
        rows = np.asarray(X).reshape(len(X), -1)
        size = np.shape(self.matrix)[0]
        if rows.shape[1] != 1 or np.any(rows != np.round(rows)) or np.any((rows < 0) | (rows >= size)):
            raise ParameterError(
                f"Precomputed: inputs must be one column of row numbers from 0 to {size - 1}; the matrix itself "
                "goes into the kernel, and X is np.arange(n)[:, None]"
            )
        return rows[:, 0].astype(np.intp)

    def on(self, Z: Inputs) -> Block:
        columns = self._rows(Z)

        def block(X: Inputs) -> Floats:
            K: Floats = np.asarray(self.matrix[self._rows(X)[:, None], columns], dtype=X.dtype)
            K *= self.variance
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        rows = self._rows(X)
        return self.variance * np.asarray(self.matrix[rows, rows], dtype=X.dtype)
