"""What was predicted for rows whose targets are known."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..errors import ParameterError
from ..likelihoods.ranks import by_class, by_rank
from .figures import classification_figures, regression_figures

__all__ = ["ClassPredictions", "NumberPredictions", "Predictions", "joined", "judge", "targets_of"]


class ClassPredictions(NamedTuple):
    """What was predicted for rows whose class is known: all that the figures of classes need."""

    own: Rows  # column of the true class in ``classes_``
    log_proba: Floats  # log probability of every class, shape (n, C)

    @classmethod
    def of(cls, model: Any, X: Inputs, own: Rows) -> "ClassPredictions":
        """Predict for rows whose class is the column ``own`` of ``model.classes_``."""
        return cls(own, model.predict_log_proba(X))

    @property
    def predicted(self) -> Rows:
        """Column of the most probable class."""
        return self.log_proba.argmax(axis=1)

    @property
    def log_own(self) -> Floats:
        """Log probability of the true class."""
        return self.log_proba[np.arange(len(self.own)), self.own]

    @property
    def top(self) -> Floats:
        """Largest probability."""
        return np.exp(self.log_proba.max(axis=1))

    @property
    def right(self) -> Mask:
        """Whether the most probable class is the true one."""
        return self.predicted == self.own

    def figures(self) -> dict[str, Any]:
        """Error, log loss, Brier score, AUC, calibration, errors among the rows kept, with standard errors."""
        return classification_figures(self.own, self.log_proba)

    def confusion(self, n_classes: int) -> Rows:
        """Number of rows by true class (down) and predicted class (across)."""
        counts = np.bincount(self.own * n_classes + self.predicted, minlength=n_classes**2)
        return counts.reshape(n_classes, n_classes)

    def by_rank(self, model: Any) -> "ClassPredictions":
        """Return them with classes, where the model knows their order, from lowest to highest."""
        rank = by_class(model, np.arange(self.log_proba.shape[1]))
        return ClassPredictions(rank[self.own], by_rank(model, self.log_proba))

    def probability_of_second(self) -> Floats:
        """Probability of the second of two classes."""
        return np.minimum(np.exp(self.log_proba[:, 1]), 1.0)


class NumberPredictions(NamedTuple):
    """What was predicted for rows whose number is known."""

    y: Floats
    mean: Floats
    std: Floats  # noise included
    log_density: Floats

    @classmethod
    def of(cls, model: Any, X: Inputs, y: Floats) -> "NumberPredictions":
        """Predict for rows whose target is y."""
        mean, std = model.predict(X, return_std=True)
        with np.errstate(over="ignore"):  # predictions may be as far off as numbers go
            return cls(y, mean, std, model.log_density(X, y))

    def by_rank(self, model: Any) -> "NumberPredictions":
        """Return them as they are: numbers have their order."""
        return self

    def figures(self) -> dict[str, Any]:
        """Mean squared error, R², log density, calibration, errors of the rows kept, with standard errors."""
        return regression_figures(*self)


Predictions: TypeAlias = ClassPredictions | NumberPredictions


def judge(model: Any, X: Inputs, y: Any) -> Predictions:
    """Predict for rows whose targets are known.

    Parameters
    ----------
    model : fitted estimator
        With ``classes_`` and ``predict_log_proba``, or with ``predict(X, return_std=True)`` and ``log_density``.
    X : inputs
    y : array-like
        Labels, or numbers.
    """
    targets = targets_of(model, y)
    if getattr(model, "classes_", None) is None:
        return NumberPredictions.of(model, X, targets)
    return ClassPredictions.of(model, X, targets)


def targets_of(model: Any, y: Any) -> Any:
    """Return targets as numbers: for classes their columns in ``model.classes_``."""
    y = np.asarray(y)
    if y.ndim != 1 or not len(y):
        raise ParameterError(f"targets must be a list of one label or number for each row, got shape {y.shape}")
    if getattr(model, "classes_", None) is None:
        return y.astype(np.float64)
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    unknown = [label for label in np.unique(y).tolist() if label not in place]
    if unknown:
        raise ParameterError(
            f"the label {unknown[0]!r} is none of the classes of the model ({', '.join(map(repr, list(place)[:8]))})"
        )
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)


def joined(parts: Sequence[Any]) -> Any:
    """Put the predictions for several blocks of rows together."""
    return type(parts[0])(*(np.concatenate(column) for column in zip(*parts, strict=True)))
