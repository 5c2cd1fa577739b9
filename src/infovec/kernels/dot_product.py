"""Kernels of inner products."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import LOG, Transform
from .algebra import Block, Kernel
from .geometry import as_dense, column_products, column_squares, inner, scale_columns, squared_norms

__all__ = ["MLP", "DotProduct", "Linear", "Polynomial"]

_ROUNDING = 1e-16  # of one
_MOST = 0.1  # of the largest number that inner products may be


class Partials(NamedTuple):
    """Derivatives of a kernel of x'z, |x|^2 and |z|^2, and of its own parameters."""

    by_product: Floats
    by_xx: Floats
    by_zz: Floats
    own: dict[str, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class DotProduct(Kernel):
    """A function of x'z, |x|^2 and |z|^2, the inputs scaled by the square root of the relevances if any."""

    @abstractmethod
    def _value(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        """The kernel from inner products S and squared norms (which broadcast). May overwrite S."""

    @abstractmethod
    def _partials(self, S: Floats, xx: Floats, zz: Floats) -> Partials:
        """Its derivatives."""

    @property
    def _gain(self) -> float:
        """What inner products are multiplied by."""
        return 1.0

    def _scaled(self, X: Inputs) -> Inputs:
        relevance = getattr(self, "relevance", None)
        return X if relevance is None else scale_columns(X, np.sqrt(relevance), "relevance")

    def _measured(self, X: Inputs) -> tuple[Inputs, Floats]:
        """Scaled inputs and their squared norms, which bound all inner products; checked to be numbers."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            scaled = self._scaled(X)
            xx = squared_norms(scaled)
            large = ~(np.max(xx, initial=0.0) * max(self._gain, 1.0) < _MOST * float(np.finfo(xx.dtype).max))
        if large:
            row, reach = int(np.argmax(~(xx < np.inf) | (xx == np.max(xx)))), np.max(np.abs(as_dense(X)))
            raise ParameterError(
                f"{type(self).__name__}: the inner product of row {row} with itself is no floating point number of "
                f"{xx.dtype}, since X reaches {reach:.3g}; scale the columns, for example with "
                "sklearn.preprocessing.StandardScaler, or give smaller variances and relevances"
            )
        return scaled, xx

    def on(self, Z: Inputs) -> Block:
        Z, zz = self._measured(Z)

        def block(X: Inputs) -> Floats:
            X, xx = self._measured(X)
            return self._value(inner(X, Z), xx[:, None], zz)

        return block

    def diag(self, X: Inputs) -> Floats:
        _, xx = self._measured(X)
        return self._value(xx.copy(), xx, xx)

    def _pair(self, X: Inputs, Z: Inputs) -> tuple[Inputs, Inputs, Partials]:
        (X, xx), (Z, zz) = self._measured(self.in_double(X)), self._measured(self.in_double(Z))
        return X, Z, self._partials(inner(X, Z), xx[:, None], zz)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        if Z is None:
            return self._square_vjp(X, G)
        X, Z, d = self._pair(X, Z)
        by_name = {name: np.sum(G * slope) for name, slope in d.own.items()}
        if getattr(self, "relevance", None) is not None:
            by_column = column_products(X, Z, G * d.by_product)
            by_column = by_column + column_squares(X, np.sum(G * d.by_xx, axis=1))
            by_column = by_column + column_squares(Z, np.sum(G * d.by_zz, axis=0))
            by_name["relevance"] = by_column / self.relevance  # type: ignore[attr-defined]
        return self._gradient(by_name)

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        X, xx = self._measured(self.in_double(X))
        d = self._partials(xx.copy(), xx, xx)
        by_name = {name: w @ slope for name, slope in d.own.items()}
        if getattr(self, "relevance", None) is not None:
            total = w * (d.by_product + d.by_xx + d.by_zz)
            by_name["relevance"] = column_squares(X, total) / self.relevance  # type: ignore[attr-defined]
        return self._gradient(by_name)

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        X, Z, d = self._pair(as_dense(X), as_dense(Z))
        W = G * d.by_product
        by_x = W @ Z + 2.0 * np.sum(G * d.by_xx, axis=1)[:, None] * X
        by_z = W.T @ X + 2.0 * np.sum(G * d.by_zz, axis=0)[:, None] * Z
        return self._scaled(by_x), self._scaled(by_z)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        X, xx = self._measured(as_dense(X))
        d = self._partials(xx.copy(), xx, xx)
        scaled: Floats = self._scaled(2.0 * (w * (d.by_product + d.by_xx + d.by_zz))[:, None] * X)
        return scaled


@dataclass(frozen=True, eq=False, repr=False)
class Linear(DotProduct):
    r"""Linear functions through the origin.

    .. math:: k(x, z) = v \sum_j r_j x_j z_j

    Parameters
    ----------
    variance : float
        v.
    relevance : array of shape (n_features,), optional
        A weight r_j for each column.
    """

    amplitude = "variance"
    variance: float = 1.0
    relevance: Floats | None = None

    @property
    def transforms(self) -> Mapping[str, Transform]:
        return {"variance": LOG} if self.relevance is None else {"variance": LOG, "relevance": LOG}

    roles: ClassVar[Mapping[str, Role]] = {"variance": Role.VARIANCE, "relevance": Role.FREE}

    @property
    def _gain(self) -> float:
        return self.variance

    def _value(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        S *= self.variance
        return S

    def _partials(self, S: Floats, xx: Floats, zz: Floats) -> Partials:
        nothing = np.zeros_like(S)
        return Partials(np.full_like(S, self.variance), nothing, nothing, {"variance": S})


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(DotProduct):
    r"""Polynomials, normalised to a constant variance (Thesis 2.1.8).

    .. math:: k(x, z) = v \left(\frac{x^T z + \alpha}{\sqrt{(|x|^2 + \alpha)(|z|^2 + \alpha)}}\right)^m

    Parameters
    ----------
    degree : int
        m, not learned.
    offset : float
        alpha.
    variance : float
        v.
    """

    degree: int = 2
    offset: float = 1.0
    amplitude = "variance"
    variance: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree != int(self.degree) or self.degree < 1:
            raise ParameterError(f"Polynomial: degree must be a whole number from 1, got {self.degree!r}")

    transforms: ClassVar[Mapping[str, Transform]] = {"offset": LOG, "variance": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"offset": Role.FREE, "variance": Role.VARIANCE}

    def _cosine(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        return (S + self.offset) / (np.sqrt(xx + self.offset) * np.sqrt(zz + self.offset))

    def _value(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        return self.variance * self._cosine(S, xx, zz) ** self.degree

    def _partials(self, S: Floats, xx: Floats, zz: Floats) -> Partials:
        t = self._cosine(S, xx, zz)
        rise = self.variance * self.degree * t ** (self.degree - 1)
        root = np.sqrt(xx + self.offset) * np.sqrt(zz + self.offset)
        by_xx, by_zz = -0.5 * rise * t / (xx + self.offset), -0.5 * rise * t / (zz + self.offset)
        own = {"offset": rise / root + by_xx + by_zz, "variance": t**self.degree}
        return Partials(rise / root, by_xx, by_zz, own)


@dataclass(frozen=True, eq=False, repr=False)
class MLP(DotProduct):
    r"""Neural network with infinitely many hidden units: the arcsine kernel (LSH05 section 4).

    .. math:: k(x, z) = v \arcsin \frac{w x^T z + b}{\sqrt{(w |x|^2 + b + 1)(w |z|^2 + b + 1)}}

    Parameters
    ----------
    variance, weight_variance, bias_variance : float
        v, w and b.
    relevance : array of shape (n_features,), optional
        A weight for each column in the inner products.
    """

    amplitude = "variance"
    variance: float = 1.0
    weight_variance: float = 10.0
    bias_variance: float = 10.0
    relevance: Floats | None = None

    @property
    def transforms(self) -> Mapping[str, Transform]:
        free: dict[str, Transform] = {"variance": LOG, "weight_variance": LOG, "bias_variance": LOG}
        return free if self.relevance is None else {**free, "relevance": LOG}

    @property
    def roles(self) -> Mapping[str, Role]:
        return {
            "variance": Role.VARIANCE,
            **dict.fromkeys(("weight_variance", "bias_variance", "relevance"), Role.FREE),
        }

    @property
    def _gain(self) -> float:
        return self.weight_variance

    def _sine(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        w, b = self.weight_variance, self.bias_variance
        sine = (w * S + b) / (np.sqrt(w * xx + b + 1.0) * np.sqrt(w * zz + b + 1.0))
        return np.clip(sine, -1.0, 1.0)

    def _value(self, S: Floats, xx: Floats, zz: Floats) -> Floats:
        return self.variance * np.arcsin(self._sine(S, xx, zz))

    def _partials(self, S: Floats, xx: Floats, zz: Floats) -> Partials:
        w, b = self.weight_variance, self.bias_variance
        dx, dz = w * xx + b + 1.0, w * zz + b + 1.0
        root = np.sqrt(dx) * np.sqrt(dz)
        t = self._sine(S, xx, zz)
        rise = self.variance / np.sqrt(np.maximum(1.0 - t * t, _ROUNDING))
        by_dx, by_dz = -0.5 * rise * t / dx, -0.5 * rise * t / dz
        own = {
            "variance": np.arcsin(t),
            "weight_variance": rise * S / root + by_dx * xx + by_dz * zz,
            "bias_variance": rise / root + by_dx + by_dz,
        }
        return Partials(rise * w / root, w * by_dx, w * by_dz, own)
