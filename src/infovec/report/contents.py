"""What a report is about: a fitted estimator, and what is known beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..errors import ParameterError
from ..estimators.relevances import Relevances, model_relevances
from ..evaluation import LearningCurve, Predictions, judge, learning_curve
from ..pac_bayes import Certificate

__all__ = ["CURVE_ROWS", "Contents", "contents"]

CURVE_ROWS = 2000
"""Test rows at most that the learning curve is made of."""


@dataclass(frozen=True)
class Contents:
    """What a report is about.

    Parameters
    ----------
    model : fitted estimator
        Of it the report uses what every estimator keeps, whether once for all classes or as a list of one for each.
    names : tuple of str
        Of the columns.
    relevances : Relevances
    vectors : array
        The first active inputs, in units people know.
    predictions : ClassPredictions or NumberPredictions, optional
        For test rows.
    curve : LearningCurve, optional
    plan : mapping, optional
        ``seconds`` and ``memory`` that were predicted before the fit, and the seconds of these for ``learning``.
    origin : mapping
        What is known of where the model comes from, by name.
    target : str
    first_row : int
        Number of the first training row.
    image_shape : (int, int), "auto" or None
    certificate : Certificate, optional
    """

    model: Any
    names: tuple[str, ...]
    relevances: Relevances
    vectors: Array
    predictions: Predictions | None = None
    curve: LearningCurve | None = None
    plan: Mapping[str, Any] | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    first_row: int = 0
    image_shape: Any = "auto"
    certificate: Certificate | None = None

    @property
    def history(self) -> dict[str, Any]:
        """The history of the fit, of the first class where classes differ."""
        return dict(first(self.model.history_))

    @property
    def classes(self) -> list[str] | None:
        """Names of the classes, if the model predicts some."""
        found = getattr(self.model, "classes_", None)
        return None if found is None else [str(label) for label in found.tolist()]


def contents(
    model: Any,
    X_test: Any = None,
    y_test: Any = None,
    plan: Any = None,
    feature_names: Sequence[str] | None = None,
    image_shape: Any = "auto",
    certificate: Certificate | None = None,
) -> Contents:
    """Return the contents of the report that ``model.report`` writes."""
    if (X_test is None) != (y_test is None):
        raise ParameterError("test rows need both: X_test and y_test")
    relevances = model_relevances(model, feature_names)
    predictions = curve = None
    if X_test is not None:
        predictions = judge(model, X_test, y_test)
        curve = learning_curve(model, *some_rows(X_test, y_test))
    return Contents(
        model, column_names(model, feature_names), relevances, dense(first(model.active_vectors_)), predictions, curve,
        None if plan is None else plan._asdict(), image_shape=image_shape,
        certificate=certificate,
    )  # fmt: skip


def some_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """Return at most CURVE_ROWS rows, evenly spaced; of data frames, too."""
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), CURVE_ROWS)).astype(np.intp))
    return X.iloc[rows] if hasattr(X, "iloc") else (
        np.asarray(X)[rows] if isinstance(X, list) else X[rows]
    ), np.asarray(y)[rows]


def column_names(model: Any, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns: those given, those of the fit, or their numbers."""
    p = getattr(model, "n_features_in_", 0)
    names = getattr(model, "feature_names_in_", (f"column {j}" for j in range(p))) if given is None else given
    return (*map(str, names), *(["task"] if hasattr(model, "tasks_") else []))


def first(value: Any) -> Any:
    """Return what there is once, or for the first class."""
    return value[0] if isinstance(value, list) else value


def dense(vectors: Any, most: int = 200) -> Floats:
    """Return the first inputs as an array."""
    some = vectors[:most]
    return np.asarray(some.toarray() if hasattr(some, "toarray") else some)
