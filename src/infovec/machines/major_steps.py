"""Major steps for the criteria of the factorised posterior: select, move the parameters, and select again."""

import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from .._types import Floats
from ..criteria import Given
from ..errors import InfovecError
from ..learning import (
    FACTORISED,
    FactorisedObjective,
    LagRule,
    Learning,
    Model,
    Step,
    find_scale,
    minor_steps,
    second_look,
)
from ..likelihoods import total_weight
from ..runtime import Deadline, Late, give_back, limited, work_until
from ..selection import Driver, sites_in_order
from .learned import Learned, told
from .one_function import OneFunction
from .staged import ACTIVE_FOR_MANY, MANY

__all__ = ["learn_by_major_steps"]

_MAJOR, _MINOR = 15, 8  # SLH 6.1
_WARM_ROWS, _WARM_ACTIVE, _WARM_STEPS = 1000, 100, 5
_LARGER = 4.0  # there is no warm-up for a problem that is less than so many times as large as it
_MOST_ACTIVE = 1000
_SMALL = 2_000_000  # numbers of K_J,I up to which threads would wait for each other more than they work
_HALVINGS = 3  # times that a step is halved where no rows can be selected


def learn_by_major_steps(
    machine: OneFunction,
    model: Model,
    deadline: Deadline,
    learning: Learning,
) -> Learned[OneFunction]:
    """Learn parameters by a criterion of the factorised posterior (SLH 3.3, LSH05 algorithm 2, Thesis 4.5.3).

    Parameters
    ----------
    machine : OneFunction
    model : Model
        The parameters to start from, and how they move.
    deadline : Deadline
        When it is over the best parameters so far are taken; it is told of every evaluation.
    learning : Learning
    """
    search, n = _Search(machine, learning, deadline), machine.data.n
    if model.size:
        large = min(machine.work.wanted, _MOST_ACTIVE), min(n, learning.max_rows or n)
        with work_until(deadline):
            if learning.warm_up:
                model = search.warm_up(model, *large)
            model = search.majors(model, *large, learning.major_steps or _MAJOR)
    learned = machine.with_parameters(model.kernel, model.likelihood, model.size).sufficient()
    return Learned(learned, search.steps, search.level)


class _Search:
    def __init__(self, machine: OneFunction, learning: Learning, deadline: Deadline) -> None:
        self.machine, self.learning, self.deadline, self.start = machine, learning, deadline, time.perf_counter()
        self.plan, self.steps, self.level = FACTORISED[learning.criterion], list[Step](), -np.inf
        self.likelihood = machine.likelihood  # of the rows that were selected from last

    @property
    def over(self) -> bool:
        return self.deadline.over

    def watch(self, step: Step) -> bool:
        return told(self.deadline, step, self.machine.work.wanted, self.start)

    def warm_up(self, model: Model, wanted: int, n: int) -> Model:
        """Go some steps on few rows with few of them active; also from other length scales, if they look better.

        What looks better may be a model that explains nothing, where a start that explains little leads to a good one.
        """
        many, rows = model.of_kernel.sum() >= MANY, min(n, _WARM_ROWS)
        active = min(ACTIVE_FOR_MANY if many else min(wanted, _WARM_ACTIVE), max(n // 2, 1))
        with limited(1):
            scaled = find_scale(lambda trial: self._fresh(trial, active, rows), model)
        other = not np.array_equal(scaled.theta, model.theta)
        if not other and (n <= rows if many else wanted * n < _LARGER * active * rows):
            return model
        model, level = self.majors(model, active, rows, _WARM_STEPS), self.level
        if other and not self.over:
            scaled = self.majors(scaled, active, rows, _WARM_STEPS)
            model, level = (scaled, self.level) if self.level > level else (model, level)
        if many and not self.over:
            again = self.majors(second_look(model), active, rows, _WARM_STEPS)
            model = again if self.level > level else model
        return model

    def _fresh(self, model: Model, wanted: int, n: int) -> tuple[float, Floats]:
        """Criterion of a selection of its own, as long as there is time."""
        if self.over:
            raise InfovecError("the time is used up")
        return FactorisedObjective(self.select(model, wanted, n), self.plan.level)(model)

    def majors(self, model: Model, wanted: int, n: int, most: int) -> Model:
        """Select and move the parameters in turn; return those of the best selection."""
        with limited(1) if wanted * n <= _SMALL else nullcontext():
            return self._majors(model, wanted, n, most)

    def _majors(self, model: Model, wanted: int, n: int, most: int) -> Model:
        rule = LagRule(self.learning.lag, self.learning.lag, self.learning.tolerance)
        best, self.level, halved = model, -np.inf, 0
        for t in range(most + 1):
            try:
                given = self.select(model, wanted, n)
                value = self.level_of(given, model)
                if value > self.level:
                    best, self.level = model, value
                if rule.ends(value) or t == most or self.over:
                    break
                model = self.minors(given, model, wanted, n)
            except (InfovecError, np.linalg.LinAlgError):
                if halved == _HALVINGS or model is best:
                    break
                model, halved = best.with_theta(0.5 * (best.theta + model.theta)), halved + 1
            except Late:
                break
            if self.over:
                break
        return best

    def level_of(self, given: Given, model: Model) -> float:
        """Criterion of a selection, comparable with that of another one; noted as a major step."""
        value = FactorisedObjective(given, self.plan.level)(model)[0]
        self.steps.append(self._shown(given, Step(value, model.theta, major=True)))
        self.watch(self.steps[-1])
        return value

    def _shown(self, given: Given, step: Step) -> Step:
        """Return a step with the criterion as the user has it."""
        rows = np.concatenate([given.active, given.rows])
        observations = total_weight(self.likelihood.take(rows), len(rows))
        return step._replace(criterion=self.machine.data.given.unit.evidence_outside(step.criterion, observations))

    def minors(self, given: Given, model: Model, wanted: int, n: int) -> Model:
        """Maximise in each phase, with a selection of its own."""
        iterations = self.learning.minor_steps or _MINOR
        for number, (criterion, moves) in enumerate(self.plan.phases):
            if self.over:
                break
            if number:
                given = self.select(model, wanted, n)
            objective = FactorisedObjective(given, criterion, moves)
            model, found = minor_steps(objective, model, iterations, self.learning.sites, self.watch)
            self.steps += [self._shown(given, step) for step in found]
        return model

    def select(self, model: Model, wanted: int, n: int) -> Given:
        """Select active rows at these parameters, and return them with the rows that were considered to the end."""
        machine = self._part(model, wanted, n)
        self.likelihood, data = machine.likelihood, machine.data
        selector = machine.selector()
        selector.include(machine.work.initial)
        selector.run(machine.work.wanted)
        if not selector.size:
            raise InfovecError("no row is informative at these parameters")
        active, outside = selector.active[: selector.size].copy(), selector.considered()
        selector.release()  # its memory is needed for the criterion
        give_back()
        if isinstance(selector, Driver) and machine.starts_from_sites:
            sites = selector.precision[: selector.size].copy(), selector.site_mean[: selector.size].copy()
        else:
            likelihood = machine.likelihood.take(active)
            sites = sites_in_order(machine.kernel, data.X[active], data.y[active], likelihood)
        return Given(active, data.X[active], data.y[active], *sites, outside, data.X[outside], data.y[outside])

    def _part(self, model: Model, wanted: int, n: int) -> OneFunction:
        machine = self.machine
        if n < machine.data.n:
            return machine.part(machine.data.sample(n), wanted, model.kernel, model.likelihood).sufficient()
        work = replace(machine.work, wanted=min(wanted, machine.work.wanted), initial=machine.work.initial[:wanted])
        fewer = replace(machine, work=work)
        return fewer.with_parameters(model.kernel, model.likelihood, model.size).sufficient()
