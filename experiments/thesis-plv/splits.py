"""The data as Thesis 4.8.2 prepares them."""

from typing import NamedTuple

import numpy as np

from experiments.data import whole

__all__ = ["Split", "make_split"]


class Split(NamedTuple):
    """Training and test rows of one run."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def make_split(name: str, run: int) -> Split:
    """Split at random; take off a linear regression fit; bring inputs and targets to unit variance.

    Everything is estimated on the training rows. They come in random order, so that the first m are a random subset.
    """
    X, y, n = whole(name)
    order = np.random.default_rng(run).permutation(len(y))
    X, y = X[order], y[order]
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    design = np.column_stack([np.ones(len(y)), X])
    y = y - design @ np.linalg.lstsq(design[:n], y[:n], rcond=None)[0]
    y /= y[:n].std()
    return Split(X[:n], y[:n], X[n:], y[n:])
