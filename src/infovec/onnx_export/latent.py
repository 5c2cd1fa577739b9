"""Posteriors as ONNX operations: latent means and variances."""

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from .._types import Floats
from ..errors import NotPositiveDefinite
from ..numerics.cholesky import inverse_lower
from ..posterior import ClassPosterior, Posterior, ProjectedPosterior, SeparatePosterior
from .graph import Graph
from .kernels import diagonal, matrix

__all__ = ["latent", "parts"]


def parts(posterior: Posterior) -> tuple[Posterior, ...]:
    """Return the posteriors of the single latent functions."""
    return posterior.parts if isinstance(posterior, ClassPosterior | SeparatePosterior) else (posterior,)


def latent(g: Graph, posterior: Posterior) -> tuple[str, str]:
    """Mean and variance of one function, of shape (n,), or of one for each class, (n, C)."""
    X = g.cast("X", g.types.DOUBLE)
    if isinstance(posterior, ClassPosterior):
        K, prior = _kernel(g, posterior, X), diagonal(g, posterior.kernel, X)
        found = [(_mean(g, part, K), _variance(g, part, K, prior)) for part in posterior.parts]
    else:
        found = [_one(g, part, X) for part in parts(posterior)]
    means, variances = zip(*found, strict=True)
    return _beside(g, means, "latent_mean"), _beside(g, variances, "latent_variance")


def _beside(g: Graph, columns: tuple[str, ...], name: str) -> str:
    """One column as it is, several as a matrix."""
    if len(columns) == 1:
        return g.do("Identity", columns[0], name=name)
    upright = (g.do("Unsqueeze", column, g.constant(np.array([1]))) for column in columns)
    return g.do("Concat", *upright, name=name, axis=1)


def _one(g: Graph, part: Posterior, X: str) -> tuple[str, str]:
    K = _kernel(g, part, X)
    return _mean(g, part, K), _variance(g, part, K, diagonal(g, part.kernel, X))


def _kernel(g: Graph, posterior: Posterior, X: str) -> str:
    Z = posterior.X.toarray() if sparse.issparse(posterior.X) else posterior.X
    return matrix(g, posterior.kernel, X, np.asarray(Z, dtype=np.float64))


def _mean(g: Graph, part: Posterior, K: str) -> str:
    """The mean k'xi."""
    return g.do("MatMul", K, g.constant(part.weights))


def _variance(g: Graph, part: Posterior, K: str, prior: str) -> str:
    """The variance k(x, x) - |T k|^2."""
    try:
        explained = _squared(g, K, part.reduction)
    except NotPositiveDefinite:  # |l|^2 - |l^M|^2 of Thesis eq. 4.13, as the posterior itself has it then
        assert isinstance(part, ProjectedPosterior)
        before = inverse_lower(part.L)
        after = solve_triangular(part.Q, before, lower=True)
        explained = g.do("Sub", _squared(g, K, before), _squared(g, K, np.asarray(after)))
    return g.do("Max", g.do("Sub", prior, explained), g.constant(0.0))


def _squared(g: Graph, K: str, T: Floats) -> str:
    stubs = g.do("MatMul", K, g.constant(T.T))
    return g.row_sums(g.do("Mul", stubs, stubs))
