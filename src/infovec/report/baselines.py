"""What a model is compared with: the best constant, and a linear model."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._types import Array, Floats, Foreign, Rows
from ..evaluation import ClassPredictions, Predictions

__all__ = ["MOST", "OTHERS", "Baseline", "baselines", "fold_rows", "losses"]

MOST = 4000
"""Rows that the linear model is fitted to, at most."""
OTHERS = "the other test rows, fold by fold"
"""What the linear model is fitted to where nothing else is at hand."""
_FOLDS, _FEWEST = 5, 20  # of test rows, where there are no others to fit it to; rows for that
_STEPS = 200
_FLOOR = 1e-6  # probability of a class that no row to fit it to has


class Baseline(NamedTuple):
    """Something simple that predicts, too."""

    name: str
    loss: Floats  # of each row: minus the log probability of its class, or the squared error
    wrong: Array  # whether each row is predicted wrong; for numbers its squared error

    @classmethod
    def of_classes(cls, name: str, own: Rows, log_proba: Floats) -> "Baseline":
        """Return it from log probabilities of the classes."""
        found = ClassPredictions(own, log_proba)
        return cls(name, -found.log_own, ~found.right)


def losses(found: Predictions, n: int) -> Baseline:
    """Return what the model itself does on the first n rows."""
    if isinstance(found, ClassPredictions):
        return Baseline.of_classes("this model", found.own[:n], found.log_proba[:n])
    squared = (found.y[:n] - found.mean[:n]) ** 2
    return Baseline("this model", squared, squared)


def baselines(found: Predictions, X: Foreign, train: tuple[Foreign, Foreign] | None = None) -> tuple[Baseline, ...]:
    """Return what simpler models do on test rows.

    Parameters
    ----------
    found : ClassPredictions or NumberPredictions
        Of a model for test rows.
    X : array
        The first of these rows, as numbers.
    train : (array, array), optional
        Rows that the model was fitted to, as numbers, and their targets: columns of classes, or numbers. Without them
        the linear model is fitted to the other test rows, fold by fold.
    """
    n = X.shape[0]
    own: Array = found.own[:n] if isinstance(found, ClassPredictions) else found.y[:n]
    linear = _linear(found, X, own, train)
    return (*([] if linear is None else [linear]), _constant(found, n))


def fold_rows(n: int) -> int:
    """Return how many of n test rows the linear model is fitted to where there are no others."""
    return min(n - n // _FOLDS, MOST)


def _constant(found: Predictions, n: int) -> Baseline:
    """The constant that does best on the test rows themselves."""
    if isinstance(found, ClassPredictions):
        with np.errstate(divide="ignore"):
            share = np.log(np.bincount(found.own[:n], minlength=found.log_proba.shape[1]) / n)
        return Baseline.of_classes("class frequencies", found.own[:n], np.tile(share, (n, 1)))
    squared = (found.y[:n] - found.y[:n].mean()) ** 2
    return Baseline("mean of the targets", squared, squared)


def _linear(found: Predictions, X: Foreign, y: Array, train: tuple[Foreign, Foreign] | None) -> Baseline | None:
    n, classes = X.shape[0], isinstance(found, ClassPredictions)
    width = found.log_proba.shape[1] if isinstance(found, ClassPredictions) else 1
    folds = list(KFold(_FOLDS, shuffle=True, random_state=0).split(y)) if n >= _FEWEST else []
    predicted = np.empty((n, width))
    if train is not None:
        predicted = _fitted(train[0], train[1], X, width, classes)
    elif folds and all(len(np.unique(y[rows])) == len(np.unique(y)) > 1 or not classes for rows, _ in folds):
        for rows, others in folds:
            predicted[others] = _fitted(X[rows], y[rows], X[others], width, classes)
    else:
        return None
    name = "logistic regression" if classes else "linear regression"
    if isinstance(found, ClassPredictions):
        return Baseline.of_classes(name, found.own[:n], predicted)
    squared = (y - predicted[:, 0]) ** 2
    return Baseline(name, squared, squared)


def _fitted(X: Foreign, y: Array, Z: Foreign, width: int, classes: bool) -> Floats:
    """Log probabilities, or numbers, that a linear model of some rows predicts for others."""
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST)).astype(np.intp))
    model = LogisticRegression(max_iter=_STEPS) if classes else RidgeCV(np.logspace(-3, 3, 13))
    line = make_pipeline(StandardScaler(with_mean=not sparse.issparse(X)), model)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # steps that were too few: a baseline need not be the best of its kind
        line.fit(X[some], y[some])
        if not classes:
            return np.asarray(line.predict(Z))[:, None]
        found = np.full((Z.shape[0], width), _FLOOR)
        found[:, line.classes_] = np.maximum(line.predict_proba(Z), _FLOOR)
    return np.asarray(np.log(found / found.sum(axis=1, keepdims=True)))
