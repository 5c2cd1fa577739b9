"""Kernels that do not look at the values of the inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._types import Floats, Inputs
from ..numerics.roles import Role
from ..numerics.transforms import LOG, Transform
from .algebra import Block, Kernel

__all__ = ["Bias", "White"]


def _precision(X: Inputs) -> np.dtype:
    """Floating point type of the answer: that of the inputs, double for anything else."""
    return X.dtype if getattr(X, "dtype", None) in (np.float32, np.float64) else np.dtype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class _Constant(Kernel):
    """One number, whatever the inputs."""

    amplitude = "variance"
    variance: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {"variance": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"variance": Role.VARIANCE}

    @property
    def shift_invariant(self) -> bool:
        return True

    def diag(self, X: Inputs) -> Floats:
        return np.full(X.shape[0], self.variance, dtype=_precision(X))

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self._gradient({"variance": np.sum(w, dtype=np.float64)})

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        return np.zeros(X.shape), np.zeros(Z.shape)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return np.zeros(X.shape)


@dataclass(frozen=True, eq=False, repr=False)
class Bias(_Constant):
    r"""Uncertainty about a constant added to the function.

    .. math:: k(x, z) = v

    Parameters
    ----------
    variance : float
        v.
    """

    def on(self, Z: Inputs) -> Block:
        m = Z.shape[0]
        return lambda X: np.broadcast_to(_precision(X).type(self.variance), (X.shape[0], m))

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return self._gradient({"variance": np.sum(G, dtype=np.float64)})


@dataclass(frozen=True, eq=False, repr=False)
class White(_Constant):
    r"""White noise in the latent function: a row shares it with itself only, not with an equal row.

    .. math:: k(x_i, x_j) = v \, \delta_{ij}

    Parameters
    ----------
    variance : float
        v.
    """

    def on(self, Z: Inputs) -> Block:
        m = Z.shape[0]
        return lambda X: np.broadcast_to(_precision(X).type(0.0), (X.shape[0], m))

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return self._square_vjp(X, G) if Z is None else np.zeros(1)
