"""Learning on the evidence of all rows: rows and active sets that grow, and the parameters that suit each of them."""

import time
from contextlib import suppress
from itertools import repeat
from typing import cast

import numpy as np

from .._types import Rows
from ..inference.cost import calibrate, predict_evaluations
from ..learning import Curvature, Learning, Model, Step, best_of_starts, find_scale, optimise, separable, separate
from ..likelihoods import Likelihood
from ..runtime import Deadline, Late, give_back, own_threads, work_until
from .budget import learning_sizes
from .learned import Learned, told
from .machine import Machine
from .staged import MANY, Objective, Stage, Staged, stages

__all__ = ["learn_by_stages", "predict_seconds"]

_USUAL = 20  # evaluations in a stage
_USUAL_FOR_MANY = 100  # in the first one, where there are many parameters


def learn_by_stages(
    machine: Staged,
    model: Model,
    deadline: Deadline,
    learning: Learning = Learning(),
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
    """
    search = _Search(machine, model, deadline)
    plan = _planned(_stages_of(machine, _many(model)), learning)
    search.most_rows = max(stage.rows for stage in plan)
    for number, stage in enumerate(plan):
        if deadline.over or not model.size:
            break
        give_back()  # what the stage before took
        with suppress(Late), work_until(deadline), own_threads():
            search.run(stage, number == 0, number == min(1, max(len(plan) - 2, 0)), number == len(plan) - 1)
    found = search.model
    learned = machine.with_parameters(found.kernel, found.likelihood, found.size).sufficient()
    return Learned(learned, search.steps, search.level)


class _Search:
    """Parameters on their way through the stages."""

    def __init__(self, machine: Staged, model: Model, deadline: Deadline) -> None:
        self.whole, self.model, self.deadline, self.start = machine, model, deadline, time.perf_counter()
        self.part: Machine = machine  # that is learned on
        self.steps, self.level = list[Step](), -np.inf
        self.most_rows = 0
        self.curvature, self.rows_before = Curvature(), 0
        self.objective: Objective | None = None
        self.free = (
            model.tied and not model.priors and model.limits is None
        )  # nobody said how length scales are learned

    def watch(self, step: Step) -> bool:
        return told(self.deadline, self.part.shown(step), self.whole.work.wanted, self.start)

    def run(self, stage: Stage, first: bool, before_last: bool, last: bool) -> None:
        """Select, and move the parameters."""
        rows, model = self.whole.data.sample(stage.rows), self.model
        part = self.whole.part(rows, stage.active, model.kernel, model.likelihood).sufficient()
        self.part = part
        objective = part.objective(rows, [_at_random(part)] if first else part.active_sets(), stage.tolerance)
        if self.objective is not None:
            objective.go_on_from(self.objective)
            self.curvature = self.curvature.times(len(rows) / self.rows_before)
        self.objective, self.rows_before = objective, len(rows)
        self._climb(objective, stage, first)
        if before_last and _separable(part, self.model):
            share = len(rows) / max(self.most_rows, len(rows))
            found, more = separate(objective, self.model, part.data.p, self.level, share, self.watch)
            self.steps += map(part.shown, more)
            if found is not None:
                self.model, _, self.curvature = found
        if last and (part.n_functions > 1 or self.free):
            self.model = part.refined(objective, self.model, self.watch)

    def _climb(self, objective: Objective, stage: Stage, first: bool) -> None:
        """Maximise; one function also from other starts."""
        if first and self.whole.n_functions == 1:
            found = best_of_starts(objective, self.model, _many(self.model), stage.iterations, self.watch)
        else:
            model = find_scale(objective, self.model) if first else self.model
            tolerance = self.whole.learning_tolerance
            found = optimise(objective, model, stage.iterations, self.watch, tolerance, self.curvature)
        self.model, steps, self.curvature = found
        self.level = max((step.criterion for step in steps), default=self.level)
        self.steps += map(self.part.shown, steps)


def _many(model: Model) -> bool:
    return bool(model.of_kernel.sum() >= MANY)


def _separable(machine: Machine, model: Model) -> bool:
    return machine.n_functions == 1 and machine.data.X.ndim == 2 and separable(model, machine.data.n, machine.data.p)


def _planned(plan: list[Stage], learning: Learning) -> list[Stage]:
    """The last stage as often, and with as many iterations, as is asked for."""
    last = plan[-1]._replace(iterations=learning.minor_steps or plan[-1].iterations)
    return [*plan[:-1], *repeat(last, learning.major_steps or 1)]


def _stages_of(machine: Machine, many: bool) -> list[Stage]:
    """The stages of a machine, smaller where memory is scarce."""
    sizes, limit = machine.sizes(machine.work.wanted, machine.work.itemsize), machine.work.limit
    asked = machine.stages(many) if isinstance(machine, Staged) else stages(machine.data.n, machine.work.wanted, many)
    fitting = [(stage, *learning_sizes(limit, sizes, stage.rows, stage.active)) for stage in asked]
    return [stage._replace(rows=rows, active=active) for stage, rows, active in fitting]


def _at_random(part: Machine) -> Rows:
    return np.argsort(-part.data.priority, kind="stable")[: part.work.wanted]


def predict_seconds(machine: Machine, tied: bool = False) -> float:
    """Seconds that learning will take, very roughly, as if it were by stages."""
    total, C, one = 0.0, machine.n_functions, machine.timed() if isinstance(machine, Staged) else machine
    likelihood = cast(Likelihood, one.likelihood)
    model = Model.begin(one.kernel, likelihood, tied)
    many = _many(model)
    plan = _stages_of(machine, many)
    for number, stage in enumerate(plan):
        part = one.part(one.data.sample(stage.rows), stage.active, one.kernel, one.likelihood)
        with own_threads():
            rates = calibrate(
                part.data.X,
                part.data.y,
                part.work.wanted,
                part.kernel,
                cast(Likelihood, part.likelihood),
                part.work.dtype,
            )
            usual = _USUAL_FOR_MANY if many and number == 0 and C == 1 else min(2 * stage.iterations or 6, _USUAL)
            usual += _USUAL if number == min(1, max(len(plan) - 2, 0)) and _separable(machine, model) else 0
            total += C * predict_evaluations(rates, stage.rows, stage.active, usual)
    return total
