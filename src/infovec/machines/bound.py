"""Machines of many classes by the variational bound (GR06)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from .._types import Floats, Rows
from ..errors import ParameterError
from ..inference import Inference, Watch
from ..inference.bound import BoundShard
from ..learning import VariationalBound
from ..likelihoods.classes import MultivariateProbit
from ..posterior import FactorisedPosterior
from ..runtime import Deadline
from ..shards import WithSites
from .all_rows import Projected, Sites
from .at_once import AtOnce, Chosen
from .bound_fit import fit_variational_rows
from .budget import Needs, Sizes, bound_need, selection_need, shared_need
from .coupled import Coupled, CoupledClasses
from .seconds import FEWEST_SWEEPS

__all__ = ["Bound", "BoundRows"]


@dataclass(frozen=True)
class BoundClasses(CoupledClasses):
    """The multivariate probit with a posterior over auxiliary variables and functions, not sites by moments."""

    may_lapse = False

    @property
    def probit(self) -> MultivariateProbit:
        """The likelihood."""
        return cast(MultivariateProbit, self.likelihood)

    def objective(self, rows: Rows, active: Sequence[Rows], tolerance: float) -> VariationalBound:  # type: ignore[override]
        data = self.data
        X = data.near(np.arange(data.n))
        return VariationalBound(X, data.y, active[0], self.work.dtype, tolerance, rows, data.group)


@dataclass(frozen=True)
class Bound(BoundClasses, Coupled):
    """Selection by the classes in turns, then the bound with all rows."""

    products = 1
    least_sweeps = FEWEST_SWEEPS

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(selection_need(sizes, sizes.n_functions), bound_need(sizes))

    def shards(self, rows: Rows) -> Sequence[WithSites]:
        """Return some rows in one piece: the bound is maximised over the auxiliary variables of all of them."""
        data = self.data
        X, group = data.near(rows), data.groups_of(rows)
        made = BoundShard(rows, X, data.y[rows], self.kernel, self.probit, self.work.dtype, group, self.work.kept)
        return [cast(WithSites, made)]

    def _in_order(self, rows: Rows) -> Rows:
        return rows

    def settle(
        self, shards: Sequence[WithSites], sites: Sites | None, watch: Watch | None, deadline: Deadline
    ) -> Inference:
        """Maximise the bound."""
        return cast(BoundShard, shards[0]).infer(watch=watch, deadline=deadline)

    def left_out(self, projected: Projected) -> Floats:
        shard = cast(BoundShard, projected.shards[0])
        return shard.left_out if projected.some is None else shard.left_out[:, np.isin(shard.rows, projected.some)]

    @property
    def functions_of_product(self) -> int:
        """One for all classes, which makes the projections."""
        return 1


@dataclass(frozen=True)
class BoundRows(AtOnce, BoundClasses):
    """Unit noise on auxiliary variables (GR06 section 5): the same rows for all classes, and these alone have sites."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.choices.rule.for_all_classes is None:
            raise ParameterError("score must be a name for multi_class='variational' with the factorised posterior")

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(shared_need(sizes))

    def choose(self, wanted: int, rows: Rows, deadline: Deadline) -> Chosen:
        data, every = self.data, len(rows) == self.data.n
        X, y, priority = data.near(rows), data.y[rows], data.priority[rows]
        score, likelihood = self.choices.rule.for_all_classes or "", self.probit if every else self.probit.take(rows)
        found = fit_variational_rows(
            X, y, self.kernel, wanted, likelihood=likelihood, score=score, priority=priority, dtype=self.work.dtype,
            deadline=deadline,
        )  # fmt: skip
        parts = [(cast(FactorisedPosterior, part), rows[found.active]) for part in found.parts]
        return Chosen(parts, found.bound, len(found.active) < min(wanted, data.n))
