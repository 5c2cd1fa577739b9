"""The toy data of LSH05 4.1."""

import numpy as np

from infovec.kernels import RBF

__all__ = ["clusters", "ordered", "ordered_polar", "regression_one", "regression_two", "unit_square"]

Data = tuple[np.ndarray, np.ndarray]
_NOISE = 0.001  # variance in the regressions
_CATEGORIES, _APART = 7, 3.0
_FIRST_RADIUS = 6.0  # of the lowest category, on average


def regression_one(rows: int, rng: np.random.Generator) -> Data:
    """A function of the second input."""
    return _regression(np.array([0.0, 1.0]), rows, rng)


def regression_two(rows: int, rng: np.random.Generator) -> Data:
    """A function that varies more along the first input."""
    return _regression(np.array([1.0, 0.2]), rows, rng)


def _regression(relevance: np.ndarray, rows: int, rng: np.random.Generator) -> Data:
    """Inputs from two Gaussians, a draw from the process at them, and noise."""
    X = 0.5 * rng.standard_normal((rows, 2)) + np.where(np.arange(rows) < rows // 2, 1.0, -1.0)[:, None]
    f = _draw(RBF(20.0**-0.5, 1.0), X * np.sqrt(relevance), rng)
    return X, f + np.sqrt(_NOISE) * rng.standard_normal(rows)


def clusters(rows: int, rng: np.random.Generator) -> Data:
    """Three Gaussians above one another, the middle one a class of its own."""
    X, part = rng.standard_normal((rows, 2)), np.arange(rows) % 3
    X[:, 1] += 6.0 * (part - 1)
    return X, np.where(part == 1, -1, 1)


def unit_square(rows: int, rng: np.random.Generator) -> Data:
    """Uniform inputs, and classes by the cumulative Gaussian of a draw from the process."""
    X = rng.uniform(size=(rows, 2))
    f = _draw(RBF(10.0**-0.5, 100.0), X, rng)
    return X, np.where(f + rng.standard_normal(rows) > 0.0, 1, -1)


def ordered(rows: int, rng: np.random.Generator) -> Data:
    """Seven Gaussians above one another, in order."""
    y = np.arange(rows) % _CATEGORIES
    X = rng.standard_normal((rows, 2))
    X[:, 1] += _APART * (y - _CATEGORIES // 2)
    return X, y


def ordered_polar(rows: int, rng: np.random.Generator) -> Data:
    """The same as angle and radius."""
    X, y = ordered(rows, rng)
    angle, radius = X[:, 0], X[:, 1] + _APART * (_CATEGORIES // 2) + _FIRST_RADIUS
    return np.column_stack([radius * np.sin(angle), radius * np.cos(angle)]), y


def _draw(kernel: RBF, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One function of the process, at the rows."""
    K = kernel(X)
    K[np.diag_indices(len(K))] += 1e-9 * kernel.variance
    return np.linalg.cholesky(K) @ rng.standard_normal(len(X))
