"""Pictures of fitted models and of their predictions. Every function takes and returns matplotlib Axes.

Needs matplotlib (the ``plot`` extra).
"""

from .curves import plot_error_reject, plot_reliability
from .dependence import plot_dependence
from .fitting import plot_evidence_history, plot_inclusions, plot_learning_curve, plot_relevances
from .movie import plot_selection_movie
from .numbers import plot_coverage, plot_predictions, plot_regression
from .plane import plot_active_set, plot_classifier, plot_decision_boundary

__all__ = [
    "plot_active_set",
    "plot_classifier",
    "plot_coverage",
    "plot_decision_boundary",
    "plot_dependence",
    "plot_error_reject",
    "plot_evidence_history",
    "plot_inclusions",
    "plot_learning_curve",
    "plot_predictions",
    "plot_regression",
    "plot_relevances",
    "plot_reliability",
    "plot_selection_movie",
]
