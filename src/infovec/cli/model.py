"""Model files of the command line: an estimator, the table it was fitted to, and where both come from."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._types import Floats
from ..datasets.cells import THOUSANDS
from ..datasets.sketch import Sketch
from ..errors import DataError, ModelFileError
from ..estimators import load_with_extra
from ..persistence import Content, about
from ..persistence.values import must, number
from ..tables import NumberColumn, TableSchema
from .table import Table

__all__ = ["Model", "as_list", "in_units", "load_model", "n_active", "own_units", "save_model"]

_TABLE, _DATES, _SKETCH, _MISSING = "table", "dates", "fingerprint", "missing"
_DECIMAL, _THOUSANDS = "decimal", "thousands"
_ESTIMATORS = {"classify": "IVMClassifier", "regress": "IVMRegressor", "ordinal": "IVMOrdinalClassifier"}


class Model(NamedTuple):
    """What is in a model file that the command line wrote."""

    estimator: Any
    table: Table
    provenance: dict[str, Any]
    dates: Mapping[str, str | None] = MappingProxyType({})  # columns of dates, and how they are written if known
    sketch: Sketch | None = None  # of the rows it was fitted to
    thousands: str | None = None  # mark between thousands, by its name
    missing: tuple[str, ...] = ()  # cells that stand for a missing value, beside those that always do
    decimal: str | None = None  # mark before decimals, where it was said
    unnamed: bool = False  # it was fitted to an array, whose columns are known by their places


def save_model(model: Model, path: str) -> None:
    """Write a fitted estimator and how to read rows for it, completely or not at all."""
    extra: dict[str, Any] = {_TABLE: model.table.to_json(), _DATES: dict(model.dates)}
    if model.sketch is not None:
        extra[_SKETCH] = model.sketch.to_json()
    if model.thousands is not None:
        extra[_THOUSANDS] = model.thousands
    if model.decimal is not None:
        extra[_DECIMAL] = model.decimal
    if model.missing:
        extra[_MISSING] = list(model.missing)
    model.estimator.save(path, extra=extra, provenance=model.provenance)


def load_model(path: str, of_python: bool = False) -> Model:
    """Read what ``save_model`` wrote, or, if that is enough, what the estimator of any file knows of its table."""
    try:
        content = load_with_extra(path)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}; `infovec fit` writes models, by -o") from error
    if _TABLE not in content.extra:
        return _of_python(path, content, of_python)
    with about(path):
        table = Table.from_json(content.extra[_TABLE])
        _check(content.model, table)
        plan = content.provenance.get("plan")
        must(plan is None or isinstance(plan, dict), "the plan", "an object with seconds and memory", plan)
        if isinstance(plan, dict):
            for key in ("seconds", "memory", *(["learning"] if "learning" in plan else [])):  # which old ones lack
                number(plan.get(key), f"the plan's {key}", 0.0)
        dates, sketch = _dates(content.extra.get(_DATES, {}), table), _sketch(content.extra.get(_SKETCH))
        thousands = content.extra.get(_THOUSANDS)
        must(thousands in (None, *THOUSANDS), "the thousands", f"one of {', '.join(THOUSANDS)}", thousands)
        decimal = content.extra.get(_DECIMAL)
        must(decimal in (None, ".", ","), "the mark before decimals", "a point or a comma", decimal)
        missing = content.extra.get(_MISSING, [])
        fits = isinstance(missing, list) and all(isinstance(word, str) for word in missing)
        must(fits, "the words for missing values", "a list of words", missing)
    return Model(content.model, table, content.provenance, dates, sketch, thousands, tuple(missing), decimal)


def _of_python(path: str, content: Content, enough: bool) -> Model:
    """Return a model that was saved in Python, if what it knows of its table is enough; say else what it is."""
    reason = _not_here(content.model)
    table = _known_table(content.model) if enough and not reason else None
    if table is None:
        said = f"was saved in Python and does not say how to read a table{'' if enough else ', its target'}"
        said = f"was saved in Python and {reason}" if reason else said
        raise DataError(f"{path} {said}; load it there with infovec.load, or make one with `infovec fit`")
    of_dates = [column.name for column in table.schema.columns if column.kind == "date"]
    unnamed = not hasattr(content.model, "feature_names_in_")
    return Model(content.model, table, content.provenance, dict.fromkeys(of_dates), unnamed=unnamed)


def _not_here(estimator: Any) -> str:
    """Say what a model is that the command line has no predictions for; nothing of others."""
    if hasattr(estimator, "outputs_"):
        return (
            f"predicts {len(estimator.outputs_)} targets at once, where the command line has one: save one of its "
            "models by itself there, model.outputs_[0].save(path)"
        )
    if hasattr(estimator, "tasks_"):
        return "was fitted to groups of rows that are tasks, for which the command line has no option"
    if type(estimator).__name__ not in _ESTIMATORS.values():
        return f"is {type(estimator).__name__}, where the command line takes {', '.join(_ESTIMATORS.values())}"
    return ""


def _known_table(estimator: Any) -> Table | None:
    """Return how a table is read for a model that was fitted in Python, whose target has no name; None if unknown."""
    task = next((task for task, kind in _ESTIMATORS.items() if kind == type(estimator).__name__), None)
    p = getattr(estimator, "n_features_in_", None)
    if task is None or p is None:
        return None
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(p)])
    plain = TableSchema(tuple(NumberColumn(str(name), "number", 0.0, False) for name in names))
    schema = getattr(estimator, "table_", plain)
    zeros, ones = (0.0,) * schema.width, (1.0,) * schema.width
    is_sparse = sparse.issparse(as_list(estimator.active_vectors_)[0])
    return Table(task, "", "number" if task == "regress" else "word", schema, zeros, ones, is_sparse)


def _dates(data: Any, table: Table) -> dict[str, str]:
    """Return columns of dates and how they are written, which older files do not have."""
    fits = isinstance(data, dict) and all(isinstance(form, str) for form in data.values())
    must(fits and set(data) <= set(table.numbers), "the dates", "columns of numbers and how they are written", data)
    return dict(data)


def _sketch(data: Any) -> Sketch | None:
    try:
        return None if data is None else Sketch.from_json(data)
    except ValueError as error:
        raise ModelFileError(f"the fingerprint of the rows is damaged: {error}") from error


def _check(estimator: Any, table: Table) -> None:
    """Raise unless a table is one that the estimator can have been fitted to."""
    p, kind = getattr(estimator, "n_features_in_", None), _ESTIMATORS[table.task]
    must(type(estimator).__name__ == kind, "the estimator", f"an {kind}, to {table.task}", estimator)
    if p != len(table.features):
        raise ModelFileError(f"the model has {p} columns, and its table {len(table.features)}")
    schema = getattr(estimator, "table_", None)
    if schema != (None if table.schema.plain else table.schema):
        raise ModelFileError("the model and its table differ in how columns are to be read")
    if sparse.issparse(estimator.active_vectors_) != table.sparse:
        raise ModelFileError("one of the model and its table is sparse, and the other is not")


def n_active(estimator: Any) -> int:
    """Return how many different training rows a fitted estimator keeps, all classes together."""
    rows = estimator.active_
    return len(np.unique(np.concatenate(rows))) if isinstance(rows, list) else len(rows)


def as_list(value: Any) -> list[Any]:
    """Return what an estimator has for each class, or once for all, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


def own_units(model: Model, most: int | None = None) -> Floats:
    """Return the first active rows, or all of them, in the units of the table."""
    vectors = as_list(model.estimator.active_vectors_)[0][:most]
    X = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors, dtype=np.float64)
    return in_units(model.table, X)


def in_units(table: Table, X: Floats, columns: Any = slice(None)) -> Floats:
    """Return values of the model's columns, or of some of them, in the units of the table."""
    found: Floats = X * np.array(table.scale)[columns] + np.array(table.centre)[columns]
    return found
