"""The units of columns: with the default kernel a fit works with columns around zero that spread by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np

from .._types import Array, Floats, Inputs, Rows
from ..kernels import Bias, Categorical, Kernel, On, Product, Sum
from ..kernels.named import of_scaled
from ..numerics.outliers import usual_reach
from ..posterior import Posterior, SeparatePosterior
from ..runtime import at_once
from ..shards import FarInputs, View
from .defaults import column_spreads, length_scales, mixed_kernel

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
    codes : array of int
        Columns with codes of categories, which have no unit: they stay as they are.
    gaps : array of int
        Those of them that say where values are missing.
    """

    centre: Floats
    scale: Floats
    n_varying: int
    rounded: bool
    codes: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    gaps: Sequence[int] | Rows = ()

    @classmethod
    def of(
        cls,
        X: Inputs,
        weight: Floats | None,
        rounded: bool,
        codes: Sequence[int] | Rows = (),
        gaps: Sequence[int] | Rows = (),
    ) -> Self | None:
        """Return the units of dense columns, or None where they have a common unit; see ``length_scales``."""
        if not isinstance(X, np.ndarray | FarInputs):
            return None
        if len(codes) and isinstance(X, np.ndarray):
            return replace(cls._of_mixed(X, weight, rounded, np.asarray(codes, dtype=np.intp)), gaps=gaps)
        deviation, extent = column_spreads(X, weight)
        varying, scales = int(np.sum(extent > 0.0)), length_scales(deviation, extent)
        if np.ndim(scales) == 0:
            return None
        return cls(usual_reach(X, weight)[0], scales / np.sqrt(varying), varying, rounded)

    @classmethod
    def _of_mixed(cls, X: Floats, weight: Floats | None, rounded: bool, codes: Rows) -> Self:
        """Return the units of columns, some of which are numbers."""
        numbers = np.setdiff1d(np.arange(X.shape[1]), codes)
        deviation, extent = column_spreads(X[:, numbers], weight)
        varying, scales = int(np.sum(extent > 0.0)), length_scales(deviation, extent)
        centre, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        centre[numbers], scale[numbers] = usual_reach(X[:, numbers], weight)[0], scales / np.sqrt(max(1, varying))
        return cls(centre, scale, varying + len(codes), rounded, codes)

    @property
    def numbers(self) -> Rows:
        """Columns that are no codes."""
        return np.setdiff1d(np.arange(len(self.scale)), self.codes)

    def kernel(self, variance: float, form: Kernel | None = None) -> Kernel:
        """Return the default kernel, or one of a named form, as the fit has it."""
        scale, relevance = float(np.sqrt(self.n_varying)), 1.0 / max(1, self.n_varying)
        return mixed_kernel(self.numbers, scale, self.codes, relevance, variance, form, gaps=self.gaps)

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
        return self._outside(kernel) if len(self.codes) else of_scaled(kernel, self.centre, self.scale)

    def _outside(self, kernel: Kernel) -> Kernel:
        """Return a kernel of numbers and categories as the user has it: only numbers have units."""
        if isinstance(kernel, Sum | Product):
            return replace(kernel, left=self._outside(kernel.left), right=self._outside(kernel.right))
        if isinstance(kernel, Bias):
            return kernel
        assert isinstance(kernel, On)
        if isinstance(kernel.kernel, Categorical):
            return kernel
        return replace(kernel, kernel=of_scaled(kernel.kernel, self.centre[self.numbers], self.scale[self.numbers]))

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
