"""Kernels by their names, and kernels of standardised columns."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from .additive import MainEffects
from .algebra import Kernel, Product, Scaled, Sum
from .columns import On, parts_of
from .constant import Bias, White
from .dot_product import MLP, Linear, Polynomial
from .embedding import Standardised
from .stationary import RBF, Exponential, Matern, RationalQuadratic, Stationary

__all__ = ["NAMES", "named", "of_scaled", "of_variance", "shares_of", "terms_of"]

NAMES: Final[Mapping[str, Callable[[], Kernel]]] = {
    "rbf": RBF,
    "matern": Matern,
    "exponential": Exponential,
    "rational_quadratic": RationalQuadratic,
    "linear": Linear,
    "main_effects": MainEffects,
    "polynomial": Polynomial,
    "mlp": MLP,
    "bias": Bias,
    "white": White,
}
_LONGEST = 1000  # characters
_CONSTANT_SHARE = 0.1  # of the variance, that a bias or white noise has


def named(text: str) -> Kernel:
    """Return the kernel that a text names, with the default parameters of each.

    Parameters
    ----------
    text : str
        A name, of which there are "rbf", "matern", "exponential", "rational_quadratic", "linear",
        "main_effects", "polynomial", "mlp", "bias" and "white", or sums, products and positive multiples of names, with
        parentheses where wanted: "rbf + linear", "rbf * (matern + 0.5 * linear)". Capitals do not matter.

    Examples
    --------
    >>> named("rbf + 0.5 * linear")
    RBF(length_scale=1, variance=1) + 0.5 * Linear(variance=1, relevance=None)
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ParameterError(f"a kernel is named by a text of at most {_LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        found = _kernel(tree, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ParameterError):
            raise
        raise _not_understood(text) from error
    if isinstance(found, Kernel):
        return found
    raise _not_understood(text)


def _kernel(node: ast.AST, text: str) -> Kernel | float:
    """The kernel, or the number, that a part of a text says."""
    if isinstance(node, ast.Name):
        name = node.id.lower()
        if name not in NAMES:
            raise _not_understood(text, f": {node.id!r} is none")
        return NAMES[name]()
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _kernel(node.left, text), _kernel(node.right, text)
        if isinstance(node.op, ast.Add) and isinstance(left, Kernel) and isinstance(right, Kernel):
            return left + right
        if isinstance(node.op, ast.Mult) and isinstance(left, Kernel):
            return left * right
        if isinstance(node.op, ast.Mult) and isinstance(right, Kernel):
            return right * left
    raise _not_understood(text)


def _not_understood(text: str, why: str = "") -> ParameterError:
    return ParameterError(
        f"kernel {text!r} is not understood{why}; the names are {', '.join(NAMES)}, put together with + and *, "
        "such as 'rbf + linear'"
    )


def of_scaled(kernel: Kernel, centre: float | Floats, scale: float | Floats) -> Kernel:
    r"""Return the kernel of columns that are centred and scaled.

    .. math:: k'(x, z) = k((x - c) / s, (z - c) / s)

    Length scales are multiplied by s, constants stay, and other kernels see the columns through ``Standardised``.

    Parameters
    ----------
    kernel : Kernel
    centre, scale : float or array of shape (n_features,)
        c and s.
    """
    if isinstance(kernel, Stationary):
        length_scale = kernel.length_scale * scale
        return replace(kernel, length_scale=length_scale)
    if isinstance(kernel, Bias | White):
        return kernel
    if isinstance(kernel, MainEffects):
        return replace(kernel, kernel=replace(kernel.kernel, length_scale=kernel.kernel.length_scale * scale))
    if isinstance(kernel, Sum | Product):
        left, right = (of_scaled(part, centre, scale) for part in (kernel.left, kernel.right))
        return replace(kernel, left=left, right=right)
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=of_scaled(kernel.kernel, centre, scale))
    if isinstance(kernel, On):
        at = [int(c) for c in kernel.columns]
        centre, scale = (part if np.ndim(part) == 0 else np.asarray(part)[at] for part in (centre, scale))
        return replace(kernel, kernel=of_scaled(kernel.kernel, centre, scale))
    if isinstance(kernel, Standardised):
        return Standardised(kernel.kernel, centre + scale * np.asarray(kernel.centre), scale * np.asarray(kernel.scale))
    return Standardised(kernel, centre, scale)


def of_variance(kernel: Kernel, variance: float) -> Kernel:
    """Return a named kernel with a variance that its terms share, and a bias of a tenth of it if it has none.

    Constant terms, a bias and white noise, have a tenth each.
    """
    terms = terms_of(kernel)
    shares = shares_of(terms)
    found = [term.times(share * variance) for term, share in zip(terms, shares, strict=True)]
    if not any(isinstance(part, Bias) for part in parts_of(kernel)):
        found.append(Bias(_CONSTANT_SHARE * variance))
    total: Kernel | None = None
    for term in found:
        assert term is not None  # every kernel that has a name has an amplitude
        total = term if total is None else total + term
    assert total is not None
    return total


def terms_of(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum, from left to right; of anything else itself."""
    return [*terms_of(kernel.left), *terms_of(kernel.right)] if isinstance(kernel, Sum) else [kernel]


def shares_of(terms: list[Kernel]) -> list[float]:
    """Return the share that each term of a kernel has of its variance: equal ones, and constants a tenth."""
    varying = sum(not _constant(term) for term in terms)
    return [_CONSTANT_SHARE if _constant(term) else 1.0 / varying for term in terms]


def _constant(kernel: Kernel) -> bool:
    """Whether a term is made of constants alone."""
    if isinstance(kernel, Bias | White):
        return True
    parts = [part for _, part in kernel._children() if isinstance(part, Kernel)]
    return bool(parts) and all(_constant(part) for part in parts)
