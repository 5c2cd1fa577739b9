"""Reading what the user passes as X and y."""

import datetime
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import column_or_1d, validate_data

from .._types import Array, Floats, Foreign, Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..tables import Encoded, TableSchema, check_names, columns_of, is_frame, is_plain, out_of_place, raw_columns
from ..tables.writing import first_amount
from .far import is_dask, is_far, near, read_far
from .tasks import Grouped, are_tasks, folds_of, learn_tasks, tasks_beside
from .truth_values import refuse_truth

__all__ = ["check_labels", "read", "read_weight"]

_WITHOUT = "drop such rows, or let IVMClassifier learn from them too, with likelihood='null_category'"


def read(estimator: object, kernel: Kernel | None, X: object, y: object = "no targets", real: bool = False) -> Any:
    """Return X, or X and y: X as a C-ordered float array, a CSR matrix, or objects where the kernel takes them.

    ``real`` asks for y as floats. With targets the estimator learns the number and names of the columns;
    without, X is compared with them. Groups that are the tasks of the kernel are the last column; others stay with the
    estimator for a moment, as ``_folds``.
    """
    training = not (isinstance(y, str) and y == "no targets")
    if training:
        (_check_real if real else check_labels)(y)
    labels = X.labels() if isinstance(X, Grouped) else None
    if training:
        learn_tasks(estimator, kernel, labels)
        vars(estimator).pop("_folds", None)
    elif hasattr(estimator, "tasks_"):
        return _with_tasks(estimator, kernel, X)
    if not isinstance(X, Grouped) or labels is None:
        return _read_rows(estimator, kernel, X, y, real, training)
    if not training:
        raise ParameterError(
            "groups were given, but the model has no tasks, and groups that rows were left out by when it was fitted "
            "say nothing of new rows; leave them out"
        )
    if not are_tasks(kernel):
        found = _read_rows(estimator, kernel, _near(X.X), y, real, training)
        vars(estimator)["_folds"] = folds_of(labels)
        return found
    inputs, targets = _read_rows(estimator, kernel, X.X, y, real, training)
    return tasks_beside(estimator, inputs, labels), targets


def _near(X: Foreign) -> Foreign:
    """Return rows that are in memory, as those must be that are left out together."""
    if is_dask(X) or is_far(X):
        raise ParameterError(
            "groups say which rows are left out together, which is for rows in memory; take a sample of the rows, or "
            "leave groups out"
        )
    return X


def _with_tasks(estimator: Any, kernel: Kernel | None, X: Any) -> Inputs:
    """Inputs of a model that was fitted with groups: given as such, or their numbers as the last column of X."""
    if isinstance(X, Encoded):
        return X.matrix
    p: int = estimator.n_features_in_
    if isinstance(X, Grouped):
        return tasks_beside(estimator, _read_rows(estimator, kernel, X.X, None, False, False), X.labels())
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != p + 1:
        raise ParameterError(
            "the model was fitted with groups, the tasks of the rows: give those of the new rows too, as in "
            "predict(X, groups=labels); a label that no training row has is a new task, about which the prior is known"
        )
    rest = _read_rows(estimator, kernel, X[:, :p], None, False, False)
    return np.column_stack([rest, check_array(X[:, p:], dtype=rest.dtype)])


def _read_rows(estimator: object, kernel: Kernel | None, X: object, y: object, real: bool, training: bool) -> Any:
    if is_far(X) and (kernel is None or kernel.numeric):
        return read_far(estimator, X, y, real) if training else near(estimator, X)
    if kernel is not None and not kernel.numeric:
        objects = _objects(X)
        if training:
            for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit to numbers
                vars(estimator).pop(name, None)
        return (objects, _matching(y, len(objects), real)) if training else objects
    if is_frame(X):
        check_names(X)
    found = _read_numbers(estimator, X, y, real, training)
    if is_frame(X) and not training:
        refuse_truth(estimator, X)
    return found


def _read_numbers(estimator: object, X: object, y: object, real: bool, training: bool) -> Any:
    if isinstance(X, Encoded) or _is_table(estimator, X, training):
        return _read_table(estimator, X, y, real, training)
    if training:
        estimator.__dict__.pop("table_", None)
    targets: dict[str, Any] = {"y": y, "y_numeric": real} if training else {}
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds everything up, first of all
            checked = validate_data(
                estimator, X, **targets, reset=training, accept_sparse="csr", dtype=(np.float64, np.float32), order="C"
            )
        return (checked[0], checked[1].astype(np.float64)) if real else checked
    except ValueError as error:
        if training and _has_gaps(X, str(error)):
            return _read_table(estimator, X, y, real, training)
        if not training and is_frame(X) and "could not convert string" in str(error):
            TableSchema.of_numbers(raw_columns(X)).encode(raw_columns(X))  # says of which column, and what to do
        raise out_of_place(_explained(error, X, y, real, training), estimator, X) from error


def _is_table(estimator: object, X: object, training: bool) -> bool:
    """Whether columns have to be encoded: they are when the model is fitted to them, or was."""
    return is_frame(X) and not is_plain(X) if training else hasattr(estimator, "table_")


def _has_gaps(X: object, text: str) -> bool:
    """Whether scikit-learn refused a matrix since some values, but not all of any kind, are missing in it."""
    return "Input X contains NaN" in text and not sparse.issparse(X)


def _read_table(estimator: Foreign, X: Foreign, y: object, real: bool, training: bool) -> Foreign:
    """Rows of a table as the model takes them; what it is to know of the columns stays with the estimator."""
    if isinstance(X, Encoded):
        matrix, schema = X.matrix, X.schema
        if training:
            estimator.n_features_in_ = len(schema.columns)
            estimator.feature_names_in_ = np.array([column.name for column in schema.columns], dtype=object)
    else:
        if not training and not is_frame(X):
            _check_matrix(estimator.table_, X)
        raws = columns_of(estimator, X, training)
        schema = TableSchema.learned(raws) if training else estimator.table_
        matrix = schema.encode(raws)
    if not training:
        return matrix
    estimator.table_ = schema
    if schema.plain:
        estimator.__dict__.pop("table_", None)
    try:
        return check_X_y(matrix, y, dtype=(np.float64, np.float32), order="C", y_numeric=real, estimator=estimator)
    except ValueError as error:
        raise _explained(error, X, y, real, training) from error


def _check_matrix(schema: TableSchema, X: object) -> None:
    """Refuse an array where the model was fitted to a table with more than numbers."""
    other = [column for column in schema.columns if column.kind not in ("number", "nothing")]
    if other:
        raise ParameterError(
            f"the model was fitted to a table whose column {other[0].name!r} holds more than numbers, and X is "
            f"{'a sparse matrix' if sparse.issparse(X) else f'of type {type(X).__name__}'}: give a DataFrame of pandas "
            "or polars with the same columns"
        )


def _objects(X: Any) -> Inputs:
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:  # a frame or array of one column
        X = np.asarray(X)[:, 0]
    if isinstance(X, str) or not hasattr(X, "__len__") or len(X) == 0:
        raise ParameterError("X must be a sequence of at least one object for this kernel")
    objects = np.empty(len(X), dtype=object)
    objects[:] = list(X)
    return objects


def _matching(y: object, n: int, real: bool) -> Array:
    targets: Array = column_or_1d(y, dtype=np.float64 if real else None)
    if len(targets) != n:
        raise ParameterError(f"X has {n} objects, y has {len(targets)} targets; give one target for each object")
    return targets


def _explained(error: ValueError, X: object, y: object, real: bool, training: bool) -> ValueError:
    """Return the error with the place of the trouble and a remedy."""
    text = str(error)
    if "could not convert string" in text and real and _is_text(y):
        if first_amount(np.asarray(y).ravel().astype(str).tolist()) is not None:
            return ParameterError(
                f"text where numbers belong: {text}. Targets with currency signs or thousands separators become "
                'numbers by pandas.to_numeric(y.str.replace(r"[^0-9.-]", "", regex=True)), should commas stand between '
                "thousands"
            )
        return ParameterError(
            f"text where numbers belong: {text}. The targets are words; for classes use IVMClassifier"
        )
    if "Input y contains" in text or text.startswith("Input contains NaN"):  # the latter of labels
        bad = _not_numbers(y)
        remedy = "drop such rows" if real else _WITHOUT
        return ParameterError(f"{text.rstrip('.')}. The first is in row {bad[0] if len(bad) else '?'} of y; {remedy}")
    if "could not convert string" in text:
        return ParameterError(
            f"text where numbers belong: {text}. A table with categories can be given as a DataFrame of pandas or "
            "polars, and comes as one from a step of a pipeline, such as a ColumnTransformer, with "
            '.set_output(transform="pandas"); for objects use infovec.kernels.FromFunction'
        )
    if "Input X contains" in text:
        return _not_finite(X, training)
    return error


def _not_finite(X: Foreign, training: bool) -> ParameterError:
    """Return the error of the first value that is not finite, which is missing or infinite."""
    try:
        row, column, value = _first_bad(X)
    except (TypeError, ValueError, IndexError):  # of objects
        return ParameterError(
            "X contains NaN, infinity or a number too large to compute with: mend it, or drop the row"
        )
    name = str(X.columns[column]) if is_frame(X) else column
    where = f"Row {row}, column {name!r}: X contains"
    if value == value:
        remedy = "If it stands for a missing value, make it NaN; else" if training else "Mend it, or"
        return ParameterError(f"{where} infinity, or a number too large to compute with. {remedy} drop the row")
    if training:  # dense rows with gaps are a table
        return ParameterError(
            f"{where} NaN, which no model takes from a sparse matrix. Give a dense array or a DataFrame, from whose "
            "missing values it learns, or drop the row"
        )
    return ParameterError(
        f"{where} NaN, and the model was fitted to rows without missing values, so that it cannot know what one "
        "means. Fit to rows some of which have missing values, or put a value there, such as the median of that column "
        "in the rows of the fit"
    )


def check_labels(y: object) -> None:
    """Refuse labels some of which are missing among words or objects, which cannot be put in order."""
    if is_dask(y) or isinstance(y, str) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        return
    given = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    bad = _not_numbers(given if given.dtype.kind == "O" and given.ndim == 1 else np.empty(0))
    if len(bad):
        raise ParameterError(
            f"row {bad[0]} of y has no label, as {len(bad)} of {len(given)} rows have none: {_WITHOUT}"
        )


def _check_real(y: object) -> None:
    """Refuse targets that are dates or durations, which have no unit as numbers."""
    if is_dask(y) or isinstance(y, str) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        return
    given = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None).ravel()
    first = next((v for v in given if not _missing(v)), None) if given.dtype.kind in "OmM" else None
    if isinstance(first, datetime.timedelta | np.timedelta64):
        raise ParameterError("the targets are durations: give them as numbers, y / pandas.Timedelta(days=1) in days")
    if isinstance(first, datetime.date | np.datetime64) or type(first).__name__ == "Period":
        raise ParameterError(
            "the targets are dates: give numbers, such as the days from one of them, "
            "(pandas.to_datetime(y) - pandas.Timestamp('2000-01-01')) / pandas.Timedelta(days=1)"
        )


def _not_numbers(y: object) -> Rows:
    """Rows of targets that are not finite, or missing among words."""
    y = np.asarray(y)
    if y.dtype.kind in "OUST":
        return np.flatnonzero([_missing(v) for v in y.ravel().tolist()])
    return np.flatnonzero(~np.isfinite(y.astype(np.float64)))


def _missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _is_text(y: object) -> bool:
    return not isinstance(y, str) and np.asarray(y).dtype.kind in "USO"


def _first_bad(X: Foreign) -> tuple[int, int, float]:
    """Row and column of the first value that is not finite, and the value."""
    if sparse.issparse(X):
        X = X.tocoo()
        k = int(np.argmin(np.isfinite(X.data)))
        return int(X.row[k]), int(X.col[k]), float(X.data[k])
    values = np.column_stack([raw.values for raw in raw_columns(X)]) if is_frame(X) else np.asarray(X, dtype=np.float64)
    row, column = np.argwhere(~np.isfinite(values))[0].tolist()
    return row, column, float(values[row, column])


def read_weight(sample_weight: object, n: int) -> Floats | None:
    """Return a weight for each of n rows, checked; None where none are given."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weight: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ParameterError(f"sample_weight has shape {weight.shape}; give one weight for each of the {n} rows")
    if np.any(weight < 0.0):
        at = int(np.argmin(weight))
        raise ParameterError(f"sample_weight must not be negative: row {at} has {weight[at]:g}; zero leaves a row out")
    if not weight.any():
        raise ParameterError("sample_weight is zero for all rows: nothing is left to learn from")
    return weight
