"""A kernel that was given, in the units of the rows: where learning begins as well, should it have others."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..kernels import MLP, Kernel, Linear, On, Polynomial, Product, Scaled, Standardised, Sum
from ..kernels.embedding import Relevance
from ..kernels.geometry import squared_norms
from ..kernels.named import shares_of, terms_of
from ..kernels.stationary import Stationary
from ..kernels.tasks import ByTask, Tasks
from .defaults import column_spreads, length_scales

__all__ = ["suited"]

_ROWS = 2000  # that are looked at


def suited(kernel: Kernel, X: Inputs, variance: float) -> list[Kernel]:
    """Return kernels of the same form that suit rows: one of their variance, and one of their length scales as well.

    Terms share the variance as those of a named kernel do. A length scale for each column is the one that the default
    kernel would have, one for all is the root of the summed variances. Relevances of categories, periods, and kernels
    of objects stay as they are.

    Parameters
    ----------
    kernel : Kernel
        Columns have numbers, not names.
    X : inputs
        Of which some rows are looked at.
    variance : float
        What the variance of a default kernel would be.
    """
    n = X.shape[0]
    some = kernel.in_double(X[np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp))])
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            louder = _of_variance(kernel, some, variance)
            return [louder, _of_variance(_of_columns(kernel, some), some, variance)] if kernel.numeric else [louder]
    except ParameterError:  # rows that no kernel of its form can take are refused with their numbers, by the fit
        return []


def _of_columns(kernel: Kernel, X: Inputs) -> Kernel:
    """The kernel with length scales that suit the columns of X, all terms in it of variance one."""
    if isinstance(kernel, Stationary):
        return replace(kernel, length_scale=_length_scale(kernel, X))
    if isinstance(kernel, Linear | Polynomial | MLP):
        return _of_products(kernel, X)
    if isinstance(kernel, Sum | Product):
        return replace(kernel, left=_part(kernel.left, X), right=_part(kernel.right, X))
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=_part(kernel.kernel, X))
    if isinstance(kernel, On):
        return replace(kernel, kernel=_part(kernel.kernel, kernel._of(X)))
    if isinstance(kernel, ByTask):
        return replace(kernel, kernel=_part(kernel.kernel, kernel._split(X)[1]))
    if isinstance(kernel, Relevance) and kernel.transform != "sigmoid":  # which keeps them below one
        kernel = replace(kernel, relevance=_like(kernel.relevance, 1.0 / _variances(X)))
    if isinstance(kernel, Standardised | Relevance):
        return replace(kernel, kernel=_part(kernel.kernel, kernel._embed(X)))
    return kernel


def _part(kernel: Kernel, X: Inputs) -> Kernel:
    return _of_variance(_of_columns(kernel, X), X, 1.0)


def _length_scale(kernel: Stationary, X: Inputs) -> float | Floats:
    deviation, extent = column_spreads(X)
    if np.ndim(kernel.length_scale):
        return np.broadcast_to(length_scales(deviation, extent), np.shape(kernel.length_scale)).astype(np.float64)
    return float(np.sqrt(np.sum(deviation**2))) or 1.0


def _variances(X: Inputs) -> Floats:
    """Variance of each column; one where it is zero."""
    deviation, _ = column_spreads(X)
    return np.where(deviation > 0.0, deviation, 1.0) ** 2


def _like(given: float | Floats, found: Floats) -> float | Floats:
    """What was found for each column, or one for all where that was given."""
    return np.broadcast_to(found, np.shape(given)).copy() if np.ndim(given) else float(np.exp(np.mean(np.log(found))))


def _of_products(kernel: Linear | Polynomial | MLP, X: Inputs) -> Kernel:
    """A kernel of inner products that sees rows as if each column were of size one."""
    size = _mean_squares(X)
    if not isinstance(kernel, Polynomial) and kernel.relevance is not None:
        return replace(kernel, relevance=1.0 / size)
    mean = float(np.mean(size))
    if isinstance(kernel, Polynomial):
        return replace(kernel, offset=kernel.offset * mean)
    return replace(kernel, weight_variance=kernel.weight_variance / mean) if isinstance(kernel, MLP) else kernel


def _mean_squares(X: Inputs) -> Floats:
    """Mean square of each column; one where it is zero."""
    size = np.asarray(squared_norms(X.T.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X.T))) / X.shape[0]
    return np.where(size > 0.0, size, 1.0)


def _of_variance(kernel: Kernel, X: Inputs, variance: float) -> Kernel:
    """The kernel with terms that share a variance, where they have an amplitude."""
    if isinstance(kernel, Tasks):  # with one task it is the kernel inside
        return replace(kernel, kernel=_of_variance(kernel.kernel, kernel._split(X)[1], variance))
    terms = terms_of(kernel)
    louder = [_times(term, share * variance, X) for term, share in zip(terms, shares_of(terms), strict=True)]
    return _joined(kernel, iter(louder))


def _times(term: Kernel, variance: float, X: Inputs) -> Kernel:
    now = float(np.mean(term.diag(X)))
    factor = variance / now if now > 0.0 else np.nan
    return (term.times(factor) if 0.0 < factor < np.inf else None) or term


def _joined(kernel: Kernel, terms: Iterator[Kernel]) -> Kernel:
    """The same sum of other terms."""
    if isinstance(kernel, Sum):
        return replace(kernel, left=_joined(kernel.left, terms), right=_joined(kernel.right, terms))
    return next(terms)
