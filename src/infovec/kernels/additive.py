"""Kernels of functions that are sums of functions of one column each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from .algebra import Block, Kernel
from .geometry import check_columns
from .stationary import RBF, Stationary

__all__ = ["MainEffects"]

_BLOCK = 1 << 14  # entries of the matrix at a time, which are gone through once for each column
_FARTHEST = 1e15  # length scales, whose squares are numbers in single precision


@dataclass(frozen=True, eq=False, repr=False)
class MainEffects(Kernel):
    r"""Sums of functions of one column each: the average over columns of a kernel of that column alone.

    .. math:: k(x, z) = \frac{1}{p} \sum_{j=1}^p v \, \rho\Bigl(\frac{p \, (x_j - z_j)^2}{\ell_j^2}\Bigr)

    where v rho(D) is the kernel of the scaled squared distance D that is given. What is in the brackets is D on
    average, so that length scales which suit that kernel suit this one about as well.

    Parameters
    ----------
    kernel : RBF, Matern, Exponential or RationalQuadratic
        With one length scale, or one for each column.
    """

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)

    kernel: Stationary = field(default_factory=RBF)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.kernel, Stationary):
            raise ParameterError(
                f"MainEffects: kernel must be one of scaled distances, such as RBF(), got {self.kernel!r}"
            )

    def on(self, Z: Inputs) -> Block:
        there = self._seen(Z)
        columns = there(Z)

        def block(X: Inputs) -> Floats:
            K = np.zeros((X.shape[0], Z.shape[0]), dtype=np.result_type(X.dtype, Z.dtype))
            for at, D in _distances(there(X), columns):
                K[at] += self.kernel._profile(D)
            K *= self.kernel.variance / max(1, X.shape[1])
            return K

        return block

    def _seen(self, Z: Inputs) -> Callable[[Inputs], Floats]:
        """Return the columns, one after the other, around a row of Z in units of their length scales."""
        check_columns(Z, self.kernel.length_scale, "length_scale")
        origin = _dense(Z[:1]) if Z.shape[0] else np.zeros((1, Z.shape[1]))
        factor = np.sqrt(Z.shape[1]) / np.broadcast_to(self.kernel.length_scale, (Z.shape[1],))

        def seen(X: Inputs) -> Floats:
            with np.errstate(over="ignore"):
                moved = (_dense(X) - origin.astype(X.dtype)) * factor.astype(X.dtype)
            return np.ascontiguousarray(np.clip(moved, -_FARTHEST, _FARTHEST).T)

        return seen

    def diag(self, X: Inputs) -> Floats:
        return self.kernel.diag(X)

    def times(self, factor: float) -> Kernel | None:
        return replace(self, kernel=replace(self.kernel, variance=factor * self.kernel.variance))

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        if Z is None:
            return self._square_vjp(X, G)
        return self._vjp(X, Z, G, None)

    def vjp_with_inputs(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        by_z = np.zeros(Z.shape)
        return self._vjp(X, Z, G, (np.zeros(X.shape), by_z)), by_z

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        by_x, by_z = np.zeros(X.shape), np.zeros(Z.shape)
        self._vjp(X, Z, G, (by_x, by_z))
        return by_x, by_z

    def _vjp(self, X: Inputs, Z: Inputs, G: Floats, by_inputs: tuple[Floats, Floats] | None) -> Floats:
        """Gradient in theta; those in the inputs are added to what is given."""
        one, p, seen = self.kernel, X.shape[1], self._seen(self.in_double(Z))
        A, B = seen(self.in_double(X)), seen(self.in_double(Z))
        scales, share = np.broadcast_to(one.length_scale, (p,)), G / p
        by_scale, by_variance, shapes = np.zeros(p), 0.0, dict.fromkeys(one._shape_slopes(np.zeros((1, 1))), 0.0)
        for number, (at, D) in enumerate(_distances(A, B)):
            j, g = number % p, share[at]
            W = one._by_distance(g, D)
            by_scale[j] -= 2.0 * float(np.vdot(W, D)) / scales[j]
            by_variance += one._by_variance(g, W, D)
            for name, slope in one._shape_slopes(D).items():
                shapes[name] += one.variance * float(np.sum(g * slope))
            if by_inputs is not None:
                W *= np.subtract.outer(A[j, at], B[j])
                W *= 2.0 * np.sqrt(p) / scales[j]
                by_inputs[0][at, j] += W.sum(axis=1)
                by_inputs[1][:, j] -= W.sum(axis=0)
        whole = by_scale if np.ndim(one.length_scale) else by_scale.sum()
        return one._gradient({"length_scale": whole, "variance": by_variance, **shapes})

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self.kernel.diag_vjp(X, w)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return np.zeros(X.shape)


def _dense(X: Inputs) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _distances(A: Floats, B: Floats) -> Iterator[tuple[slice, Floats]]:
    """Some rows, and their squared distances to all others in one column after the other."""
    n, d = A.shape[1], B.shape[1]
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        at = slice(start, start + step)
        for a, b in zip(A, B, strict=True):
            D = np.subtract.outer(a[at], b)
            D *= D
            yield at, D
