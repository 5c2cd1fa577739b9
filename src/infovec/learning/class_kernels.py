"""The kernels of many classes, as one value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..kernels import Kernel
from ..numerics.parameters import Parametrised

__all__ = ["ClassKernels"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassKernels(Parametrised):
    """One kernel for each class, whose parameters are learned together.

    Parameters
    ----------
    kernels : tuple of Kernel
    """

    kernels: tuple[Kernel, ...]

    def _children(self) -> Iterator[tuple[str, Parametrised]]:
        for c, kernel in enumerate(self.kernels):
            yield f"{c}", kernel

    def with_theta(self, theta: Floats) -> Self:
        if np.shape(theta) != self.theta.shape:
            raise ParameterError(f"the kernels have {self.theta.size} free parameters, theta has {np.shape(theta)}")
        edges = np.cumsum([kernel.theta.size for kernel in self.kernels])[:-1]
        moved = zip(self.kernels, np.split(np.asarray(theta), edges), strict=True)
        return type(self)(tuple(kernel.with_theta(own) for kernel, own in moved))
