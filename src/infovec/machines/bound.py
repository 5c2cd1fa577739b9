"""Training of many classes by the variational bound (GR06)."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .._types import Rows
from ..errors import ParameterError
from ..inference import Inference, Watch
from ..inference.bound import BoundShard
from ..learning import VariationalBound
from ..likelihoods.classes import MultivariateProbit
from ..runtime import NEVER, Deadline
from .budget import Needs, Sizes, bound_need, selection_need, shared_need
from .class_by_class import BoundDriver
from .classes import ClassTraining

__all__ = ["BoundTraining"]

_SCORES = {"entropy": "predictive", "information_gain": "predictive", "predictive": "predictive",
           "variance": "entropy", "random": "random"}  # fmt: skip


@dataclass(frozen=True)
class BoundTraining(ClassTraining):
    """The multivariate probit with a posterior over auxiliary variables and functions instead of sites by moments."""

    @classmethod
    def needs(cls, sizes: Sizes, approximation: str, likelihood: Any) -> Needs:
        """Memory of selection and of what follows it."""
        if approximation == "factorised":
            return Needs(shared_need(sizes))
        return Needs(selection_need(sizes, sizes.n_functions), bound_need(sizes))

    @property
    def row_score(self) -> str:
        """Score of the selection of GR06: entropies do not see the labels there, the predictive probability does."""
        if self.score_name not in _SCORES:
            raise ParameterError("score must be a name for multi_class='variational' with the factorised posterior")
        return _SCORES[self.score_name]

    def driver(self) -> Any:
        """Return what selects, and with the factorised posterior infers."""
        return BoundDriver(self) if self.approximation == "factorised" else self._selector()

    def projected_shard(self, left_out: Rows | None = None) -> Any:
        """Return all rows, but those left out."""
        rows = np.arange(len(self.y)) if left_out is None else np.setdiff1d(np.arange(len(self.y)), left_out)
        likelihood = cast(MultivariateProbit, self.class_likelihood)
        X = self.X if left_out is None else self.X[rows]
        return BoundShard(
            rows, X, self.y[rows], self.kernel, likelihood, self.dtype, self.groups_of(rows), self.feature_entries
        )

    def infer(self, shard: Any, sites: Any, watch: Watch, deadline: Deadline = NEVER) -> Inference:
        """Maximise the bound."""
        found: Inference = shard.infer(watch=watch, deadline=deadline)
        return found

    @property
    def products_of_sweep(self) -> int:
        """One for all classes, which makes the projections."""
        return 1

    def objective(self, rows: Rows, active: Rows, tolerance: float) -> Any:
        """Return what learning maximises."""
        return VariationalBound(self.X, self.y, active, self.dtype, tolerance, rows, self.group)
