"""Machines of one latent function: two classes, ordered ones, numbers and counts."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..criteria import log_evidence
from ..inference import (
    Inference,
    Watch,
    best_spread,
    infer,
    left_out,
    left_out_in_turn,
    sharp_sites,
    some_rows,
    spreads,
    without_own_site,
)
from ..inference import cost as sweep_cost
from ..learning import EvidenceByTask, Model, ProjectedEvidence, Step, refine_by_groups, refine_scales
from ..likelihoods import Discrete, Gaussian, Likelihood, Weighted, total_weight, weighted
from ..posterior import FactorisedPosterior, Posterior, ProjectedPosterior
from ..runtime import Deadline, StopReason, best_of_three, give_back, own_threads
from ..selection import Driver, GainDriver, Patience
from ..selection.cost import calibrate, predict_seconds
from ..selection.precision import sufficient_precision
from ..shards import Basis, GivenRows, Shard, SiteShard, WithSites, together
from .all_rows import SELECTION, AllRows, Projected, Sites
from .budget import Needs, Sizes, inference_need, selection_need
from .by_task import by_task, evidence_by_task, stage_of_tasks, whole_tasks
from .machine import Machine
from .moving import move
from .plan import Plan
from .refined import Refined, refined
from .residuals import residuals
from .result import Result
from .run import Run
from .seconds import selection_seconds, sweeps_seconds
from .staged import Objective, Stage, Staged, stages
from .work import Refine

__all__ = ["FactorisedFunction", "OneFunction", "ProjectedFunction"]

_SHORTER = 1.2  # factor between length scales that are tried by rows left out
_TELLING = 1000  # rows at least for that
_SMOOTHER, _TOLD_BY_GROUPS = 1.4, 50  # the same where whole groups are left out, which evidence is misled by
_TIMED, _CALIBRATED = 50, 200  # rows to time a prediction on, and those that calibration has whatever the time
_SETTLED_AGAIN = 1e-2  # tolerance of sites without some of the rows, which tell how well these are predicted
_NO_NOISE = 1e-6  # share of the prior variance
_ROUGH, _SIDES_TAKEN = 0.1, 60  # tolerance of sites, and sweeps, where rows wait for a side to take
_TRIALS = 150  # predictions of all rows that it takes, at most


@dataclass(frozen=True)
class OneFunction(Machine):
    """One latent function, whatever its posterior."""

    likelihood: Likelihood

    @property
    def n_functions(self) -> int:
        """One."""
        return 1

    @property
    def selecting(self) -> Likelihood:
        """The likelihood that rows are selected for."""
        return self.likelihood

    @property
    def starts_from_sites(self) -> bool:
        """Whether the sites that selection finds are those of this likelihood."""
        return not self.choices.rule.noiseless and self.selecting == self.likelihood

    @abstractmethod
    def single_is_enough(self) -> bool:
        """Whether single precision is, for these parameters."""

    def sufficient(self) -> Self:
        return self if self.work.dtype != "float32" or self.single_is_enough() else self.raised()

    def selector(self) -> Driver | GainDriver:
        rows, work, rule = self.data.first_in_line(self.work.looked_at, self.work.initial), self.work, self.choices.rule
        parts = self.choices.places.divided(self.data.X, rows, selecting=True)
        shards = [self._shard(number, rows[part], len(rows)) for number, part in enumerate(parts)]
        return Driver(shards, self.kernel, self.selecting, rule.score, work.wanted, work.schedule)

    def _shard(self, number: int, rows: Rows, n: int) -> Shard:
        """Some of n rows to select from, with their share of what all of them may have."""
        data, work = self.data, self.work
        given = GivenRows(rows, data.inputs(rows), data.y[rows], data.priority[rows], data.held_back[rows])
        index = work.index.of_shard(number, len(rows), n, work.wanted)
        choices, wanted = self.choices, work.wanted
        return choices.places.to_select(
            given, self.kernel, self.selecting, choices.rule.score, wanted, work.dtype, index
        )

    def select(self) -> Rows:
        """Return the active rows, without inference."""
        if self.work.wanted >= self.data.n:
            return np.arange(self.data.n)
        selector = self.selector()
        selector.run(self.work.wanted)
        active = selector.active[: selector.size].copy()
        selector.release()
        return active

    def row_seconds(self, d: int) -> float:
        score = self.choices.rule.score
        return selection_seconds(self.data, self.kernel, self.likelihood, score, self.work, d)

    def plan(self) -> Plan:
        with own_threads():
            return self._plan()

    def _plan(self) -> Plan:
        data, work, d = self.data, self.work, self.work.wanted
        model = self.kernel, self.likelihood, self.choices.rule.score
        rates = calibrate(data.X, data.y, *model, work.schedule, work.dtype)
        index = work.index.without_refill()
        seconds = predict_seconds(rates, work.looked_at, d, work.schedule, index)
        entries = min(index.peak(work.looked_at, d), index.max_entries or work.looked_at * d)
        live, schedule = min(work.looked_at, index.limit(work.looked_at, d, d)), work.schedule
        return Plan(
            seconds, self.peak_bytes(entries), data.n, d, live, schedule.block_size, schedule.pool_size, work.dtype
        )


@dataclass(frozen=True)
class FactorisedFunction(OneFunction):
    """The machine of the papers: the active rows alone have sites."""

    all_rows = False
    refinable = Refine(exchange=True, by_evidence=True, sweeps=True)

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(selection_need(sizes))

    def single_is_enough(self) -> bool:
        data = self.data
        told = data.X, data.y, data.priority, self.kernel, self.likelihood
        return sufficient_precision(self.work.dtype, *told) == self.work.dtype

    def finish(self, run: Run, wanted: int, patience: Patience | None) -> tuple[StopReason, Result]:
        """Select; the sites are as selection left them, unless something was asked for besides."""
        stop, driver = run.select(wanted, patience), run.selector
        assert isinstance(driver, Driver)
        found, data, likelihood = self._found(driver, run), self.data, self.likelihood
        posterior, active = found.posterior, found.active
        known = np.concatenate([driver.active[: driver.size], driver.outside()])
        if not self.choices.keep:
            driver.release()
            give_back()
        evidence = log_evidence(posterior, found.y, likelihood.take(active), found.outside)
        spread = None if isinstance(likelihood, Discrete) else self._residuals(posterior, active, run.last)
        inside, telling, same = data.given.inside, run.telling, (data.group, data.folds)
        told = None if telling is None else without_own_site(posterior, active, inside, telling, *same)
        return stop, Result(
            posterior, likelihood, active, posterior.precision, posterior.site_mean, evidence, found.converged,
            found.sweeps, total_weight(likelihood.take(known), len(known)), self.work.dtype, spread, told, found.moves,
        )  # fmt: skip

    def _found(self, driver: Driver, run: Run) -> Refined:
        """Return what selection has come to, refined if that was asked for."""
        refine, d = self.choices.refine, driver.size
        if any(refine) and d:
            model, stay = (self.kernel, self.likelihood), self.work.initial
            return refined(driver, self.data, *model, refine, stay, lambda: run.deadline.over)
        posterior, active, y = driver.posterior(self.data.given.inside), driver.active[:d].copy(), driver.y[:d]
        return Refined(posterior, active, y, driver.log_likelihood_outside(), True, [], [])

    def _residuals(self, posterior: FactorisedPosterior, active: Rows, left: float) -> Floats:
        data, rows = self.data, some_rows(self.data.priority)
        known = without_own_site(posterior, active, data.given.inside, rows, data.group, data.folds)
        return residuals(data, self.likelihood, known, rows, self.learned, left)


@dataclass(frozen=True)
class ProjectedFunction(OneFunction, AllRows, Staged):
    """Selection as in the papers, then sites on the projections of all rows (Thesis 4.4.2)."""

    may_move = True
    settles_again: ClassVar[bool] = True
    """Whether sites settle again without the rows of a group, to tell how well these are predicted."""
    site_tolerance: ClassVar[float] = 1e-4
    """Largest change of a site at the end of inference, in units of the posterior."""

    @classmethod
    def needs(cls, sizes: Sizes) -> Needs:
        return Needs(selection_need(sizes), inference_need(sizes))

    @property
    def selecting(self) -> Likelihood:
        """The likelihood; by variance almost none: then what is left is that of a pivoted Cholesky factor."""
        if not self.choices.rule.noiseless:
            return self._each_for_itself(self.likelihood.for_selection())
        return Gaussian(_NO_NOISE * max(float(np.mean(self.kernel.diag(self.data.X[:1000]))), 1e-300))

    def _each_for_itself(self, likelihood: Likelihood) -> Likelihood:
        """Return a likelihood with the weights that rows would have if images were rows of their own."""
        if self.data.kin is None or not isinstance(likelihood, Weighted):
            return likelihood
        weight = likelihood.weight * self.data.count(np.arange(self.data.n))
        return likelihood.likelihood if np.allclose(weight, 1.0) else weighted(likelihood.likelihood, weight)

    def single_is_enough(self) -> bool:
        data = self.data
        return not sharp_sites(data.X, data.y, data.priority, self.kernel, self.likelihood)

    def selector(self) -> Driver | GainDriver:
        if not self.choices.rule.by_gain:
            return super().selector()
        data, work = self.data, self.work
        return GainDriver(
            self.shards(np.arange(data.n)), self.kernel, self.likelihood, work.wanted, work.schedule, data.priority,
            data.held_back,
        )  # fmt: skip

    def shards(self, rows: Rows) -> list[SiteShard]:
        dtype, blur, made = self.work.dtype, self.choices.blur, self.choices.places.to_infer
        return [made(at, X, y, self.kernel, self.likelihood, dtype, blur, kept) for at, X, y, kept in self.cut(rows)]

    def settle(
        self, shards: Sequence[WithSites], sites: Sites | None, watch: Watch | None, deadline: Deadline
    ) -> Inference:
        if self.likelihood.waits:  # rows go on taking sides for long, which changes little
            return infer(cast(Sequence[SiteShard], shards), sites, _ROUGH, _SIDES_TAKEN, watch=watch, rescue=True)
        return infer(cast(Sequence[SiteShard], shards), sites, self.site_tolerance, watch=watch, rescue=True)

    def posterior(self, X: Inputs, basis: Basis, found: Inference) -> Posterior:
        return ProjectedPosterior(self.kernel, X, basis.L, *found.beliefs)

    def left_out(self, projected: Projected) -> Floats:
        known = left_out(
            cast(Sequence[SiteShard], projected.shards), projected.found.beliefs,
            self.data.groups_of(projected.rows), projected.some,
        )  # fmt: skip
        known, same = self.without_kin(projected, known), self.likelihood.conjugate or not self.settles_again
        folds = self.data.folds
        return known if folds is None or same or projected.hurried else self._in_turn(projected, known, folds)

    def _in_turn(self, projected: Projected, known: Floats, folds: Rows) -> Floats:
        """Return what is known of rows whose folds are left out, where the sites of the others settle again."""
        order = np.argsort(projected.rows)
        rows, room = projected.rows[order], 2 * self.work.kept * self.work.itemsize <= self.work.limit
        machine = self if room else replace(self, work=replace(self.work, kept=0))

        def again(rest: Rows, sites: tuple[Floats, Floats]) -> Inference:
            shards = machine.shards(rows[rest])
            every = together(shards)
            every.broadcast("project", projected.basis)
            every.broadcast("resume", rows[rest], *sites)
            return infer(shards, tolerance=_SETTLED_AGAIN)

        shards, look = cast(Sequence[SiteShard], projected.shards), self.look(projected, rows)
        found = known[:, order]
        left_out_in_turn(again, shards, found, look, rows, folds[rows])
        known[:, order] = found
        return known

    def calibrated(self, known: Floats, rows: Rows, left: float) -> Likelihood:
        if not self.choices.doubt.calibrate or not isinstance(self.likelihood, Discrete):
            return self.likelihood
        real = self.data.real(rows)
        rows, known = rows[real], known[:, real]
        likelihood, y = cast(Discrete, self._each_for_itself(self.likelihood)).take(rows), self.data.y[rows]
        if np.isfinite(left):
            few = np.arange(len(y))[:_TIMED]
            once = partial(likelihood.take(few).log_proba, *known[:, few])
            most = max(_CALIBRATED, int(left * len(few) / (_TRIALS * max(best_of_three(once), 1e-9))))
            some = np.sort(np.argsort(-self.data.priority[rows], kind="stable")[:most])
            likelihood, y, known = likelihood.take(some), y[some], known[:, some]
        return self.likelihood.with_spread(best_spread(likelihood, y, known).share)

    def moved(self, run: Run) -> tuple[Self, Floats | None]:
        machine, run.moved = move(self, run)
        return machine, None if run.moved is None else run.moved.inputs

    @property
    def can_move(self) -> bool:
        return self.data.kin is None and not self.likelihood.waits

    def sweeps_seconds(self, d: int) -> float:
        return sweeps_seconds(self.data, self.kernel, self.likelihood, self.work.dtype, d)

    def row_seconds(self, d: int) -> float:
        selection = super().row_seconds(d)
        return max(selection / SELECTION, selection + self.sweeps_seconds(d))

    def _plan(self) -> Plan:
        data, work, d, plan = self.data, self.work, self.work.wanted, super()._plan()
        rates = sweep_cost.calibrate(data.X, data.y, d, self.kernel, self.likelihood, work.dtype)
        more = sweep_cost.predict_seconds(rates, data.n, d, work.kept / (data.n * d))
        return plan._replace(seconds=plan.seconds + more)

    def objective(self, rows: Rows, active: Sequence[Rows], tolerance: float) -> ProjectedEvidence | EvidenceByTask:
        if by_task(self.data, self.kernel):
            return evidence_by_task(self.data, self.kernel, self.learned_rows(rows), tolerance)
        return ProjectedEvidence(self.learned_rows(rows), active[0], tolerance)

    def sampled(self, size: int) -> Rows:
        """Return rows to learn from: of independent tasks some, and all of their rows."""
        return whole_tasks(self.data, self.kernel, size) if by_task(self.data, self.kernel) else super().sampled(size)

    def active_sets(self) -> list[Rows]:
        return [self.select()]

    def stages(self, many: bool) -> list[Stage]:
        """Return the stages of learning; with Gaussian noise an evaluation needs no sweeps."""
        if by_task(self.data, self.kernel):
            return [stage_of_tasks(self.data)]
        return stages(self.data.n, self.work.wanted, many, self.likelihood.conjugate)

    def timed(self) -> "ProjectedFunction":
        return self

    def refined(self, objective: Objective, model: Model, watch: Callable[[Step], bool]) -> Model:
        """Return the model whose length scales predict rows left out best, where these are enough to tell."""
        if not self.refines(self.data.n):
            return model
        if self.data.folds is not None:
            return refine_by_groups(objective, model, _SMOOTHER, watch)
        return refine_scales(objective, model, _SHORTER, watch)

    def refines(self, n: int) -> bool:
        if self.data.folds is not None:
            return n >= _TOLD_BY_GROUPS and bool(self.likelihood.told(self.data.y).all())
        return spreads(self.likelihood) and n >= _TELLING and bool(self.likelihood.told(self.data.y).all())
