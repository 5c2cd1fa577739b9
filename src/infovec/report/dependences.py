"""What the most relevant columns do to predictions."""

import warnings
from typing import Any

import numpy as np

from .._types import Array, Floats
from ..estimators.relevances import Relevances
from ..evaluation import Dependence, partial_dependence
from ..likelihoods.ranks import by_rank
from ..tables import Encoded
from .rows import picked, some_rows

__all__ = ["dependences"]

_COLUMNS, _TRIED = 4, 30  # that are shown, and looked at where their relevances were not learned
_ROWS, _VALUES, _DRAWS = 40, 24, 200
_CLASSES = 3, 16, 60  # columns, values and draws with more than two classes, each of which has a function
_FEW = 12  # different values of a column that is not continuous
_ENDS = (0.02, 0.98)  # quantiles of a column between which it is looked at


def dependences(model: Any, X: Any, found: Relevances, names: tuple[str, ...]) -> tuple[Dependence, ...]:
    """Return the partial dependence of the columns that count most; nothing where columns are not numbers.

    Classes that have an order are from lowest to highest.

    Parameters
    ----------
    model : fitted estimator
    X : inputs
        Rows over which predictions are averaged.
    found : Relevances
    names : tuple of str
    """
    rows = _numbers(model, X)
    table = getattr(model, "table_", None)
    if rows is None or rows.shape[1] != (len(names) if table is None else table.width):
        return ()
    most, steps, draws = _CLASSES if len(getattr(model, "classes_", ())) > 2 else (_COLUMNS, _VALUES, _DRAWS)
    values = {j: _values(rows[:, j], steps) for j in _candidates(rows, found, names)}
    background = rows[some_rows(rows, _ROWS)]
    tried = [j for j, v in values.items() if len(v) > 1]
    if not found.columns or found.note:  # in no order that was learned
        reach = {j: partial_dependence(model, background, j, values[j]).reach for j in tried}
        tried = sorted(tried, key=lambda j: -reach[j])
    return tuple(_ranked(model, partial_dependence(model, background, j, values[j], draws)) for j in tried[:most])


def _ranked(model: Any, found: Dependence) -> Dependence:
    low, high = (None if end is None else by_rank(model, end) for end in (found.low, found.high))
    return found._replace(mean=by_rank(model, found.mean), low=low, high=high)


def _numbers(model: Any, X: Any) -> Array | None:
    """Rows as the model takes them, if these are numbers, and the functions are those of its rows alone."""
    kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    posterior = getattr(model, "posterior_", None)
    if posterior is None or hasattr(model, "tasks_") or not all(kernel.numeric for kernel in kernels):
        return None
    if isinstance(X, Encoded):
        return np.asarray(X.matrix)[some_rows(X, 10 * _ROWS)]
    if not isinstance(posterior.X, np.ndarray) or hasattr(X, "toarray") or X is None:
        return None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        return np.asarray(model._read(picked(X, some_rows(X, 10 * _ROWS))))


def _candidates(rows: Floats, found: Relevances, names: tuple[str, ...]) -> list[int]:
    if found.columns and not found.note:
        ranked = [names.index(name) for name in found.columns if name in names]
        return ranked[:_COLUMNS]
    return list(range(min(len(names), _TRIED)))


def _values(column: Floats, steps: int) -> Floats:
    """Values of a column to look at: all where they are few, else evenly spaced between its ends."""
    different = np.unique(column)
    if len(different) <= _FEW:
        return different
    low, high = np.quantile(column, _ENDS)
    return np.linspace(low, high, steps) if high > low else different[[0, -1]]
