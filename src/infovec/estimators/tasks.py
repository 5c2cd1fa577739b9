"""Groups of rows: tasks, which become one more column for kernels that ask for them, or else rows left out together."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from .._types import Array, Floats, Foreign, Inputs, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..kernels.columns import On, as_numbers, parts_of, resolved
from ..kernels.tasks import GROUPS, ByTask
from ..shards import FarInputs
from ..tables import TableSchema
from .values import form_of, given_kernel

__all__ = [
    "Grouped",
    "are_tasks",
    "codes_of",
    "folds_of",
    "gaps_of",
    "grouped",
    "kernel_on",
    "learn_tasks",
    "mixed_by_name",
    "one_each",
    "tasks_beside",
    "with_groups",
]

_LARGEST = 2.0**23  # number of a task that single precision tells from its neighbours, wherever its origin is


class Grouped(NamedTuple):
    """Inputs, and the group of each row."""

    X: Any
    groups: ArrayLike

    def __len__(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)

    def labels(self) -> Array:
        """Return the labels, checked."""
        labels = one_each(self.groups, len(self), "X")
        if labels.dtype == object and all(isinstance(label, str) for label in labels.tolist()):
            labels = labels.astype(str)
        missing = [label is None or type(label).__name__ == "NAType" or label != label for label in labels.tolist()]
        if any(missing):
            raise ParameterError(f"groups has no label for row {missing.index(True)}; give each row its group")
        return labels


def one_each(groups: ArrayLike, n: int, of: str) -> Array:
    """Return groups as labels; raise unless there is one for each of the rows of a table."""
    shape = np.asarray(groups).shape
    if shape not in ((n,), (n, 1)):
        column = groups if isinstance(groups, str) else "site"
        found = f"{shape[0]} labels" if len(shape) == 1 else f"shape {shape}" if shape else f"only {groups!r}"
        raise ParameterError(
            f"{of} has {n} rows, groups has {found}: groups must have one label for each row; a column of a frame "
            f"goes in as groups=X[{column!r}]"
        )
    labels: Array = column_or_1d(groups)
    return labels


def grouped(X: object, groups: ArrayLike | None) -> object:
    """Return the inputs with their groups, if there are any."""
    return X if groups is None else Grouped(X, groups)


def with_groups(score: Callable[..., float]) -> Callable[..., float]:
    """Return a ``score`` of scikit-learn that takes the tasks of the rows too."""

    def scored(
        self: object, X: object, y: object, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> float:
        return score(self, grouped(X, groups), y, sample_weight)

    scored.__name__, scored.__doc__ = "score", score.__doc__
    return scored


def are_tasks(kernel: Kernel | None) -> bool:
    """Whether groups are the tasks of a kernel; else they say which rows are left out together."""
    return kernel is not None and any(part.column == GROUPS for part in _by_task(kernel))


def learn_tasks(estimator: Any, kernel: Kernel | None, labels: Array | None) -> None:
    """Remember the labels of the tasks, if the kernel asks for them."""
    vars(estimator).pop("tasks_", None)
    if labels is None or not are_tasks(kernel):
        return
    if labels.dtype == object:
        raise ParameterError("groups must be labels of one type, texts or numbers")
    estimator.tasks_ = np.unique(labels)


def folds_of(labels: Array) -> Rows | None:
    """Return a number for each group of rows that are left out together, of labels of any type; None if all differ."""
    if labels.dtype != object:
        folds = np.unique(labels, return_inverse=True)[1].ravel()
    else:
        numbers = dict[object, int]()
        folds = np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], dtype=np.intp)
    if len(folds) and folds.max() == 0:
        raise ParameterError(
            f"groups has one label only, {labels[0]!r}: groups say which rows are left out together to find out how "
            "well those of others are predicted, for which there must be two; leave groups out"
        )
    return folds if len(folds) > int(folds.max(initial=-1)) + 1 else None


def tasks_beside(estimator: Any, inputs: Inputs, labels: Array) -> Floats:
    """Return inputs with the numbers of the tasks as their last column; new tasks get numbers of their own."""
    if sparse.issparse(inputs) or isinstance(inputs, FarInputs) or inputs.ndim != 2:
        raise ParameterError(
            "groups go with rows of numbers in memory; else put the number of the task into a column of X, and say "
            "which one in the kernel"
        )
    known = {label: k for k, label in enumerate(estimator.tasks_.tolist())}
    codes = [known.setdefault(label, len(known)) for label in labels.tolist()]
    return np.column_stack([inputs, np.array(codes, dtype=inputs.dtype)])


def kernel_on(estimator: Any, X: Inputs) -> Kernel | None:
    """Return the kernel that was given, with the numbers of the columns that it names in the inputs of a fit."""
    given = given_kernel(estimator.kernel)
    if given is not None and hasattr(estimator, "table_"):
        _check_categories(given, estimator.table_)
    kernel = given or form_of(estimator.kernel)
    if kernel is None or X.ndim != 2 or not any(isinstance(part, ByTask | On) for part in parts_of(kernel)):
        return kernel
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    if hasattr(estimator, "table_"):
        names = estimator.table_.names
    if hasattr(estimator, "tasks_"):
        names = [*(names or [""] * (X.shape[1] - 1)), GROUPS]
    if sparse.issparse(X) and _by_task(kernel):
        raise ParameterError(f"{type(_by_task(kernel)[0]).__name__} takes dense inputs only: X.toarray()")
    found = resolved(kernel, names, X)
    if isinstance(X, np.ndarray):
        for part in _outermost(found):
            _check_numbers(X[:, int(part.column)], part)
    return found


def codes_of(estimator: Foreign) -> Rows:
    """Return the columns of the inputs of a fit that have codes of categories."""
    found: Rows = estimator.table_.codes if hasattr(estimator, "table_") else np.empty(0, dtype=np.intp)
    return found


def gaps_of(estimator: Foreign) -> Rows:
    """Return those of the columns with codes that say where values of a table are missing."""
    codes = codes_of(estimator)
    return codes[codes >= len(estimator.table_.columns)] if len(codes) else codes


def _check_categories(kernel: Kernel, table: TableSchema) -> None:
    """Refuse a kernel that takes the codes of categories for numbers."""
    names, p = table.names, len(table.columns)
    codes = [j for j in table.codes if j < p]
    taken = as_numbers(kernel, names)
    wrong = [names[j] for j in codes if j in taken]
    if not wrong:
        return
    raise ParameterError(
        f"kernel={kernel!r} takes column {wrong[0]!r} for numbers, which has categories. Leave kernel=None, which has "
        f"a kernel for both; or give each its own, such as {mixed_by_name(table)}"
    )


def mixed_by_name(table: TableSchema) -> str:
    """Return a kernel for numbers and categories as it is written, with a scale of its own for each column."""
    names, codes = table.names, set(table.codes.tolist())
    numbers, words = [name for j, name in enumerate(names) if j not in codes], [names[j] for j in sorted(codes)]
    parts = [f"On(RBF(np.ones({len(numbers)})), {numbers})"] if numbers else []
    parts += [f"On(Categorical(np.ones({len(words)})), {words})"] if words else []
    return f"{' * '.join(parts)} + Bias()"


def _check_numbers(tasks: Floats, kernel: ByTask) -> None:
    if np.any(tasks != np.rint(tasks)) or np.max(np.abs(tasks)) > _LARGEST:
        raise ParameterError(
            f"{type(kernel).__name__}: column {kernel.column} must have the numbers of the tasks, whole and at most "
            f"{_LARGEST:.0f}; labels of any other kind can be given as groups to fit and predict, with column='groups'"
        )


def _by_task(kernel: Kernel) -> list[ByTask]:
    """All parts of a kernel that have tasks."""
    return [part for part in parts_of(kernel) if isinstance(part, ByTask)]


def _outermost(kernel: Kernel) -> list[ByTask]:
    """Parts with tasks that see all columns."""
    if isinstance(kernel, ByTask | On):
        return [kernel] if isinstance(kernel, ByTask) else []
    return [found for _, part in kernel._children() if isinstance(part, Kernel) for found in _outermost(part)]
