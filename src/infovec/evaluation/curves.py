"""Loss against what was spent on it: active rows, or rows that are left to somebody else."""

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..metrics import ErrorReject
from .figures import Figure, mean_figure
from .given import read_once
from .predictions import ClassPredictions, targets_of

__all__ = ["LearningCurve", "learning_curve", "loss_reject_curve"]


class LearningCurve(NamedTuple):
    """Mean loss of test rows when predictions are made from the first active rows alone."""

    size: Rows  # active rows
    loss: Floats  # minus the log probability, or density, of the target
    standard_error: Floats


def learning_curve(model: Any, X: Inputs, y: Any, most: int = 24) -> LearningCurve | None:
    """Return the loss over inclusions, or None for a posterior that has no parts.

    With the factorised posterior it is that of the models which selection went through; with the projected one the
    posterior of all active rows is looked at through the first ones.

    Parameters
    ----------
    model : fitted estimator
    X, y
        Test rows, as for ``judge``.
    most : int
        Points of the curve.
    """
    if not hasattr(getattr(model, "posterior_", None), "first"):
        return None
    sizes = np.unique(np.geomspace(1, len(model.active_), most).round().astype(np.intp))
    part, figures = copy(model), list[Figure]()
    rows, targets = read_once(model, X), targets_of(model, y)
    for k in sizes.tolist():
        part.posterior_ = model.posterior_.first(k)
        figures.append(mean_figure(-_log_own(part, rows, targets)))
    return LearningCurve(sizes, *np.array(figures).T)


def _log_own(model: Any, X: Inputs, targets: Any) -> Floats:
    """Log probability, or density, of targets, and nothing else: means of few active rows are no news of the model."""
    if getattr(model, "classes_", None) is None:
        with np.errstate(over="ignore"):  # predictions may be as far off as numbers go
            return np.asarray(model.log_density(X, targets))
    return ClassPredictions.of(model, X, targets).log_own


def loss_reject_curve(loss: Floats, uncertainty: Floats) -> ErrorReject:
    """Mean loss of the rows that are kept, against the share that is rejected: ``rejected_loss`` for every share."""
    kept = np.arange(len(loss), 0, -1)
    total = np.cumsum(loss[np.argsort(uncertainty, kind="stable")])[::-1]
    return ErrorReject(1.0 - kept / len(loss), total / kept)
