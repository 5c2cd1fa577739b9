"""Tasks drawn from a Gaussian process."""

from typing import NamedTuple

import numpy as np

from infovec.kernels import RBF, Bias

__all__ = ["CORRELATED", "TRUE", "Rows", "correlated_tasks", "draw_tasks"]

TRUE = RBF(1.5, 8.0) + Bias(1.0)
CORRELATED = np.array([[1.0, 0.8, -0.5], [0.8, 1.2, -0.2], [-0.5, -0.2, 0.7]])


class Rows(NamedTuple):
    """Inputs, labels and tasks."""

    X: np.ndarray
    y: np.ndarray
    task: np.ndarray


def draw_tasks(n_tasks: int, n: int, m: int, seed: int) -> tuple[Rows, Rows]:
    """Return n rows to train and m to test of each task, with labels of a probit."""
    rng, task = np.random.default_rng(seed), np.repeat(np.arange(n_tasks), n + m)
    X = rng.uniform(-3.0, 3.0, size=(len(task), 2))
    f = np.concatenate([_draw(TRUE(X[task == t]), rng) for t in range(n_tasks)])
    y = (f + rng.normal(size=len(f)) > 0.0).astype(np.intp)
    first = np.tile(np.arange(n + m) < n, n_tasks)
    return Rows(X[first], y[first], task[first]), Rows(X[~first], y[~first], task[~first])


def correlated_tasks(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n rows of each of three tasks of known covariance, with a little noise."""
    rng, task = np.random.default_rng(seed), np.repeat(np.arange(3), n)
    X = rng.uniform(-10.0, 10.0, size=(3 * n, 1))
    f = _draw(RBF(1.0)(X) * CORRELATED[np.ix_(task, task)], rng)
    return X, f + 0.1 * rng.normal(size=len(f)), task


def _draw(K: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.linalg.cholesky(K + 1e-8 * np.eye(len(K))) @ rng.normal(size=len(K))
