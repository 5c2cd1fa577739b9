"""What a report is about: a fitted estimator, and what is known beside it."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import Array, Floats, Rows
from ..errors import ParameterError
from ..estimators.fitted import as_given
from ..estimators.relevances import Relevances, model_relevances
from ..evaluation import Dependence, LearningCurve, Predictions, judge, learning_curve, targets_of
from ..evaluation.given import read_once
from ..likelihoods.ranks import ranked
from ..pac_bayes import Certificate
from .baselines import MOST, OTHERS, Baseline, baselines
from .dependences import dependences
from .rows import numbers_of, picked, some_rows, taken
from .shapes import picture_shape

__all__ = ["CURVE_ROWS", "Contents", "compared", "contents"]

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
        For test rows, with the columns of ``classes``.
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
    baselines : tuple of Baseline
        What simpler models do on the test rows.
    fitted_to : str
        Which rows the linear one of them was fitted to.
    dependences : tuple of Dependence
        What the most relevant columns do to predictions, in units people know, with the columns of ``classes``.
    test_rows : inputs, optional
        The test rows, or the first of them, in units people know.
    test_numbers : array of int, optional
        Numbers of the test rows, where they do not follow each other from ``first_row`` on.
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
    baselines: tuple[Baseline, ...] = ()
    fitted_to: str = ""
    dependences: tuple[Dependence, ...] = ()
    test_rows: Any = None
    test_numbers: Rows | None = None

    @property
    def history(self) -> dict[str, Any]:
        """The history of the fit, of the first class where classes differ."""
        return dict(first(self.model.history_))

    def test_number(self, row: int) -> int:
        """Return the number of a test row, as people count them."""
        return self.first_row + int(row) if self.test_numbers is None else int(self.test_numbers[row])

    @property
    def counted(self) -> str:
        """Say from which number on rows are counted."""
        return f"Rows are counted from {self.first_row}."

    @property
    def classes(self) -> list[str] | None:
        """Names of the classes, if the model predicts some; from lowest to highest where they have an order."""
        found = ranked(self.model)
        return None if found is None else [str(label) for label in found.tolist()]


def contents(
    model: Any,
    X_test: Any = None,
    y_test: Any = None,
    plan: Any = None,
    feature_names: Sequence[str] | None = None,
    image_shape: Any = "auto",
    certificate: Certificate | None = None,
    X_train: Any = None,
    y_train: Any = None,
) -> Contents:
    """Return the contents of the report that ``model.report`` writes."""
    for X, y, name in ((X_test, y_test, "test"), (X_train, y_train, "train")):
        if (X is None) != (y is None):
            raise ParameterError(f"{name}{'' if name == 'test' else 'ing'} rows need both: X_{name} and y_{name}")
        if X is not None and hasattr(y, "__len__") and taken(X) != len(y):
            raise ParameterError(f"X_{name} has {taken(X)} rows, and y_{name} {len(y)} targets: give one for each row")
    relevances, names = model_relevances(model, feature_names), column_names(model, feature_names)
    vectors = dense(first(model.active_vectors_))
    predictions = curve = None
    simple, fitted_to, rows = tuple[Baseline, ...](), "", as_given(model, vectors)
    if X_test is not None:
        rows = read_once(model, X_test)
        predictions = judge(model, rows, y_test)
        some = some_rows(rows, CURVE_ROWS)
        curve = learning_curve(model, picked(rows, some), np.asarray(y_test)[some])
        simple, fitted_to = compared(model, predictions, rows, X_train, y_train)
    drawn = picture_shape(vectors, image_shape) is None
    return Contents(
        model, names, relevances, vectors, None if predictions is None else predictions.by_rank(model), curve,
        None if plan is None else plan._asdict(), image_shape=image_shape, certificate=certificate,
        baselines=simple, fitted_to=fitted_to, test_rows=X_test,
        dependences=dependences(model, rows, relevances, names) if drawn else (),
    )  # fmt: skip


def compared(
    model: Any, predictions: Predictions, X: Any, X_train: Any = None, y_train: Any = None
) -> tuple[tuple[Baseline, ...], str]:
    """Return what simpler models do on the test rows X, and which rows the linear one was fitted to."""
    rows = numbers_of(_encoded(model, X))
    if rows is None:
        rows = np.zeros((taken(X), 1))  # a linear model of nothing is left out below
        return baselines(predictions, rows)[-1:], ""
    if X_train is None:
        return baselines(predictions, rows), OTHERS
    some, n = some_rows(X_train, MOST), taken(X_train)
    X_some = numbers_of(_encoded(model, picked(X_train, some)))
    train = None if X_some is None else (X_some, targets_of(model, np.asarray(y_train)[some]))
    return baselines(predictions, rows, train), "the training rows" if len(
        some
    ) == n else f"{MOST} of the training rows"


def _encoded(model: Any, X: Any) -> Any:
    """Return rows of a table in a form of which a linear model takes the numbers; others as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said when they were predicted, or fitted to
        return read_once(model, X)


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
