"""How good the predictions of a fitted estimator are: figures with their standard errors."""

from .curves import LearningCurve, learning_curve, loss_reject_curve
from .dependence import Dependence, partial_dependence
from .figures import (
    Figure,
    bootstrap_error,
    classification_figures,
    coverage,
    coverage_error,
    explained_figure,
    figure_rows,
    mean_figure,
    regression_figures,
    reject_rows,
    rejected_loss,
    share_figure,
    shown,
)
from .predictions import ClassPredictions, NumberPredictions, Predictions, joined, judge, targets_of

__all__ = [
    "ClassPredictions",
    "Dependence",
    "Figure",
    "LearningCurve",
    "NumberPredictions",
    "Predictions",
    "bootstrap_error",
    "classification_figures",
    "coverage",
    "coverage_error",
    "explained_figure",
    "figure_rows",
    "joined",
    "judge",
    "learning_curve",
    "loss_reject_curve",
    "mean_figure",
    "partial_dependence",
    "regression_figures",
    "reject_rows",
    "rejected_loss",
    "share_figure",
    "shown",
    "targets_of",
]
