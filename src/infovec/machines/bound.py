"""Training of many classes by the variational bound (GR06)."""

from dataclasses import dataclass
from typing import Any, cast

from .._types import Floats, Rows
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

    def projected_shards(self, rows: Rows) -> list[Any]:
        """Return some rows in one piece: the bound is maximised over the auxiliary variables of all of them."""
        likelihood, group = cast(MultivariateProbit, self.class_likelihood), self.groups_of(rows)
        return [BoundShard(rows, self.X[rows], self.y[rows], self.kernel, likelihood, self.dtype, group)]

    def infer(self, shards: Any, sites: Any, watch: Watch, deadline: Deadline = NEVER) -> Inference:
        """Maximise the bound."""
        found: Inference = shards[0].infer(watch=watch, deadline=deadline)
        return found

    def left_out(self, shards: Any, rows: Rows, found: Inference) -> Floats:
        """Latent means and variances of all rows, each without those of the same inputs, (2, n, C)."""
        known: Floats = shards[0].left_out
        return known

    @property
    def products_of_sweep(self) -> int:
        """One for all classes, which makes the projections."""
        return 1

    def objective(self, rows: Rows, active: Rows, tolerance: float) -> Any:
        """Return what learning maximises."""
        return VariationalBound(self.X, self.y, active, self.dtype, tolerance, rows, self.group)
