"""Weights of classes: predictions for a world where classes are more or less frequent than among the training rows."""

from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._types import Array, Floats, Mask, Rows
from ..errors import ParameterError

__all__ = ["ClassWeight", "class_shift", "rows_told"]

_SHOWN = 5  # labels

ClassWeight: TypeAlias = dict[Any, float] | str | None
"""Weights by label, "balanced", or none; what a user gives may be anything else, until it is read."""


def rows_told(class_weight: ClassWeight, y: Array) -> Mask:
    """Return which rows have a class whose weight is not zero."""
    if class_weight is None:
        return np.ones(len(y), dtype=bool)
    if not isinstance(class_weight, dict):
        if not (isinstance(class_weight, str) and class_weight == "balanced"):
            raise ParameterError(f"class_weight must be None, 'balanced' or a dict of labels, got {class_weight!r}")
        return np.ones(len(y), dtype=bool)
    classes, index = np.unique(y, return_inverse=True)
    try:
        by_class = np.array(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)
    except (TypeError, ValueError) as error:
        wrong = [key for key in class_weight if key not in classes.tolist()]
        found = f"{wrong[0]!r} is none of them" if wrong else str(error)
        known = ", ".join(map(repr, classes.tolist()[:_SHOWN])) + ", ..." * (len(classes) > _SHOWN)
        raise ParameterError(f"class_weight must have a number for every label of y, {known}: {found}") from error
    if not np.all(np.isfinite(by_class) & (by_class >= 0.0)) or not by_class.any():
        raise ParameterError(f"class_weight must be numbers from 0, some of them positive, got {class_weight!r}")
    told: Mask = by_class[index] > 0.0
    return told


def class_shift(class_weight: ClassWeight, classes: Array, index: Rows, weight: Floats | None) -> Floats:
    r"""Return the logarithm of every class's weight, by which log probabilities are shifted before they are normalised.

    .. math:: p'(c \mid x) = \frac{w_c \, p(c \mid x)}{\sum_j w_j \, p(j \mid x)}

    is what Bayes' rule says of rows that look the same within each class, and whose classes are w times as frequent.
    "balanced" is n / (C n_c), with rows counted by their weights; a class without rows keeps its probability.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : array of shape (C,)
    index : array of int
        Positions of the rows' classes among them.
    weight : array of float, optional
        Of the rows.
    """
    if class_weight is None:
        return np.zeros(len(classes))
    if isinstance(class_weight, dict):
        given = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    else:
        counts = np.bincount(index, weights=weight, minlength=len(classes))
        given = np.where(counts > 0.0, counts.sum() / (len(classes) * np.where(counts > 0.0, counts, 1.0)), 1.0)
    return np.log(given, out=np.full(len(classes), -np.inf), where=given > 0.0)
