"""Machines of classes whose likelihood couples them: multivariate probit and softmax."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import Inference, LeftOut, Watch, calibrated, infer_coupled, left_out_of_classes
from ..inference import cost as sweep_cost
from ..learning import CoupledEvidence
from ..likelihoods.classes import ClassLikelihood
from ..posterior import ClassPosterior, Posterior
from ..runtime import Deadline, best_of_three, seconds_of
from ..selection import Driver, InTurns
from ..shards import Basis, ClassShard, WithSites
from .all_rows import SELECTION, AllRows, Projected, Sites
from .budget import Needs, Sizes, coupled_need, selection_need
from .classes import ClassMachine
from .one_function import FactorisedFunction
from .plan import Plan
from .seconds import product_seconds, selection_seconds

__all__ = ["Coupled", "CoupledClasses"]

_USUAL_SWEEPS = 15  # over all rows
_TIMED = 50  # rows that a row's time is measured on
_ROUGH = 1e-3  # least tolerance of the sites while learning


@dataclass(frozen=True)
class CoupledClasses(ClassMachine):
    """One kernel and one likelihood for all classes, which learn together."""

    def objective(self, rows: Rows, active: Sequence[Rows], tolerance: float) -> CoupledEvidence:
        return CoupledEvidence(self.learned_rows(rows), active[0], max(tolerance, _ROUGH))

    def active_sets(self) -> list[Rows]:
        return [self.shared_active_set()]

    def moments_seconds(self) -> tuple[float, float]:
        """Seconds for the moments of a row, and for the probabilities of its classes."""
        y, likelihood = self.data.y[:_TIMED], self.likelihood.for_new_rows()
        mean = np.zeros((len(y), self.n_functions))
        var = mean + np.asarray(self.kernel.diag(self.data.X[:_TIMED]), dtype=np.float64)[:, None]
        likelihood.tilted(y[:1], mean[:1], var[:1])  # makes tables, if it has some
        moments = seconds_of(partial(likelihood.tilted, y, mean, var))
        return moments / len(y), seconds_of(partial(likelihood.log_weights, mean, var)) / len(y)


@dataclass(frozen=True)
class Coupled(CoupledClasses, AllRows):
    """Selection by the classes in turns, then coupled sites on the projections of all rows."""

    site_tolerance: ClassVar[float] = 1e-3
    products: ClassVar[int] = 2
    """Of d^2 numbers, for every row and class in a sweep: variances and sums."""
    least_sweeps: ClassVar[int] = 8
    """That there should be time for: after six of them hardly anything changes, and two are left for the end."""

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(selection_need(sizes, sizes.n_functions), coupled_need(sizes))

    @property
    def starts_from_sites(self) -> bool:
        """Those that selection finds are of one class against the rest, or of none."""
        return False

    def selector(self) -> Driver | InTurns:
        return self.taking_turns()

    def shards(self, rows: Rows) -> Sequence[WithSites]:
        dtype, blur, made = self.work.dtype, self.choices.blur, self.choices.places.to_infer_classes
        return [made(at, X, y, self.kernel, self.likelihood, dtype, blur, kept) for at, X, y, kept in self.cut(rows)]

    def settle(
        self, shards: Sequence[WithSites], sites: Sites | None, watch: Watch | None, deadline: Deadline
    ) -> Inference:
        return infer_coupled(cast(Sequence[ClassShard], shards), tolerance=self.site_tolerance, watch=watch)

    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Posterior:
        return ClassPosterior(self.kernel, X, basis.L, *found.beliefs)

    def left_out(self, projected: Projected) -> Floats:
        group = self.data.groups_of(projected.rows)
        known = left_out_of_classes(cast(Sequence[ClassShard], projected.shards), group, projected.some)
        return self.without_kin(projected, known)

    def calibrated(self, known: Floats, rows: Rows, left: float) -> ClassLikelihood:
        told = LeftOut(known, self.data.y[rows].astype(np.intp), self.likelihood.take(rows).weight)
        return calibrated(self.likelihood.for_new_rows(), [told], Deadline.after(left))

    def sweeps_seconds(self, d: int) -> float:
        moments, probabilities = self.moments_seconds()
        product = 0.5 * product_seconds(self.data, self.work.dtype, d)  # of a triangular factor
        return self.least_sweeps * (moments + self.products * self.functions_of_product * product) + probabilities

    @property
    def functions_of_product(self) -> int:
        """Functions that have products of their own."""
        return self.n_functions

    def row_seconds(self, d: int) -> float:
        one, C = self.one(0, d), self.n_functions
        told = one.data, one.kernel, one.likelihood, one.choices.rule.score, one.work
        selection = C * selection_seconds(*told, -(-d // C))
        return max(selection / SELECTION, selection + self.sweeps_seconds(d))

    def plan(self) -> Plan:
        """Predict seconds and memory, after a short calibration."""
        data, work, d, C = self.data, self.work, self.work.wanted, self.n_functions
        share, one = min(-(-d // C) + 1, d), self.one(0, d)
        less = replace(work, wanted=share)
        selecting = FactorisedFunction(one.data, one.kernel, one.likelihood, less, one.choices).plan()
        rates = sweep_cost.calibrate(data.X, one.data.y, d, self.kernel, one.likelihood, work.dtype)
        rates = rates._replace(sweeps=_USUAL_SWEEPS)
        sweeps = sweep_cost.predict_seconds(rates, data.n, d, work.kept / (data.n * d))
        seconds = C * (selecting.seconds + sweeps) + _USUAL_SWEEPS * self._moments_of_all()
        entries = min(C * work.looked_at * share, work.index.max_entries or C * data.n * share)
        return selecting._replace(seconds=seconds, memory=self.peak_bytes(entries), n_active=d)

    def _moments_of_all(self) -> float:
        """Seconds for the moments of all rows once."""
        some = self.data.y[:200]
        mean = np.zeros((len(some), self.n_functions))
        once = partial(self.likelihood.tilted, some, mean, mean + 1.0)
        return best_of_three(once) * self.data.n / len(some)
