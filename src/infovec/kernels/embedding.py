"""Kernels of transformed inputs, k(h(x), h(z)) (Thesis eq. 2.28)."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..numerics.roles import Role
from ..numerics.transforms import LOG, TRANSFORMS, Transform
from .algebra import Block, Kernel
from .geometry import as_dense, check_columns, scale_columns
from .stationary import RBF

__all__ = ["Embedding", "Periodic", "Relevance", "Standardised"]


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Kernel):
    """A kernel of transformed inputs."""

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)

    kernel: Kernel = field(default_factory=RBF)

    @abstractmethod
    def _embed(self, X: Inputs) -> Inputs:
        """The transformed inputs h(X)."""

    @abstractmethod
    def _pull(self, X: Floats, by_h: Floats) -> tuple[Floats, dict[str, Floats]]:
        """Gradients in X and in the own parameters from the gradient in h(X)."""

    def on(self, Z: Inputs) -> Block:
        inside = self.kernel.on(self._embed(Z))
        return lambda X: inside(self._embed(X))

    def diag(self, X: Inputs) -> Floats:
        return self.kernel.diag(self._embed(X))

    def times(self, factor: float) -> Kernel | None:
        inside = self.kernel.times(factor)
        return None if inside is None else replace(self, kernel=inside)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        if Z is None:
            return self._square_vjp(X, G)
        X, Z = as_dense(X), as_dense(Z)
        hx, hz = self._embed(X), self._embed(Z)
        by_hx, by_hz = self.kernel.input_vjp(hx, hz, G)
        (_, from_x), (_, from_z) = self._pull(X, by_hx), self._pull(Z, by_hz)
        own = self._gradient({name: from_x[name] + from_z[name] for name in from_x})
        return np.concatenate([own, self.kernel.vjp(hx, hz, G)])

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        X = as_dense(X)
        h = self._embed(X)
        _, own = self._pull(X, self.kernel.diag_input_vjp(h, w))
        return np.concatenate([self._gradient(own), self.kernel.diag_vjp(h, w)])

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        X, Z = as_dense(X), as_dense(Z)
        by_hx, by_hz = self.kernel.input_vjp(self._embed(X), self._embed(Z), G)
        return self._pull(X, by_hx)[0], self._pull(Z, by_hz)[0]

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        X = as_dense(X)
        return self._pull(X, self.kernel.diag_input_vjp(self._embed(X), w))[0]


@dataclass(frozen=True, eq=False, repr=False)
class Relevance(Embedding):
    r"""One weight for each column, shared by all kernels inside (LSH05 section 4).

    .. math:: k(x, z) = k_1(\sqrt r \circ x, \sqrt r \circ z)

    Parameters
    ----------
    kernel : Kernel
        Any kernel of numbers; a sum shares the weights among its terms.
    relevance : array of shape (n_features,)
        The weights r.
    transform : {"sigmoid", "log", "softplus"}
        Keeps them between 0 and 1 (as in the paper) or positive. A sigmoid is flat at its ends: learning begins with
        weights between 0.12 and 0.88.
    """

    relevance: Floats | float = 0.999
    transform: str = "sigmoid"

    @property
    def transforms(self) -> Mapping[str, Transform]:
        if self.transform not in TRANSFORMS:
            raise ParameterError(f"Relevance: transform must be one of {sorted(TRANSFORMS)}, got {self.transform!r}")
        return {"relevance": TRANSFORMS[self.transform]}

    roles: ClassVar[Mapping[str, Role]] = {"relevance": Role.FREE}

    def _embed(self, X: Inputs) -> Inputs:
        return scale_columns(X, np.sqrt(self.relevance), "relevance")

    def _pull(self, X: Floats, by_h: Floats) -> tuple[Floats, dict[str, Floats]]:
        root = np.sqrt(self.relevance)
        by_relevance = np.sum(X * by_h, axis=0) / (2.0 * root)
        one = np.ndim(self.relevance) == 0
        return by_h * root, {"relevance": by_relevance.sum() if one else by_relevance}


@dataclass(frozen=True, eq=False, repr=False)
class Periodic(Embedding):
    r"""Periodic functions: every column is wound around a circle (Thesis 2.1.8).

    .. math:: k(x, z) = k_1(h(x), h(z)), \qquad h(x) = \bigl(\cos(2 \pi x / p), \sin(2 \pi x / p)\bigr)

    Parameters
    ----------
    kernel : Kernel
        The kernel on the circles; RBF by default.
    period : float or array of shape (n_features,)
        p, one for all columns or one for each.
    """

    period: float | Floats = 1.0

    @property
    def shift_invariant(self) -> bool:
        return False

    transforms: ClassVar[Mapping[str, Transform]] = {"period": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"period": Role.FREE}

    def _embed(self, X: Inputs) -> Inputs:
        X = X.toarray() if sparse.issparse(X) else X
        angle = scale_columns(X, 2.0 * np.pi / np.asarray(self.period), "period")
        return np.hstack([np.cos(angle), np.sin(angle)])

    def _pull(self, X: Floats, by_h: Floats) -> tuple[Floats, dict[str, Floats]]:
        rate = 2.0 * np.pi / np.asarray(self.period)
        angle = X * rate
        by_cos, by_sin = np.hsplit(by_h, 2)
        by_angle = by_sin * np.cos(angle) - by_cos * np.sin(angle)
        by_period = -np.sum(by_angle * angle, axis=0) / self.period
        one = np.ndim(self.period) == 0
        return by_angle * rate, {"period": by_period.sum() if one else by_period}


@dataclass(frozen=True, eq=False, repr=False)
class Standardised(Embedding):
    r"""A kernel of columns that are centred and scaled first, by numbers that are not learned.

    .. math:: k(x, z) = k_1((x - c) / s, (z - c) / s)

    Parameters
    ----------
    kernel : Kernel
        Any kernel of numbers.
    centre, scale : float or array of shape (n_features,)
        c and s; for a sparse matrix c is zero.
    """

    centre: float | Floats = 0.0
    scale: float | Floats = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("centre", "scale"):
            value = np.array(getattr(self, name), dtype=np.float64)
            fits = value.ndim <= 1 and value.size and np.all(np.isfinite(value))
            if not fits or (name == "scale" and not np.all(value > 0.0)):
                raise ParameterError(f"Standardised: {name} must be {_WANTED[name]}, got {getattr(self, name)!r}")
            value.setflags(write=False)
            object.__setattr__(self, name, value if value.ndim else float(value))

    @property
    def shift_invariant(self) -> bool:
        return self.kernel.shift_invariant

    def _embed(self, X: Inputs) -> Inputs:
        if not np.any(self.centre) and np.ndim(self.centre) == 0:
            return scale_columns(X, 1.0 / np.asarray(self.scale), "scale")
        if sparse.issparse(X):
            raise ParameterError("Standardised: a sparse matrix cannot be centred; give centre=0")
        check_columns(X, self.centre, "centre")
        check_columns(X, self.scale, "scale")
        found: Floats = (X - np.asarray(self.centre)) / np.asarray(self.scale)
        return found.astype(np.result_type(X.dtype, np.float32), copy=False)

    def _pull(self, X: Floats, by_h: Floats) -> tuple[Floats, dict[str, Floats]]:
        return by_h / np.asarray(self.scale), {}


_WANTED = {"centre": "finite, a number or one for each column", "scale": "positive, a number or one for each column"}
