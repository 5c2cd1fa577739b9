"""Learning on the evidence of all rows: rows and active sets that grow, and the parameters that suit each of them."""

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from itertools import repeat
from typing import NamedTuple, cast

import numpy as np

from .._types import Floats, Mask, Rows
from ..inference.cost import calibrate, predict_evaluations
from ..learning import (
    Climbed,
    Curvature,
    Learning,
    Model,
    Step,
    best_of_starts,
    elsewhere,
    find_scale,
    has_spare,
    loss_of,
    of_labels,
    optimise,
    put_back,
    richer,
    separate,
    starts,
    still_pays,
    take_up,
    value_at,
)
from ..likelihoods import Likelihood
from ..runtime import Deadline, Late, give_back, own_threads, work_until
from .budget import learning_sizes
from .course import ONLY, Course, Leg, Turn
from .learned import Learned
from .legs import before_last, has_forms, is_separable, legs_of, many_parameters, unguided
from .machine import Machine
from .staged import Objective, Stage, Staged, stages

__all__ = ["learn_by_stages", "predict_seconds"]

_FAR = 1.0  # step of a parameter from one stage to another that is looked back upon
_ALL_ROWS = 6  # iterations with all rows
_BRINGS = 2.0  # log density of all rows, each left out, that a kernel with more to it must bring
_TIMED = 5000  # rows by which an evaluation is timed


def learn_by_stages(
    machine: Staged,
    model: Model,
    deadline: Deadline,
    learning: Learning = Learning(),
    turn: Turn = ONLY,
) -> Learned[Staged]:
    """Maximise the evidence: cheaply at first, at the full active set in the end.

    Parameters
    ----------
    machine : Staged
    model : Model
        The parameters to start from, and how they move.
    deadline : Deadline
        When it is over the best parameters so far are taken; it is told of every evaluation.
    learning : Learning
        Of which the numbers of steps count, if they are given: for stages as large as the last one.
    turn : Turn
        Which of several searches it is.
    """
    plan = _planned(_stages_of(machine, many_parameters(model)), learning)
    legs = legs_of(machine, model, plan)
    samples = len(plan)
    if learning.all_rows and plan[-1].rows < machine.data.n:
        plan, legs = [*plan, _with_all_rows(machine, plan, learning)], [*legs, _leg_of_all_rows(machine, learning)]
    search = _Search(machine, model, plan, samples, Course(legs, machine.work.wanted, deadline, turn))
    for number in range(len(plan)):
        if deadline.over or not model.size:
            break
        give_back()  # what the stage before took
        with suppress(Late), work_until(deadline), own_threads():
            search.run(number)
    found = search.model
    learned = machine.with_parameters(found.kernel, found.likelihood, found.size).sufficient()
    return Learned(learned, search.steps, search.level, model.tied and not found.tied)


class _Place(NamedTuple):
    """Where a search is."""

    model: Model
    added: Mask  # steps of what was not there when learning began
    form: int
    curvature: Curvature
    level: float


class _Search:
    """Parameters on their way through the stages."""

    def __init__(self, machine: Staged, model: Model, plan: list[Stage], samples: int, course: Course) -> None:
        self.whole, self.model, self.plan, self.course = machine, model, plan, course
        self.samples = plan[:samples]  # stages that have some of the rows; one that has all may follow
        self.part: Machine = machine  # that is learned on
        self.steps, self.level = list[Step](), -np.inf
        self.most_rows = max(stage.rows for stage in plan)
        self.curvature, self.rows_before = Curvature(), 0
        self.objective: Objective | None = None
        self.free = unguided(model)
        self.looks_for_spare, self.taken_up = machine.choices.doubt.spare, False
        self.added = np.zeros(model.size, dtype=bool)  # steps of what was not there when learning began
        self.form = 0
        self.earliest: Model | None = None  # found in the first stage
        self.without = model  # what was found before something was taken up
        self.plainer: _Place | None = None  # of many classes, while few rows are active, before further terms
        self.refined = False  # by rows left out

    def watch(self, step: Step) -> bool:
        return self.course.tell(self.part.shown(step))

    def run(self, number: int) -> None:
        """Select, and move the parameters, in one of the stages."""
        self.course.begin(number)
        if number == len(self.samples):
            self._with_all_rows(self.plan[number])
        else:
            self._with_sample(number)
        if number == len(self.plan) - 1 and not self.refined and (self.whole.n_functions > 1 or self.free):
            assert self.objective is not None
            self.model = self.sampled.refined(self.objective, self.model, self.watch)

    def _with_sample(self, number: int) -> None:
        stage, first, model = self.plan[number], number == 0, self.model
        rows = self.whole.sampled(stage.rows)
        part = self.whole.part(rows, stage.active, model.kernel, model.likelihood).sufficient()
        self.part = self.sampled = part
        objective = part.objective(rows, [_at_random(part)] if first else part.active_sets(), stage.tolerance)
        if self.objective is not None:
            objective.go_on_from(self.objective)
            self.curvature = self.curvature.times(len(rows) / self.rows_before)
        self.objective, self.rows_before = objective, len(rows)
        if number == len(self.samples) - 1 and self.plainer is not None:
            self._with_and_without(stage, self.plainer)
        else:
            self._climb(objective, stage, first)
        if first:
            self.earliest = self.model
        elif number == len(self.samples) - 1 and part.n_functions == 1:
            self._look_back(objective, stage)
        if self.looks_for_spare and number <= before_last(self.samples) and has_spare(self.model):
            self._take_up(objective)
        elif self.taken_up and number == len(self.samples) - 1:
            self._put_back(objective, stage)
        if number == before_last(self.samples):
            self._other_kernels(objective, len(rows))

    def _with_all_rows(self, stage: Stage) -> None:
        """Move the parameters with all rows, which stay where they are; rows left out are those of the sample."""
        model, self.refined = self.model, False
        part = self.whole.with_parameters(model.kernel, model.likelihood, model.size).sufficient()
        rows = np.arange(part.data.n)
        objective = part.objective(rows, part.active_sets(), stage.tolerance)
        self.part, self.curvature = part, self.curvature.times(len(rows) / self.rows_before)
        try:
            self._climb(objective, stage, False)
        finally:
            objective.release()

    def _look_back(self, objective: Objective, stage: Stage) -> None:
        """Begin again from what the first stage found if that is better here: few active rows may mislead."""
        earliest = self.earliest
        if earliest is None or earliest.size < self.model.size:  # separate length scales have paid for themselves
            return
        if np.max(np.abs(earliest.theta - self.model.theta), initial=0.0) <= _FAR:
            return
        if value_at(objective, earliest) > self.level:
            self.model, self.curvature = earliest, Curvature()
            self._climb(objective, stage, False)

    def _take_up(self, objective: Objective) -> None:
        """Go on with labels some of which are wrong, or counts that scatter, if it pays."""
        found, more = take_up(objective, self.model, self.level, self.watch)
        if found is None:
            self.steps += map(self.part.shown, more)
            return
        self.without = self.model
        self.model, steps, self.curvature = found
        self.taken_up, self.earliest, self.level = True, self.model, max(step.criterion for step in steps)
        self.added = np.append(self.added, True)
        self._note(steps)

    def _put_back(self, objective: Objective, stage: Stage) -> None:
        """Go on without wrong labels, or scatter, if they pay no longer; where nothing moves here, as before."""
        if not stage.iterations:
            if not still_pays(objective, self.model, self.without):
                self.model, self.taken_up, self.curvature = self.without, False, Curvature()
                self.added, self.form = np.zeros(self.model.size, dtype=bool), 0
            return
        found = put_back(objective, self.model, self.level)
        if found is not None:
            self.model, self.curvature, self.taken_up, self.level = found, Curvature(), False, -np.inf
            self.added = self.added[:-1]
            self._climb(objective, stage, False)

    def _other_kernels(self, objective: Objective, n: int) -> None:
        """Go on with other kernels, if they pay: the fewer parameters the more the first of them finds to explain."""
        labels = of_labels(self.model)
        if labels:
            self._richer(objective, n)
        if is_separable(self.part, self.model, n):
            self._separate(objective, n)
        if not labels:
            self._richer(objective, n)

    def _richer(self, objective: Objective, n: int) -> None:
        """Go on with further terms of the kernel, if they pay."""
        if not has_forms(self.part, self.model, n):
            return
        before = self._place()
        found, more = richer(objective, self.model, n, self.watch)
        self._note(more)
        if found is not None:
            (self.model, _, self.curvature), new, self.form = found.climbed, found.added, int(found.form)
            new[~new] = self.added
            self.added, self.earliest = new, None
            self.plainer = before if self.whole.n_functions > 1 else None

    def _separate(self, objective: Objective, n: int) -> None:
        """Go on with a length scale for each column, if it pays."""
        share = n / max(self.most_rows, n)
        found, more = separate(objective, self.model, self.part.data.p, n, self.level, share, self.watch)
        self._note(more)
        if found is not None:
            added = self._added_of(found.model.size)
            (self.model, _, self.curvature), self.added = found, added

    def _with_and_without(self, stage: Stage, plainer: _Place) -> None:
        """Go on with further terms of the kernel if rows left out still ask for them, else without.

        Few active rows are explained best by functions that are too smooth, and these by a sum; with more of them
        length scales become shorter, and a sum may have nothing to add.
        """
        richer, whole = self._place(), copy(self.objective)
        assert whole is not None
        self._go_to(plainer)
        self._end(stage)
        least = loss_of(copy(whole), self.model) - _BRINGS / self.rows_before
        shorter = float(np.max((self.model.theta - plainer.model.theta)[self.model.scales]))
        for step in (shorter, 0.0):  # as the others have moved, and as it is
            model = richer.model.with_theta(richer.model.theta + step * richer.model.scales)
            if not self.course.deadline.over and loss_of(copy(whole), model) < least:
                self._go_to(richer._replace(model=model))
                self._end(stage)
                return

    def _end(self, stage: Stage) -> None:
        """Climb for the last time, and have rows left out say the last word on length scales."""
        assert self.objective is not None
        objective = copy(self.objective)
        self._climb(objective, stage, False)
        self.model, self.refined = self.sampled.refined(objective, self.model, self.watch), True

    def _place(self) -> _Place:
        return _Place(self.model, self.added, self.form, self.curvature, self.level)

    def _go_to(self, place: _Place) -> None:
        self.model, self.added, self.form, self.curvature, self.level = place

    def _climb(self, objective: Objective, stage: Stage, first: bool) -> None:
        """Maximise; at first from other starts as well."""
        tolerance = self.whole.learning_tolerance
        if first:
            found = self._begin(objective, stage, tolerance)
        else:
            found = optimise(objective, self.model, stage.iterations, self.watch, tolerance, self.curvature)
        self.model, steps, self.curvature = found
        self.level = max((step.criterion for step in steps), default=self.level)
        self._note(steps)

    def _begin(self, objective: Objective, stage: Stage, tolerance: float) -> Climbed[Model]:
        """Maximise from several starts; of many functions from one, unless the kernel may be in other units."""
        model, others = self.model, elsewhere(self.model, *self.whole.choices.doubt.elsewhere)
        if self.whole.n_functions > 1:
            begun = [find_scale(objective, start) for start in (model, *others)]
            return best_of_starts(objective, begun, stage.iterations, self.watch, tolerance=tolerance)
        many = many_parameters(model)
        return best_of_starts(
            objective, starts(objective, model, many, others), stage.iterations, self.watch, again=many
        )

    def _note(self, steps: Sequence[Step]) -> None:
        """Remember steps, without those of what was added: it was not there when learning began."""
        known = (step._replace(theta=self._own(step.theta), form=step.form or self.form) for step in steps)
        self.steps += map(self.part.shown, known)

    def _own(self, theta: Floats) -> Floats:
        """Return what there was when learning began, of steps in which columns may have length scales of their own."""
        return theta[~self._added_of(theta.size)] if self.added.any() else theta

    def _added_of(self, size: int) -> Mask:
        """Return which of so many steps are those of what was added."""
        if size == self.added.size:
            return self.added
        if self.form:
            return self.added[self.model.separated(self.part.data.p)[1]]
        return np.arange(size) == (size - 1 if self.taken_up else size)


def _planned(plan: list[Stage], learning: Learning) -> list[Stage]:
    """The last stage as often, and with as many iterations, as is asked for."""
    last = plan[-1]._replace(iterations=learning.minor_steps or plan[-1].iterations)
    return [*plan[:-1], *repeat(last, learning.major_steps or 1)]


def _with_all_rows(machine: Machine, plan: list[Stage], learning: Learning) -> Stage:
    """The stage that has all rows."""
    return Stage(machine.data.n, machine.work.wanted, learning.minor_steps or _ALL_ROWS, plan[-1].tolerance)


def _leg_of_all_rows(machine: Machine, learning: Learning) -> Leg:
    steps = learning.minor_steps or _ALL_ROWS
    return Leg(machine.data.n, machine.work.wanted, steps, 2 * steps, 1.0, steps + 1.0)


def _stages_of(machine: Machine, many: bool) -> list[Stage]:
    """The stages of a machine, smaller where memory is scarce."""
    sizes, limit = machine.sizes(machine.work.wanted, machine.work.itemsize), machine.work.limit
    asked = machine.stages(many) if isinstance(machine, Staged) else stages(machine.data.n, machine.work.wanted, many)
    fitting = [(stage, *learning_sizes(limit, sizes, stage.rows, stage.active)) for stage in asked]
    return [stage._replace(rows=rows, active=active) for stage, rows, active in fitting]


def _at_random(part: Machine) -> Rows:
    return np.argsort(-part.data.priority, kind="stable")[: part.work.wanted]


def predict_seconds(machine: Machine, tied: bool = False, learning: Learning = Learning()) -> float:
    """Seconds that learning will take, very roughly, as if it were by stages."""
    one = machine.timed() if isinstance(machine, Staged) else machine
    model = Model.begin(one.kernel, cast(Likelihood, one.likelihood), tied)
    legs = legs_of(machine, model, _stages_of(machine, many_parameters(model)))
    if learning.all_rows:
        legs.append(_leg_of_all_rows(machine, learning))
    with own_threads():
        return machine.n_functions * sum(_leg_seconds(one, leg) for leg in legs)


def _leg_seconds(one: Machine, leg: Leg) -> float:
    """Seconds of one function for a leg of learning, after a short calibration."""
    part = one.part(one.data.sample(min(leg.rows, _TIMED)), leg.active, one.kernel, one.likelihood)
    data, likelihood = part.data, cast(Likelihood, part.likelihood)
    rates = calibrate(data.X, data.y, part.work.wanted, part.kernel, likelihood, part.work.dtype)
    return predict_evaluations(rates, leg.rows, leg.active, leg.worth)
