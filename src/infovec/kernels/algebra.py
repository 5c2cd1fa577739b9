"""What every kernel can do, and sums, products and multiples of kernels."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..numerics.parameters import Parametrised
from ..numerics.roles import Role
from ..numerics.transforms import LOG, Transform

__all__ = ["Block", "Kernel", "Product", "Scaled", "Sum"]

Block: TypeAlias = Callable[[Inputs], Floats]
"""A kernel with one argument bound: maps X to the matrix k(X, Z), which may be read-only if it is constant."""


@dataclass(frozen=True, eq=False, repr=False)
class Kernel(Parametrised, ABC):
    """Covariance function k(x, z). An immutable value.

    Kernels are added and multiplied with ``+`` and ``*``; a positive number times a kernel is a kernel.
    Matrices come out in the precision of the inputs; gradients are computed in double precision.
    """

    amplitude: ClassVar[str | None] = None
    """Name of the parameter that all values are proportional to, if there is one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, part in self._children():
            if not isinstance(part, Kernel):
                raise ParameterError(f"{type(self).__name__}: {name} must be a kernel, got {part!r}")

    @abstractmethod
    def on(self, Z: Inputs) -> Block:
        """Return the function X -> k(X, Z), with everything that depends on Z alone computed once."""

    @abstractmethod
    def diag(self, X: Inputs) -> Floats:
        """k(x, x) for every row, white noise included."""

    @abstractmethod
    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        """Gradient in theta of <G, k(X, Z)>, without forming a three-dimensional array."""

    @abstractmethod
    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        """Gradient in theta of w' diag(X)."""

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        """Gradients of <G, k(X, Z)> in X and in Z."""
        raise TypeError(f"{type(self).__name__} has no gradient in its inputs, so they cannot be scaled")

    def vjp_with_inputs(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        """Gradients of <G, k(X, Z)> in theta and in Z: ``vjp`` and the second of ``input_vjp``."""
        return self.vjp(X, Z, G), self.input_vjp(X, Z, G)[1]

    def square_input_vjp(self, X: Inputs, G: Floats) -> Floats:
        """Gradient of <G, k(X, X)> in X, white noise on the diagonal included."""
        off = np.array(G, dtype=np.float64)
        np.fill_diagonal(off, 0.0)
        by_rows, by_columns = self.input_vjp(X, X, off)
        return by_rows + by_columns + self.diag_input_vjp(X, np.diagonal(G))

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        """Gradient of w' diag(X) in X."""
        raise TypeError(f"{type(self).__name__} has no gradient in its inputs, so they cannot be scaled")

    def part_by_part(self, Z: Inputs) -> Block:
        """Return the same as ``on``, but bind one part to Z at a time, in every call: each may keep a copy of it."""
        return self.on(Z)

    @property
    def n_parts(self) -> int:
        """How many kernels it is made of: itself and all parts of its parts."""
        found, ahead = 0, [self]
        while ahead:
            found += 1
            ahead += [part for _, part in ahead.pop()._children() if isinstance(part, Kernel)]
        return found

    @property
    def numeric(self) -> bool:
        """Whether inputs are rows of numbers (else any objects)."""
        return all(part.numeric for _, part in self._children() if isinstance(part, Kernel))

    @property
    def shift_invariant(self) -> bool:
        """Whether moving all inputs by the same vector changes nothing."""
        parts = [part for _, part in self._children() if isinstance(part, Kernel)]
        return bool(parts) and all(part.shift_invariant for part in parts)

    def in_double(self, X: Inputs) -> Inputs:
        """Return inputs in double precision; objects as they are."""
        return X.astype(np.float64, copy=False) if self.numeric else X

    def __call__(self, X: Inputs, Z: Inputs | None = None) -> Floats:
        """K[i, j] = k(X[i], Z[j]); without Z the rows of X with themselves, white noise included."""
        if self.numeric:
            X, Z = _as_inputs(X), None if Z is None else _as_inputs(Z)
            if Z is not None and X.shape[1] != Z.shape[1]:
                raise ParameterError(f"X has {X.shape[1]} columns, Z has {Z.shape[1]}")
        if Z is not None:
            return _writable(self.on(Z)(X))
        K = _writable(self.on(X)(X))
        np.fill_diagonal(K, self.diag(X))
        return K

    def times(self, factor: float) -> "Kernel | None":
        """Return the kernel of the same form whose values are ``factor`` times these, or None if there is no such."""
        name = self.amplitude
        if name is None or name not in self.transforms:
            return None
        try:
            return replace(self, **{name: factor * getattr(self, name)})
        except TypeError:  # a class of the user's own that is made in another way
            return None

    def _square_vjp(self, X: Inputs, G: Floats) -> Floats:
        """``vjp`` of rows with themselves: the diagonal of K is ``diag``."""
        off = np.array(G, dtype=np.float64)
        np.fill_diagonal(off, 0.0)
        return self.vjp(X, X, off) + self.diag_vjp(X, np.diagonal(G))

    def __add__(self, other: "Kernel") -> "Sum":
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: float) -> "Kernel":
        return self if other == 0 else NotImplemented  # sum([...]) starts from zero

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


def _writable(K: Floats) -> Floats:
    """K, or a copy where it is a constant without memory of its own."""
    return K if K.flags.writeable else K.copy()


def _as_inputs(X: Inputs) -> Inputs:
    """Lists, frames and whole numbers as float64; floating point arrays and CSR matrices as they are."""
    X = X if isinstance(X, np.ndarray) or sparse.issparse(X) else np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class _Two(Kernel):
    """Two kernels, whose values are put together one by one."""

    _parts: ClassVar[tuple[str, ...]] = ("left", "right")
    _join: ClassVar[np.ufunc]
    left: Kernel
    right: Kernel

    def on(self, Z: Inputs) -> Block:
        return self._joined(self.left.on(Z), self.right.on(Z))

    def part_by_part(self, Z: Inputs) -> Block:
        left, right = self.left.part_by_part, self.right.part_by_part
        return self._joined(lambda X: left(Z)(X), lambda X: right(Z)(X))

    def _joined(self, left: Block, right: Block) -> Block:
        def block(X: Inputs) -> Floats:
            K = _writable(left(X))
            return self._join(K, right(X), out=K)

        return block

    def diag(self, X: Inputs) -> Floats:
        return self._join(self.left.diag(X), self.right.diag(X))


@dataclass(frozen=True, eq=False, repr=False)
class Sum(_Two):
    r"""Sum of two kernels.

    .. math:: k(x, z) = k_1(x, z) + k_2(x, z)
    """

    _join = np.add

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        return np.concatenate([self.left.vjp(X, Z, G), self.right.vjp(X, Z, G)])

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        return np.concatenate([self.left.diag_vjp(X, w), self.right.diag_vjp(X, w)])

    def vjp_with_inputs(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        (a, b), (c, d) = self.left.vjp_with_inputs(X, Z, G), self.right.vjp_with_inputs(X, Z, G)
        return np.concatenate([a, c]), b + d

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        (a, b), (c, d) = self.left.input_vjp(X, Z, G), self.right.input_vjp(X, Z, G)
        return a + c, b + d

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self.left.diag_input_vjp(X, w) + self.right.diag_input_vjp(X, w)

    def times(self, factor: float) -> Kernel | None:
        left, right = self.left.times(factor), self.right.times(factor)
        return None if left is None or right is None else Sum(left, right)

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Product(_Two):
    r"""Product of two kernels.

    .. math:: k(x, z) = k_1(x, z) \, k_2(x, z)
    """

    _join = np.multiply

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        by_left, by_right = (
            self.left.vjp(X, Z, G * self.right(X, Z)),
            self.right.vjp(X, Z, G * self.left(X, Z)),
        )
        return np.concatenate([by_left, by_right])

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        by_left, by_right = (
            self.left.diag_vjp(X, w * self.right.diag(X)),
            self.right.diag_vjp(X, w * self.left.diag(X)),
        )
        return np.concatenate([by_left, by_right])

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        a, b = self.left.input_vjp(X, Z, G * self.right(X, Z))
        c, d = self.right.input_vjp(X, Z, G * self.left(X, Z))
        return a + c, b + d

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        by_left = self.left.diag_input_vjp(X, w * self.right.diag(X))
        return by_left + self.right.diag_input_vjp(X, w * self.left.diag(X))

    def times(self, factor: float) -> Kernel | None:
        left, right = self.left.times(factor), self.right.times(factor)
        if left is not None:
            return Product(left, self.right)
        return None if right is None else Product(self.left, right)

    def __repr__(self) -> str:
        left, right = (f"({k!r})" if isinstance(k, Sum) else repr(k) for k in (self.left, self.right))
        return f"{left} * {right}"


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Kernel):
    r"""A positive multiple of a kernel.

    .. math:: k(x, z) = c \, k_1(x, z)
    """

    _parts: ClassVar[tuple[str, ...]] = ("kernel",)
    amplitude = "factor"
    kernel: Kernel
    factor: float = 1.0

    transforms: ClassVar[Mapping[str, Transform]] = {"factor": LOG}
    roles: ClassVar[Mapping[str, Role]] = {"factor": Role.VARIANCE}

    def on(self, Z: Inputs) -> Block:
        inside = self.kernel.on(Z)

        def block(X: Inputs) -> Floats:
            K = _writable(inside(X))
            K *= self.factor
            return K

        return block

    def diag(self, X: Inputs) -> Floats:
        return self.factor * self.kernel.diag(X)

    def vjp(self, X: Inputs, Z: Inputs | None, G: Floats) -> Floats:
        own = self._gradient({"factor": np.sum(G * self.kernel(X, Z))})
        return np.concatenate([own, self.factor * self.kernel.vjp(X, Z, G)])

    def diag_vjp(self, X: Inputs, w: Floats) -> Floats:
        own = self._gradient({"factor": w @ self.kernel.diag(X)})
        return np.concatenate([own, self.factor * self.kernel.diag_vjp(X, w)])

    def input_vjp(self, X: Inputs, Z: Inputs, G: Floats) -> tuple[Floats, Floats]:
        return self.kernel.input_vjp(X, Z, self.factor * G)

    def diag_input_vjp(self, X: Inputs, w: Floats) -> Floats:
        return self.kernel.diag_input_vjp(X, self.factor * w)

    def __repr__(self) -> str:
        inside = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.factor:.6g} * {inside}"
