"""Kernels as ONNX operations: the matrix to the active inputs, and the diagonal."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from ..kernels import (
    RBF,
    Bias,
    Categorical,
    Exponential,
    Grouped,
    Kernel,
    Linear,
    MainEffects,
    Matern,
    On,
    Polynomial,
    Product,
    RationalQuadratic,
    Relevance,
    Scaled,
    Standardised,
    Sum,
    White,
)
from ..kernels.stationary import Stationary
from .graph import Graph

__all__ = ["diagonal", "matrix"]


def matrix(g: Graph, kernel: Kernel, X: str, Z: Floats) -> str:
    """Return k(X, Z), of shape (n, d)."""
    if type(kernel) not in _KNOWN:
        raise _unknown(kernel)
    if isinstance(kernel, Sum | Product):
        left, right = matrix(g, kernel.left, X, Z), matrix(g, kernel.right, X, Z)
        return g.do("Add" if isinstance(kernel, Sum) else "Mul", left, right)
    if isinstance(kernel, Scaled):
        return g.times(matrix(g, kernel.kernel, X, Z), kernel.factor)
    if isinstance(kernel, Relevance):
        root = np.sqrt(kernel.relevance)
        return matrix(g, kernel.kernel, g.times(X, root), Z * root)
    if isinstance(kernel, Standardised):
        centre, scale = np.asarray(kernel.centre), np.asarray(kernel.scale)
        return matrix(g, kernel.kernel, _standardised(g, X, kernel), (Z - centre) / scale)
    if isinstance(kernel, Grouped):
        return matrix(g, kernel.whole, X, Z)
    if isinstance(kernel, On):
        return matrix(g, kernel.kernel, _some(g, X, kernel), Z[:, np.array(kernel.columns)])
    if isinstance(kernel, Categorical):
        return _categorical(g, kernel, X, Z)
    if isinstance(kernel, MainEffects):
        return _main_effects(g, kernel, X, Z)
    if isinstance(kernel, Bias | White):
        constant = g.constant(np.full((1, len(Z)), kernel.variance if isinstance(kernel, Bias) else 0.0))
        return g.add(_zeros(g, X, keep=True), constant)
    if isinstance(kernel, Linear):
        weight = kernel.variance * (1.0 if kernel.relevance is None else np.asarray(kernel.relevance))
        return g.do("MatMul", X, g.constant((Z * weight).T))
    if isinstance(kernel, Polynomial):
        return _polynomial(g, kernel, g.do("MatMul", X, g.constant(Z.T)), _squares(g, X, keep=True), np.sum(Z**2, 1))
    assert isinstance(kernel, Stationary)
    scale = 1.0 / np.asarray(kernel.length_scale)
    return g.times(_PROFILES[type(kernel)](g, kernel, _distances(g, g.times(X, scale), Z * scale)), kernel.variance)


def diagonal(g: Graph, kernel: Kernel, X: str) -> str:
    """Return k(x, x) for every row, white noise included, of shape (n,)."""
    if isinstance(kernel, Sum | Product):
        left, right = diagonal(g, kernel.left, X), diagonal(g, kernel.right, X)
        return g.do("Add" if isinstance(kernel, Sum) else "Mul", left, right)
    if isinstance(kernel, Scaled):
        return g.times(diagonal(g, kernel.kernel, X), kernel.factor)
    if isinstance(kernel, Relevance):
        return diagonal(g, kernel.kernel, g.times(X, np.sqrt(kernel.relevance)))
    if isinstance(kernel, Standardised):
        return diagonal(g, kernel.kernel, _standardised(g, X, kernel))
    if isinstance(kernel, Grouped):
        return diagonal(g, kernel.whole, X)
    if isinstance(kernel, On):
        return diagonal(g, kernel.kernel, _some(g, X, kernel))
    if isinstance(kernel, MainEffects):
        return diagonal(g, kernel.kernel, X)
    if isinstance(kernel, Linear):
        root = 1.0 if kernel.relevance is None else np.sqrt(kernel.relevance)
        return g.times(_squares(g, g.times(X, root)), kernel.variance)
    assert isinstance(kernel, Bias | White | Polynomial | Stationary | Categorical)
    return g.plus(_zeros(g, X), kernel.variance)


def _unknown(kernel: Kernel) -> ParameterError:
    return ParameterError(
        f"{kernel!r} cannot be exported to ONNX; these can: RBF, Matern with nu 0.5, 1.5, 2.5 or infinity, "
        "Exponential, RationalQuadratic, MainEffects of these, Linear, Polynomial, Categorical, Bias, White, and sums, "
        "products, multiples, Relevance, Standardised, Grouped and On of these"
    )


def _standardised(g: Graph, X: str, kernel: Standardised) -> str:
    """Return the columns centred and scaled."""
    return g.times(g.plus(X, -np.asarray(kernel.centre)), 1.0 / np.asarray(kernel.scale))


def _some(g: Graph, X: str, kernel: On) -> str:
    """Return the columns that a kernel looks at."""
    return g.do("Gather", X, g.constant(np.array(kernel.columns, dtype=np.int64)), axis=1)


def _categorical(g: Graph, kernel: Categorical, X: str, Z: Floats) -> str:
    """Column by column: whether rows differ, times the relevance."""
    total = g.constant(0.0)
    for j, relevance in enumerate(np.broadcast_to(kernel.relevance, (Z.shape[1],))):
        same = g.do("Equal", g.do("Gather", X, g.constant(np.array([j])), axis=1), g.constant(Z[None, :, j]))
        total = g.add(total, g.do("Where", same, g.constant(0.0), g.constant(float(relevance))))
    return g.times(_exp(g, total, -1.0), kernel.variance)


def _main_effects(g: Graph, kernel: MainEffects, X: str, Z: Floats) -> str:
    """The average of the kernels of all columns."""
    one, p = kernel.kernel, Z.shape[1]
    if type(one) not in _PROFILES:
        raise _unknown(kernel)
    total = g.constant(0.0)
    for j, scale in enumerate(np.broadcast_to(one.length_scale, (p,)) / np.sqrt(p)):
        column = g.times(g.plus(g.do("Gather", X, g.constant(np.array([j])), axis=1), -Z[0, j]), 1.0 / scale)
        away = g.plus(column, -(Z[None, :, j] - Z[0, j]) / scale)
        total = g.add(total, _PROFILES[type(one)](g, one, g.do("Mul", away, away)))
    return g.times(total, one.variance / p)


def _zeros(g: Graph, X: str, keep: bool = False) -> str:
    return g.times(g.row_sums(X, keep), 0.0)


def _squares(g: Graph, X: str, keep: bool = False) -> str:
    return g.row_sums(g.do("Mul", X, X), keep)


def _distances(g: Graph, X: str, Z: Floats) -> str:
    """Squared distances by |x|^2 + |z|^2 - 2 x'z, around the mean of Z."""
    centre = Z.mean(axis=0)
    X, Z = g.plus(X, -centre), Z - centre
    product = g.times(g.do("MatMul", X, g.constant(Z.T)), -2.0)
    total = g.plus(g.add(product, _squares(g, X, keep=True)), np.sum(Z**2, axis=1))
    return g.do("Max", total, g.constant(0.0))


def _exp(g: Graph, a: str, factor: float) -> str:
    return g.do("Exp", g.times(a, factor))


def _rbf(g: Graph, kernel: Any, D: str) -> str:
    return _exp(g, D, -0.5)


def _matern(g: Graph, kernel: Any, D: str) -> str:
    if np.isinf(kernel.nu):
        return _exp(g, D, -0.5)
    if kernel.nu not in (0.5, 1.5, 2.5):
        raise _unknown(kernel)
    t = g.do("Sqrt", g.times(D, 2.0 * kernel.nu))
    decay = _exp(g, t, -1.0)
    if kernel.nu == 0.5:
        return decay
    polynomial = g.plus(t, 1.0)
    if kernel.nu == 2.5:
        polynomial = g.add(polynomial, g.times(g.do("Mul", t, t), 1.0 / 3.0))
    return g.do("Mul", polynomial, decay)


def _exponential(g: Graph, kernel: Any, D: str) -> str:
    return _exp(g, g.do("Pow", D, g.constant(0.5 * kernel.power)), -1.0)


def _rational(g: Graph, kernel: Any, D: str) -> str:
    return g.do("Pow", g.plus(g.times(D, 0.5 / kernel.alpha), 1.0), g.constant(-float(kernel.alpha)))


def _polynomial(g: Graph, kernel: Polynomial, S: str, xx: str, zz: Floats) -> str:
    """The normalised form of the Thesis 2.1.8."""
    norms = g.do("Sqrt", g.do("Mul", g.plus(xx, kernel.offset), g.constant(zz + kernel.offset)))
    cosine = g.do("Div", g.plus(S, kernel.offset), norms)
    return g.times(g.do("Pow", cosine, g.constant(float(kernel.degree))), kernel.variance)


_PROFILES: dict[type, Callable[[Graph, Any, str], str]] = {
    RBF: _rbf,
    Matern: _matern,
    Exponential: _exponential,
    RationalQuadratic: _rational,
}
_KNOWN = frozenset(
    [
        *_PROFILES,
        MainEffects,
        Linear,
        Polynomial,
        Categorical,
        Grouped,
        On,
        Bias,
        White,
        Sum,
        Product,
        Scaled,
        Standardised,
        Relevance,
    ]
)
