"""Kernels of the scaled distance between two inputs."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, kve

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import LOG, Interval, Transform
from .algebra import Block, Kernel
from .geometry import as_dense, column_products, column_squares, distances_to, extreme, scale_columns

__all__ = ["RBF", "Exponential", "Matern", "RationalQuadratic", "Stationary"]

_NOTHING = 1000.0  # exp(-1000) is zero, while products with it are numbers
_FARTHEST = 1e20  # squared distance beyond which slopes are those of this one


@dataclass(frozen=True, eq=False, repr=False)
class Stationary(Kernel):
    r"""A variance times a profile of the squared scaled distance.

    .. math:: k(x, z) = v \, \rho(D), \qquad D = \sum_j \frac{(x_j - z_j)^2}{\ell_j^2}, \qquad \rho(0) = 1

    Parameters
    ----------
    length_scale : float or array of shape (n_features,)
        One length scale, or one for each column (automatic relevance determination).
    variance : float
        v.
    """

    amplitude = "variance"
    length_scale: float | Floats = 1.0
    variance: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {"length_scale": LOG, "variance": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"length_scale": Role.SCALE, "variance": Role.VARIANCE}

    @abstractmethod
    def _profile(self, D: Floats) -> Floats:
        """The profile rho(D). May overwrite D."""

    @abstractmethod
    def _slope(self, D: Floats) -> Floats:
        """Slope d rho / d D; zero at D = 0 where it is infinite, since it only multiplies differences."""

    def _shape_slopes(self, D: Floats) -> dict[str, Floats]:
        """Slope d rho / d parameter for parameters other than scale and variance."""
        return {}

    @property
    def shift_invariant(self) -> bool:
        return True

    @property
    def _factor(self) -> float | Floats:
        return 1.0 / np.asarray(self.length_scale) if np.ndim(self.length_scale) else 1.0 / self.length_scale

    def _scaled(self, X: Inputs) -> Inputs:
        return scale_columns(X, self._factor, "length_scale")

    def on(self, Z: Inputs) -> Block:
        distances = distances_to(Z, self._factor, "length_scale")

        def block(X: Inputs) -> Floats:
            K = self._profile(distances(X))
            K *= self.variance
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        return np.full(X.shape[0], self.variance, dtype=np.result_type(X.dtype, np.float32))

    def _pair(self, X: Inputs, Z: Inputs) -> tuple[Inputs, Inputs, Floats]:
        """Both inputs, scaled, in double precision and around a common centre, and D."""
        if extreme(X, self._factor) or extreme(Z, self._factor):
            return self._extreme_pair(as_dense(X), as_dense(Z))
        X, Z = (self._scaled(self.in_double(inputs)) for inputs in (X, Z))
        if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray) and len(Z):
            centre = Z.mean(axis=0)
            X, Z = X - centre, Z - centre
        return X, Z, distances_to(Z)(X)

    def _extreme_pair(self, X: Floats, Z: Floats) -> tuple[Floats, Floats, Floats]:
        """The same where squares overflow, no number so large that its product with a slope of zero is none."""
        D = np.minimum(distances_to(Z, self._factor, "length_scale")(X), _FARTHEST)
        with np.errstate(over="ignore"):
            X, Z = (np.clip(self._scaled(inputs), -np.sqrt(_FARTHEST), np.sqrt(_FARTHEST)) for inputs in (X, Z))
        return X, Z, D

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        if Z is None:
            return self._square_vjp(X, G)
        X, Z, D = self._pair(X, Z)
        return self._vjp(X, Z, D, self._by_distance(G, D), G)

    def vjp_with_inputs(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        X, Z, D = self._pair(as_dense(X), as_dense(Z))
        W = self._by_distance(G, D)
        by_z = 2.0 * (W.sum(axis=0)[:, None] * Z - W.T @ X)
        return self._vjp(X, Z, D, W, G), by_z / self.length_scale

    def _by_distance(self, G: Floats, D: Floats) -> Floats:
        """Derivative of <G, K> in D."""
        slope = self._slope(D)
        W = np.multiply(slope, G, out=slope)
        W *= self.variance
        return W

    def _vjp(self, X: Inputs, Z: Inputs, D: Floats, W: Floats, G: Floats) -> Floats:
        """Gradient in theta from that in D, of a pair of inputs."""
        shapes = {k: self.variance * np.sum(G * s) for k, s in self._shape_slopes(D).items()}
        if np.ndim(self.length_scale):
            by_column = column_squares(X, W.sum(axis=1)) + column_squares(Z, W.sum(axis=0))
            by_scale = -2.0 * (by_column - 2.0 * column_products(X, Z, W))
        else:
            by_scale = np.asarray(-2.0 * np.vdot(W, D))
        with np.errstate(over="ignore"):  # a slope that is no number leads nowhere, and is not gone along
            by_scale = by_scale / self.length_scale
        by_variance = self._by_variance(G, W, D)
        return self._gradient({"length_scale": by_scale, "variance": by_variance, **shapes})

    def _by_variance(self, G: Floats, W: Floats, D: Floats) -> float:
        """Derivative of <G, K> in the variance; W is the one in D."""
        return float(np.vdot(G, self._profile(D)))

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        nothing = {name: np.zeros(np.shape(getattr(self, name))) for name in self.transforms}
        return self._gradient({**nothing, "variance": np.sum(w, dtype=np.float64)})

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        X, Z, D = self._pair(as_dense(X), as_dense(Z))
        W = 2.0 * self.variance * G * self._slope(D)
        by_x = W.sum(axis=1)[:, None] * X - W @ Z
        by_z = W.sum(axis=0)[:, None] * Z - W.T @ X
        return by_x / self.length_scale, by_z / self.length_scale

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return np.zeros(X.shape)


@dataclass(frozen=True, eq=False, repr=False)
class RBF(Stationary):
    r"""Gaussian kernel: very smooth functions.

    .. math:: k(x, z) = v \exp\left(-\tfrac12 \sum_j (x_j - z_j)^2 / \ell_j^2\right)

    Parameters
    ----------
    length_scale : float or array of shape (n_features,)
        One length scale, or one for each column (automatic relevance determination).
    variance : float
        v.

    Notes
    -----
    The papers write it with an inverse width; see docs/notation.md for the four conventions.
    """

    def _profile(self, D: Floats) -> Floats:
        D *= -0.5
        return np.exp(D, out=D)

    def _slope(self, D: Floats) -> Floats:
        slope = np.multiply(D, -0.5)
        np.exp(slope, out=slope)
        slope *= -0.5
        return slope

    def _by_variance(self, G: Floats, W: Floats, D: Floats) -> float:
        return -2.0 * float(np.sum(W)) / self.variance  # the slope is minus half of the profile


@dataclass(frozen=True, eq=False, repr=False)
class Matern(Stationary):
    r"""Matern kernel: functions differentiable fewer than nu times.

    .. math:: k(x, z) = v \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t), \qquad t = \sqrt{2 \nu D}

    Parameters
    ----------
    length_scale, variance
        As for the other kernels of distance.
    nu : float
        Smoothness, not learned; 0.5, 1.5, 2.5 and infinity (the RBF kernel) are fast.
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.nu > 0:
            raise ParameterError(f"Matern: nu must be positive, got {self.nu!r}")

    def _profile(self, D: Floats) -> Floats:
        if np.isinf(self.nu):
            return np.exp(-0.5 * D)
        t = np.minimum(float(np.sqrt(2.0 * self.nu)) * np.sqrt(D), _NOTHING)
        if self.nu == 0.5:
            return np.exp(-t)
        if self.nu == 1.5:
            return (1.0 + t) * np.exp(-t)
        if self.nu == 2.5:
            return (1.0 + t + t * t / 3.0) * np.exp(-t)
        return _bessel(self.nu, self.nu, t, 1.0).astype(D.dtype)

    def _slope(self, D: Floats) -> Floats:
        if np.isinf(self.nu):
            return -0.5 * np.exp(-0.5 * D)
        t = np.minimum(float(np.sqrt(2.0 * self.nu)) * np.sqrt(D), _NOTHING)
        if self.nu == 1.5:
            return -1.5 * np.exp(-t)
        if self.nu == 2.5:
            return -(5.0 / 6.0) * (1.0 + t) * np.exp(-t)
        # d/dt t^nu K_nu = -t^nu K_{nu-1}, and dt/dD = nu / t
        if self.nu <= 1.0:
            return -self.nu * _bessel(self.nu, self.nu - 1.0, t, 0.0, power=self.nu - 1.0)
        return -self.nu * _bessel(self.nu, self.nu - 1.0, t, 0.5 / (self.nu - 1.0), power=self.nu - 1.0)


def _bessel(nu: float, order: float, t: Floats, limit: float, power: float | None = None) -> Floats:
    """2^(1 - nu) / Gamma(nu) t^power K_order(t), with its limit where K overflows near zero."""
    power = nu if power is None else power
    t = np.asarray(t, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_value = (1.0 - nu) * np.log(2.0) - gammaln(nu) + power * np.log(t) + np.log(kve(order, t)) - t
        value = np.exp(log_value)
    return np.where((t > 0) & np.isfinite(value), value, limit)


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Stationary):
    r"""Exponential class: continuous, nowhere differentiable functions (Thesis 2.1.8).

    .. math:: k(x, z) = v \exp(-D^{\delta / 2}), \qquad 0 < \delta < 2

    Parameters
    ----------
    length_scale, variance
        As for the other kernels of distance.
    power : float
        delta. One gives the Ornstein-Uhlenbeck process; two would be ``RBF(length_scale / sqrt(2))``.
    """

    power: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {**Stationary.transforms, "power": Interval(2.0)}
    roles: ClassVar[Mapping[str, Role]] = {**Stationary.roles, "power": Role.FREE}

    def _profile(self, D: Floats) -> Floats:
        return np.exp(-(D ** (0.5 * self.power)))

    def _slope(self, D: Floats) -> Floats:
        safe = np.where(D > 0, D, 1.0)
        slope = -0.5 * self.power * safe ** (0.5 * self.power - 1.0) * np.exp(-(safe ** (0.5 * self.power)))
        return np.where(D > 0, slope, 0.0)

    def _shape_slopes(self, D: Floats) -> dict[str, Floats]:
        safe = np.where(D > 0, D, 1.0)
        raised = safe ** (0.5 * self.power)
        return {"power": -0.5 * np.exp(-raised) * raised * np.log(safe)}


@dataclass(frozen=True, eq=False, repr=False)
class RationalQuadratic(Stationary):
    r"""A mixture of RBF kernels of many length scales.

    .. math:: k(x, z) = v \left(1 + \frac{D}{2 \alpha}\right)^{-\alpha}

    Parameters
    ----------
    length_scale, variance
        As for the other kernels of distance.
    alpha : float
        Large values approach the RBF kernel.
    """

    alpha: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {**Stationary.transforms, "alpha": LOG}
    roles: ClassVar[Mapping[str, Role]] = {**Stationary.roles, "alpha": Role.FREE}

    def _profile(self, D: Floats) -> Floats:
        return np.exp(-self.alpha * np.log1p(D / (2.0 * self.alpha)))

    def _slope(self, D: Floats) -> Floats:
        return -0.5 * np.exp(-(self.alpha + 1.0) * np.log1p(D / (2.0 * self.alpha)))

    def _shape_slopes(self, D: Floats) -> dict[str, Floats]:
        q: Any = D / (2.0 * self.alpha)
        return {"alpha": np.exp(-self.alpha * np.log1p(q)) * (q / (1.0 + q) - np.log1p(q))}
