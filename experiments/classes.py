"""Data sets with classes, and what the experiments on them share."""

from typing import NamedTuple

import numpy as np

from experiments.data import stored
from infovec.kernels import RBF
from infovec.learning import Model, VariationalBound, optimise
from infovec.likelihoods.classes import MultivariateProbit

__all__ = ["Split", "error", "from_precision", "learn_precisions", "merged", "official", "standardised"]


class Split(NamedTuple):
    """Training and test rows; labels are 0 to C - 1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def some(self, rows: int | None, test_rows: int | None, seed: int = 0) -> "Split":
        """Return a random subset."""
        rng = np.random.default_rng(seed)
        train, test = rng.permutation(len(self.y))[:rows], rng.permutation(len(self.y_test))[:test_rows]
        return Split(self.X[train], self.y[train], self.X_test[test], self.y_test[test])


def official(name: str) -> Split:
    """Return the split that a data set comes with."""
    file = stored(name)
    X, X_test = (file[f"X_{part}"].astype(np.float64) for part in ("train", "test"))
    y, y_test = (file[f"y_{part}"].astype(np.intp) for part in ("train", "test"))
    return Split(X, y, X_test, y_test)


def merged(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a data set, with or without a split."""
    file = stored(name)
    parts = [part for part in ("", "_train", "_test") if f"X{part}" in file]
    X, y = (np.concatenate([file[f"{letter}{part}"] for part in parts]) for letter in "Xy")
    return X.astype(np.float64), y.astype(np.intp)


def standardised(split: Split) -> Split:
    """Bring the columns to mean zero and variance one on the training rows; drop constant ones."""
    mean, sd = split.X.mean(axis=0), split.X.std(axis=0)
    keep = sd > 1e-12
    X, X_test = ((X - mean)[:, keep] / sd[keep] for X in (split.X, split.X_test))
    return Split(X, split.y, X_test, split.y_test)


def error(log_proba: np.ndarray, y: np.ndarray) -> float:
    """Share of errors, in per cent."""
    return 100.0 * float(np.mean(log_proba.argmax(axis=1) != y))


def from_precision(phi: float | np.ndarray, variance: float = 1.0) -> RBF:
    """Return GR06's kernel, exp(-sum_d phi_d (x_d - z_d)^2)."""
    return RBF(np.sqrt(0.5 / np.asarray(phi, dtype=np.float64)), variance)


def learn_precisions(X: np.ndarray, y: np.ndarray, each: bool, iterations: int, variance: bool = False) -> RBF:
    """Maximise the variational bound with all rows active, from GR06's start: all precisions one.

    ``each`` learns one precision for every column, else one for all, which starts at 1 / p; ``variance`` learns the
    variance too, which GR06 keeps at one.
    """
    start = from_precision(np.full(X.shape[1], 1.0) if each else 1.0 / X.shape[1])
    likelihood = MultivariateProbit(np.zeros(y.max() + 1))
    free = start.theta.size if variance else start.theta.size - 1
    group = np.full(start.theta.size + likelihood.n_classes, -1)
    group[:free] = np.arange(free)
    model = Model(start, likelihood, np.concatenate([start.theta, likelihood.theta]), group)
    learned, *_ = optimise(VariationalBound(X, y, np.arange(len(y)), tolerance=1e-3), model, iterations)
    assert isinstance(learned.kernel, RBF)
    return learned.kernel
