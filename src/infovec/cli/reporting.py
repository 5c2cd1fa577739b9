"""Reports of models of tables: names and units are those of the table."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from .._types import Array, Rows
from ..errors import DataError
from ..estimators.relevances import model_relevances
from ..evaluation import Predictions, learning_curve
from ..pac_bayes import Certificate
from .model import Model, as_list, in_units, own_units

__all__ = ["check_report", "write_report"]

_SHOWN = 200  # active rows at most

_ORIGIN = {
    "data": "data", "saved": "saved", "command": "command", "infovec": "infovec", "scikit-learn": "scikit-learn",
}  # fmt: skip


def check_report(path: str | None) -> None:
    """Raise before any work is done when there is nothing to draw a report with."""
    if path and find_spec("matplotlib") is None:
        raise DataError("--report needs matplotlib for its pictures: pip install 'infovec[plot]', or leave it out")


def write_report(
    model: Model,
    path: str,
    predictions: Predictions | None = None,
    sample: tuple[Any, Array] | None = None,
    certificate: Certificate | None = None,
    numbers: Rows | None = None,
    train: tuple[Any, Array] | None = None,
) -> None:
    """Write a report.

    Parameters
    ----------
    model : Model
    path : str
    predictions : optional
        For the rows of a test table.
    sample : (inputs, targets), optional
        Some of these rows, for the learning curve.
    certificate : Certificate, optional
    numbers : array of int, optional
        Of the rows of the test table, as people count them.
    train : (inputs, targets), optional
        Rows of the fit where they are at hand, for a linear model to learn from; else it learns from other test rows.
    """
    from ..report import Contents, compared, dependences, write_contents

    table, provenance, estimator = model.table, model.provenance, model.estimator
    relevances = model_relevances(estimator, table.features, np.array(table.scale)[: len(table.features)])
    told = (
        None if sample is None or predictions is None else compared(estimator, predictions, sample[0], *(train or ()))
    )
    simple, fitted_to = told or ((), "")
    rows = table.given(as_list(estimator.active_vectors_)[0]) if sample is None else sample[0]
    found = dependences(estimator, rows, relevances, table.features)
    contents = Contents(
        estimator, table.features, relevances,
        own_units(model, _SHOWN), None if predictions is None else predictions.by_rank(estimator),
        None if sample is None else learning_curve(estimator, *sample),
        provenance.get("plan"), {name: provenance.get(key) for key, name in _ORIGIN.items()}, table.target, 1,
        certificate=certificate, baselines=simple, fitted_to=fitted_to,
        dependences=tuple(one._replace(values=in_units(table, one.values, one.column)) for one in found),
        test_rows=None if sample is None or table.sparse else table.cells(sample[0]), test_numbers=numbers,
    )  # fmt: skip
    write_contents(contents, path)
