"""What is kept of classes that have active sets of their own, and how their posteriors become one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..inference import MOST_ROWS, LeftOut, Sweep, calibrated, some_rows
from ..kernels import Kernel
from ..likelihoods.classes import ClassLikelihood
from ..posterior import FactorisedPosterior, ProjectedPosterior, SeparatePosterior
from ..runtime import NEVER, Deadline
from ..selection import Selector
from .data import Data
from .result import Result
from .run import Run
from .seconds import prediction_seconds

__all__ = ["Separate", "SeparateClasses", "rows_that_tell", "together"]

_CALIBRATION, _FEWEST = 0.05, 200  # share of the time to predict rows left out in, and how many whatever the time


class Separate(NamedTuple):
    """What is known of one class."""

    posterior: FactorisedPosterior | ProjectedPosterior
    active: Rows
    precision: Floats  # of the sites of the active rows
    site_mean: Floats
    left_out: Floats  # latent means and variances of the rows that tell, each without its own site, shape (2, n)
    log_evidence: float = 0.0
    converged: bool = True
    sweeps: Sequence[Sweep] = ()
    dtype: str = "float32"  # of the products


class SeparateClasses:
    """Stands for the selectors of classes that select, and infer, one after the other.

    Parameters
    ----------
    n_rows : int
        Rows that may be included.
    """

    sites = None  # inference is done with when selection is

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.size = n_rows, 0  # size: of the largest class
        self.selectors: list[Selector] = []  # kept to go on from
        self.initial: Rows = np.empty(0, dtype=np.intp)
        self.active, self.scores, self.seconds = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)

    def include(self, rows: Rows, deadline: Deadline = NEVER) -> None:
        """Make given rows active first, for every class."""
        self.initial = rows

    def enlarge(self, capacity: int, max_entries: int | None) -> None:
        """Make room for more rows, which is done class by class."""

    def release(self) -> None:
        """Give back what is kept to go on from."""
        self.selectors = []

    def note(self, parts: Sequence[Separate], seconds: float) -> None:
        """Take note of the rows that are active for some class, in turns of the classes."""
        most = max(len(part.active) for part in parts)
        turns = [part.active[t] for t in range(most) for part in parts if t < len(part.active)]
        first = np.unique(turns, return_index=True)[1] if turns else np.empty(0, dtype=np.intp)
        self.active, self.size = np.array(turns, dtype=np.intp)[np.sort(first)], most
        self.scores, self.seconds = np.full(len(self.active), np.nan), np.full(len(self.active), seconds)


def rows_that_tell(data: Data, kernel: Kernel, dtype: str, d: int, n_classes: int, run: Run) -> Rows:
    """Rows to calibrate by: some, or as many as can be predicted by all classes in a small share of the time."""
    most = MOST_ROWS
    if run.deadline.timed:
        a_row = n_classes * prediction_seconds(data, kernel, dtype, d)
        most = max(_FEWEST, min(most, int(_CALIBRATION * run.left / max(a_row, 1e-12))))
    every = np.arange(data.n)
    return some_rows(data.turns(every), min(most, int(np.sum(data.real(every)))))


def together(
    data: Data, likelihood: ClassLikelihood, parts: Sequence[Separate], active: Rows, rows: Rows, left: float
) -> Result:
    """Return the posterior of all classes, calibrated by what they say of some rows left out.

    Parameters
    ----------
    data : Data
    likelihood : ClassLikelihood
    parts : sequence of Separate
    active : array of int
        Rows that are active for some class.
    rows : array of int
        Those that tell.
    left : float
        Seconds for calibration.
    """
    order = np.argsort(active)
    precision, mean = np.zeros((2, len(active), len(parts)))
    for c, part in enumerate(parts):
        at = order[np.searchsorted(active[order], part.active)]
        precision[at, c], mean[at, c] = part.precision, part.site_mean
    kernel = parts[0].posterior.kernel
    inputs = kernel.in_double(data.given.inside[active])
    posterior = SeparatePosterior(kernel, inputs, tuple(part.posterior for part in parts))
    labels, weight = data.y[rows].astype(np.intp), likelihood.take(rows).weight
    known, tells = np.stack([part.left_out for part in parts], axis=2), (labels >= 0) & data.real(rows)
    weight = None if weight is None else (weight * data.count(rows))[tells]  # an image does not count here
    told = LeftOut(known[:, tells], labels[tells], weight)
    before = np.cumsum([0.0, *(part.log_evidence for part in parts)])
    sweeps = [
        sweep._replace(log_evidence=start + sweep.log_evidence)
        for start, part in zip(before[:-1], parts, strict=True)
        for sweep in part.sweeps
    ]
    return Result(
        posterior, calibrated(likelihood.for_new_rows(), [told], Deadline.after(left)), active, precision, mean,
        float(before[-1]), all(part.converged for part in parts), sweeps,
        dtype=max(part.dtype for part in parts),  # "float64" comes after "float32"
    )  # fmt: skip
