"""The units of columns: with the default kernel a fit works with columns around zero that spread by one."""

from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from .._types import Array, Floats, Inputs, Rows
from ..kernels import RBF, Kernel
from ..kernels.named import of_scaled, of_variance
from ..numerics.outliers import usual_reach
from ..posterior import Posterior, SeparatePosterior
from ..runtime import at_once
from ..shards import FarInputs, View
from .defaults import column_spreads, length_scales

__all__ = ["Columns", "InsideRows"]

P = TypeVar("P", bound=Posterior)

_GRID = 2.0**26  # steps in the spread of a column: finer than single precision
_BLOCK = 1 << 19  # numbers in double precision at a time
_BYTES = 24  # for each of them, on the way


@dataclass(frozen=True)
class Columns:
    r"""Columns are centre + scale times those that the fit works with; so are length scales, but for the centre.

    .. math:: x_j = c_j + s_j x'_j, \qquad \ell_j = s_j \ell'_j

    Parameters
    ----------
    centre, scale : array of shape (p,)
    n_varying : int
        Columns that are not constant.
    rounded : bool
        Whether digits that come from the unit are left out, so that they do not decide how a fit learns.
    """

    centre: Floats
    scale: Floats
    n_varying: int
    rounded: bool

    @classmethod
    def of(cls, X: Inputs, weight: Floats | None, rounded: bool) -> Self | None:
        """Return the units of dense columns, or None where they have a common unit; see ``length_scales``."""
        if not isinstance(X, np.ndarray | FarInputs):
            return None
        deviation, extent = column_spreads(X, weight)
        varying, scales = int(np.sum(extent > 0.0)), length_scales(deviation, extent)
        if np.ndim(scales) == 0:
            return None
        return cls(usual_reach(X, weight)[0], scales / np.sqrt(varying), varying, rounded)

    def kernel(self, variance: float, form: Kernel | None = None) -> Kernel:
        """Return the default kernel, or one of a named form, as the fit has it."""
        return of_variance(of_scaled(form or RBF(), 0.0, float(np.sqrt(self.n_varying))), variance)

    def inside(self, X: Array, dtype: str = "float64") -> Array:
        """Return rows as the fit has them."""
        found, step = np.empty(X.shape, dtype=dtype), max(1, at_once(_BLOCK, _BYTES) // max(X.shape[1], 1))
        for start in range(0, len(X), step):
            part = (X[start : start + step] - self.centre) / self.scale
            found[start : start + step] = np.round(part * _GRID) / _GRID if self.rounded else part
        return found

    def seen(self, X: FarInputs, dtype: str = "float64") -> FarInputs:
        """Return rows that are far as the fit has them."""
        return X.seen(View(dtype, self.centre, self.scale, _GRID if self.rounded else None))

    def kernels_outside(self, kernel: Kernel | list[Kernel]) -> Kernel | list[Kernel]:
        """Return a kernel of the fit, or a list of them, as the user has it."""
        return [self.kernel_outside(one) for one in kernel] if isinstance(kernel, list) else self.kernel_outside(kernel)

    def kernel_outside(self, kernel: Kernel) -> Kernel:
        """Return a kernel of the fit as the user has it."""
        return of_scaled(kernel, self.centre, self.scale)

    def posterior_outside(self, posterior: P) -> P:
        """Return a posterior of the fit as the user has it: its active inputs are rounded as they were in the fit."""
        moved: dict[str, object] = {
            "kernel": self.kernel_outside(posterior.kernel), "X": self.centre + self.scale * posterior.X,
        }  # fmt: skip
        if isinstance(posterior, SeparatePosterior):
            moved["parts"] = tuple(self.posterior_outside(part) for part in posterior.parts)
        return replace(posterior, **moved)  # type: ignore[arg-type]


class InsideRows:
    """Rows of the inputs as a fit has them, made when they are asked for."""

    def __init__(self, X: Array, columns: Columns) -> None:
        self._X, self._columns, self.shape = X, columns, X.shape

    def __getitem__(self, at: Rows) -> Array:
        return self._columns.inside(self._X[at])
