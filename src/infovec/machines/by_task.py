"""Which rows belong to tasks that are independent of each other, and in which bundles their evidence is added up."""

import numpy as np

from .._types import Array, Rows
from ..kernels import Kernel, Tasks
from ..learning import EvidenceByTask, LearnedRows
from .data import Data
from .staged import Stage

__all__ = ["by_task", "evidence_by_task", "independent_tasks", "stage_of_tasks", "whole_tasks"]

_BUNDLE = 200  # rows in a bundle of tasks: fewer would take time for themselves, more a matrix that is mostly zero
_LARGE = 400  # rows of a task on the average from which it has an active set to be learned with, as if it were alone
_MOST = 10_000  # rows to learn from
_STEPS, _TOLERANCE = 40, 3e-3


def independent_tasks(data: Data, kernel: Kernel) -> Array | None:
    """Return the task of every row, where rows of different ones are independent and in memory; else None."""
    if not isinstance(kernel, Tasks) or isinstance(kernel.column, str) or not isinstance(data.X, np.ndarray):
        return None
    tasks: Array = np.unique(data.X[:, kernel.column], return_inverse=True)[1]
    return tasks


def by_task(data: Data, kernel: Kernel) -> bool:
    """Whether the evidence is added up task by task: there are several, and all rows of each can be active."""
    tasks = independent_tasks(data, kernel)
    return tasks is not None and tasks.max() > 0 and data.n <= _LARGE * (tasks.max() + 1)


def stage_of_tasks(data: Data) -> Stage:
    """Return the only stage of learning: all rows are active, as far as there are not too many."""
    return Stage(min(data.n, _MOST), min(data.n, _BUNDLE), _STEPS, _TOLERANCE)


def whole_tasks(data: Data, kernel: Kernel, size: int) -> Rows:
    """Return the rows of tasks drawn at random, about so many and those of one task at least."""
    tasks = independent_tasks(data, kernel)
    assert tasks is not None
    free = ~data.held_back
    rank = np.full(int(tasks.max()) + 1, np.inf)
    np.minimum.at(rank, tasks[free], data.priority[free])  # of the first row of each
    rows = np.bincount(tasks[free], minlength=len(rank))
    order = np.argsort(rank, kind="stable")
    taken = order[: max(1, int(np.searchsorted(np.cumsum(rows[order]), size, side="right")))]
    return np.flatnonzero(free & np.isin(tasks, taken))


def evidence_by_task(data: Data, kernel: Kernel, given: LearnedRows, tolerance: float) -> EvidenceByTask:
    """Return what learning maximises: the evidences of bundles of tasks, added up."""
    tasks = independent_tasks(data, kernel)
    assert tasks is not None
    order = np.argsort(tasks, kind="stable")
    size = np.bincount(tasks)
    begins = np.cumsum(size) - size
    bundle = np.repeat(begins // _BUNDLE, size)  # by where a task begins: none is divided
    parts = np.split(order, np.flatnonzero(np.diff(bundle)) + 1)
    bundles = [(np.sort(part), _active(data, np.sort(part))) for part in parts]
    return EvidenceByTask(given, bundles, tolerance)


def _active(data: Data, rows: Rows) -> Rows:
    """All rows of a bundle; of a task that is too large some of them, at random."""
    return np.sort(np.argsort(-data.priority[rows], kind="stable")[: 2 * _LARGE])
