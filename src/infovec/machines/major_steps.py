"""Major steps for the criteria of the factorised posterior: select, move the parameters, and select again."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._types import Floats, Rows
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
from ..runtime import Deadline, Interruption, Late, give_back, work_until
from ..selection import Driver, GainDriver, sites_in_order
from .budget import threads
from .one_function import Training
from .stages import ACTIVE_FOR_MANY, MANY, Learned

__all__ = ["learn_factorised"]

_MAJOR, _MINOR = 15, 8  # SLH 6.1
_WARM_ROWS, _WARM_ACTIVE, _WARM_STEPS = 1000, 100, 5
_LARGER = 4.0  # times as large as the warm-up a problem must be for one
_MOST_ACTIVE = 1000
_SMALL = 2_000_000  # numbers of K_J,I up to which threads would wait for each other more than they work
_HALVINGS = 3  # times that a step is halved where no rows can be selected


def learn_factorised(
    training: Training,
    model: Model,
    max_seconds: float,
    tell: Callable[[Step], object] | None,
    learning: Learning,
) -> Learned:
    """Learn parameters by a criterion of the factorised posterior (SLH 3.3, LSH05 algorithm 2, Thesis 4.5.3).

    Parameters
    ----------
    training : Training
    model : Model
        The parameters to start from, and how they move.
    max_seconds : float
        When they are used up the best parameters so far are taken.
    tell : callable, optional
        Told of every evaluation; a true answer ends learning.
    learning : Learning
    """
    with Interruption() as interruption:
        deadline = Deadline(time.perf_counter() + max_seconds, lambda: interruption.asked)
        search = _Search(training, learning, deadline, tell)
        if model.size:
            large = min(training.wanted, _MOST_ACTIVE), min(len(training.y), learning.max_rows or len(training.y))
            with work_until(deadline):
                if learning.warm_up:
                    model = search.warm_up(model, *large)
                model = search.majors(model, *large, learning.major_steps or _MAJOR)
    learned = training.with_model(model).sufficient()
    return Learned(learned, search.steps, interruption.asked, search.level)


class _Search:
    def __init__(
        self,
        training: Training,
        learning: Learning,
        deadline: Deadline,
        tell: Callable[[Step], object] | None,
    ) -> None:
        self.training, self.learning, self.deadline, self.tell = training, learning, deadline, tell
        self.plan, self.steps, self.level, self.told = FACTORISED[learning.criterion], list[Step](), -np.inf, False
        self.likelihood = training.likelihood  # of the rows that were selected from last

    @property
    def over(self) -> bool:
        return self.told or self.deadline.over

    def watch(self, step: Step) -> bool:
        self.told = self.told or bool(self.tell and self.tell(step))
        return self.over

    def warm_up(self, model: Model, wanted: int, n: int) -> Model:
        """Go some steps on few rows with few of them active; also from other length scales, if they look better.

        What looks better may be a model that explains nothing, where a start that explains little leads to a good one.
        """
        many, rows = model.of_kernel.sum() >= MANY, min(n, _WARM_ROWS)
        active = min(ACTIVE_FOR_MANY if many else min(wanted, _WARM_ACTIVE), max(n // 2, 1))
        with threads(1):
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
        with threads(1 if wanted * n <= _SMALL else None):
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
        return step._replace(criterion=self.training.given.unit.evidence_outside(step.criterion, observations))

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
        training = self._part(model, wanted, n)
        self.likelihood = training.likelihood
        driver = training.driver()
        driver.include(training.initial)
        driver.run(training.wanted)
        if not driver.size:
            raise InfovecError("no row is informative at these parameters")
        active = driver.active[: driver.size].copy()
        X, y = training.X, training.y
        outside = _considered(driver, training)
        if isinstance(driver, Driver):
            driver.shards = []  # their memory is needed for the criterion
            give_back()
        if isinstance(driver, Driver) and training.start_from_sites:
            sites = driver.precision[: driver.size].copy(), driver.site_mean[: driver.size].copy()
        else:
            sites = sites_in_order(training.kernel, X[active], y[active], training.likelihood.take(active))
        return Given(active, X[active], y[active], *sites, outside, X[outside], y[outside])

    def _part(self, model: Model, wanted: int, n: int) -> Training:
        training = self.training
        if n < len(training.y):
            return training.part(training.sample(n), wanted, model.kernel, model.likelihood).sufficient()
        fewer = replace(training, wanted=min(wanted, training.wanted), initial=training.initial[:wanted])
        return fewer.with_model(model).sufficient()


def _considered(driver: Driver | GainDriver, training: Training) -> Rows:
    """The selection index J in the end."""
    if isinstance(driver, GainDriver):
        free = ~training.held_back
        free[driver.active[: driver.size]] = False
        return np.flatnonzero(free)
    return np.concatenate([shard.rows[~shard.taken & ~shard.held_back] for shard in driver.shards])
