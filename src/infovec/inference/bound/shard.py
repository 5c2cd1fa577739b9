"""All rows with the variational posterior of their classes, with the face of a shard."""

import numpy as np

from ..._types import Floats, Inputs, Rows
from ...kernels import Kernel
from ...likelihoods.classes import MultivariateProbit
from ...runtime import Deadline
from ...shards import Basis, Beliefs
from ..settle import Inference, Sweep, Watch
from .maximum import maximise_bound
from .projection import Projection
from .rows_left_out import left_out

__all__ = ["BoundShard"]


class BoundShard:
    """Rows of the training set whose classes have functions of one kernel, seen through one active set.

    Parameters
    ----------
    rows : array of int
        Their numbers in the training set, ascending.
    X, labels : their inputs and labels
    kernel : Kernel
    likelihood : MultivariateProbit
    dtype : {"float32", "float64"}
    group : array of int, optional
        The same number for rows of equal inputs, which are left out together.
    max_entries : int, optional
        Numbers of the projections to keep; what does not fit is made anew whenever it is needed.
    """

    left_out: Floats  # see the function of that name

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        labels: Rows,
        kernel: Kernel,
        likelihood: MultivariateProbit,
        dtype: str,
        group: Rows | None = None,
        max_entries: int | None = None,
    ) -> None:
        self.max_entries = max_entries
        self.rows, self.X, self.labels, self.kernel = rows, X, labels, kernel
        self.likelihood, self.dtype, self.group = likelihood.take(rows), dtype, group

    @property
    def weight(self) -> Floats | None:
        """How many times each row counts."""
        return self.likelihood.weight

    @property
    def prior_var(self) -> Floats:
        """Variances of the functions at the rows before anything is known."""
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    @property
    def basis(self) -> Basis:
        """The active set."""
        return self.projection.basis

    def sharpness(self, common: float, sharpest: float) -> Floats:
        """How many rows have sharper sites than that, and how many there are: auxiliary variables have unit noise."""
        sharp = self.prior_var - common > sharpest
        return np.array([np.count_nonzero(sharp), len(sharp)], dtype=np.float64)

    def project(self, basis: Basis) -> None:
        """Take an active set."""
        active, classes = np.searchsorted(self.rows, basis.rows), np.arange(self.likelihood.n_classes)
        self.projection = Projection.of(self.kernel, classes, self.X, active, self.dtype, self.weight, self.max_entries)

    def infer(self, tolerance: float = 1e-5, watch: Watch | None = None, deadline: Deadline | None = None) -> Inference:
        """Maximise the bound, which stands for the log evidence; it counts as one sweep."""
        best = maximise_bound([self.projection], self.labels, self.likelihood, tolerance=tolerance, deadline=deadline)
        self.left_out, self._target = left_out([self.projection], best, self.group), best.mean + best.g
        sweep = Sweep(best.bound, 0.0, 1.0, len(self.rows))
        if watch is not None:
            watch(sweep)
        Q = np.repeat(self.projection.Q[None], self.likelihood.n_classes, axis=0)
        return Inference(Beliefs(Q, best.z.T.copy()), best.bound, best.converged, [sweep])  # beta is z at the maximum

    def rest(self) -> None:
        """Drop what only further work would need, of which there is nothing."""

    def sites(self, rows: Rows) -> tuple[Floats, Floats]:
        """Precisions, which are the weights, and shifts of some rows, shape (len(rows), C)."""
        at = np.searchsorted(self.rows, rows)
        precision = np.repeat(self.projection.weight[at, None], self.likelihood.n_classes, axis=1)
        return precision, precision * self._target[at]
