"""Major steps for the criteria of the factorised posterior: select, move the parameters, and select again."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

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
    elsewhere,
    find_scale,
    minor_steps,
    most_evaluations,
    second_look,
    to_begin_with,
)
from ..likelihoods import total_weight
from ..runtime import Deadline, Late, give_back, limited, work_until
from ..selection import Driver, sites_in_order
from .course import ONLY, Course, Leg, Turn
from .learned import Learned
from .legs import many_parameters
from .one_function import OneFunction
from .staged import ACTIVE_FOR_MANY

__all__ = ["learn_by_major_steps"]

_MAJOR, _MINOR = 15, 8  # SLH 6.1
_WARM_ROWS, _WARM_ACTIVE, _WARM_STEPS = 1000, 100, 5
_LARGER = 4.0  # there is no warm-up for a problem that is less than so many times as large as it
_MOST_ACTIVE = 1000
_SMALL = 2_000_000  # numbers of K_J,I up to which threads would wait for each other more than they work
_HALVINGS = 3  # times that a step is halved where no rows can be selected
_USUAL, _USUAL_STEPS = 7, 4  # evaluations in a phase, and major steps before it may be enough
_SELECTION, _TRIALS = 4, 5  # evaluations that take as long as a selection, and selections that find the magnitude


def learn_by_major_steps(
    machine: OneFunction,
    model: Model,
    deadline: Deadline,
    learning: Learning,
    turn: Turn = ONLY,
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
    turn : Turn
        Which of several searches it is.
    """
    search, n = _Search(machine, learning, Course([], machine.work.wanted, deadline, turn)), machine.data.n
    if model.size:
        large = _Run(
            min(machine.work.wanted, _MOST_ACTIVE), min(n, learning.max_rows or n), learning.major_steps or _MAJOR
        )
        with work_until(deadline):
            model = search.learn(model, large)
    learned = machine.with_parameters(model.kernel, model.likelihood, model.size).sufficient()
    return Learned(learned, search.steps, search.level)


class _Run(NamedTuple):
    """Major steps of one size."""

    active: int
    rows: int
    most: int

    def legs(self, learning: Learning, phases: int) -> list[Leg]:
        """Return the steps: each of them may be the last, and the last one only tells where it has led."""
        a_phase = most_evaluations(learning.minor_steps or _MINOR, learning.sites)
        often = [0.5 ** max(t - _USUAL_STEPS, 0) for t in range(self.most + 1)]
        most, usual = 1 + phases * a_phase, 1 + phases * _USUAL
        steps = [Leg(self.rows, self.active, k * usual, most, k * phases * _SELECTION) for k in often]
        return [*steps[:-1], steps[-1]._replace(usual=often[-1], most=1)]


class _Search:
    def __init__(self, machine: OneFunction, learning: Learning, course: Course) -> None:
        self.machine, self.learning, self.course = machine, learning, course
        self.plan, self.steps, self.level = FACTORISED[learning.criterion], list[Step](), -np.inf
        self.likelihood = machine.likelihood  # of the rows that were selected from last
        self.taken_up = False  # whether there is a parameter that was zero

    @property
    def over(self) -> bool:
        return self.course.deadline.over

    def learn(self, model: Model, large: _Run) -> Model:
        """Warm up, unless that is not wanted, and go on."""
        small, warm = _small(model, large), list[Model]()
        if self.machine.choices.doubt.spare and self.learning.warm_up:
            with limited(1), suppress(Late):
                found = to_begin_with(partial(self._fresh, small), model)
                model, self.taken_up = found or model, found is not None
        if self.learning.warm_up:
            others = elsewhere(model, *self.machine.choices.doubt.elsewhere)
            with limited(1):
                scaled, *others = (find_scale(partial(self._fresh, small), start) for start in (model, *others))
            warm = _worth_it(model, scaled, small, large)
            warm = [*(warm or [model]), *others] if others else warm
        many = bool(warm) and many_parameters(model)
        self._set_out([small] * (len(warm) + many) + [large])
        if warm:
            model = self.warm_up(warm, many, small)
        return self.majors(model, large, len(warm) + many)

    def _set_out(self, runs: list[_Run]) -> None:
        """Take note of the way."""
        legs = [run.legs(self.learning, len(self.plan.phases)) for run in runs]
        self.course.legs = [leg for several in legs for leg in several]
        self.first = np.cumsum([0, *map(len, legs)])
        self.course.done = _TRIALS * (1 + _SELECTION) * legs[0][0].size if self.learning.warm_up else 0.0

    def warm_up(self, starts: list[Model], many: bool, small: _Run) -> Model:
        """Go some steps on few rows with few of them active; also from other length scales, if they look better.

        What looks better may be a model that explains nothing, where a start that explains little leads to a good one.
        """
        model, level = starts[0], -np.inf
        for number, start in enumerate(starts):
            if number and self.over:
                break
            found = self.majors(start, small, number)
            model, level = (found, self.level) if not number or self.level > level else (model, level)
        if many and not self.over:
            again = self.majors(second_look(model), small, len(starts))
            model = again if self.level > level else model
        return model

    def _fresh(self, run: _Run, model: Model) -> tuple[float, Floats]:
        """Criterion of a selection of its own, as long as there is time."""
        if self.over:
            raise InfovecError("the time is used up")
        return FactorisedObjective(self.select(model, run.active, run.rows), self.plan.level)(model)

    def majors(self, model: Model, run: _Run, number: int) -> Model:
        """Select and move the parameters in turn, in one of the runs; return those of the best selection."""
        with limited(1) if run.active * run.rows <= _SMALL else nullcontext():
            return self._majors(model, run, int(self.first[number]))

    def _majors(self, model: Model, run: _Run, first: int) -> Model:
        rule = LagRule(self.learning.lag, self.learning.lag, self.learning.tolerance)
        best, self.level, halved = model, -np.inf, 0
        for t in range(run.most + 1):
            self.course.begin(first + t)
            given: Given | None = None  # the rows of the last selection take memory that the next one needs
            try:
                given = self.select(model, run.active, run.rows)
                value = self.level_of(given, model)
                if value > self.level:
                    best, self.level = model, value
                if rule.ends(value) or t == run.most or self.over:
                    break
                model = self.minors(given, model, run)
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
        self.course.tell(self.steps[-1])
        return value

    def _shown(self, given: Given, step: Step) -> Step:
        """Return a step with the criterion as the user has it."""
        rows = np.concatenate([given.active, given.rows])
        observations = total_weight(self.likelihood.take(rows), len(rows))
        theta = step.theta[:-1] if self.taken_up else step.theta  # it was not there when learning began
        return step._replace(
            theta=theta, criterion=self.machine.data.given.unit.evidence_outside(step.criterion, observations)
        )

    def minors(self, given: Given, model: Model, run: _Run) -> Model:
        """Maximise in each phase, with a selection of its own."""
        iterations = self.learning.minor_steps or _MINOR
        for number, (criterion, moves) in enumerate(self.plan.phases):
            if self.over:
                break
            if number:
                given = self.select(model, run.active, run.rows)
            objective = FactorisedObjective(given, criterion, moves)
            model, found = minor_steps(objective, model, iterations, self.learning.sites, self.course.tell)
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


def _small(model: Model, large: _Run) -> _Run:
    """Return the size to warm up in."""
    active = ACTIVE_FOR_MANY if many_parameters(model) else min(large.active, _WARM_ACTIVE)
    return _Run(min(active, max(large.rows // 2, 1)), min(large.rows, _WARM_ROWS), _WARM_STEPS)


def _worth_it(model: Model, scaled: Model, small: _Run, large: _Run) -> list[Model]:
    """Return the models to warm up from; none where there is one only, and the way is short anyway."""
    if not np.array_equal(scaled.theta, model.theta):
        return [model, scaled]
    if many_parameters(model):
        return [model] if large.rows > small.rows else []
    return [model] if large.active * large.rows >= _LARGER * small.active * small.rows else []
