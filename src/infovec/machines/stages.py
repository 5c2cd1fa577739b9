"""Major steps: rows and active sets that grow, and the parameters that suit each of them best."""

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._types import Rows
from ..inference import calibrate, predict_evaluations
from ..learning import CRITERIA, Learning, Model, Step, best_of_starts, find_scale, optimise, separable, separate
from ..runtime import Deadline, Interruption, Late, give_back, own_threads, work_until
from .budget import learning_sizes
from .one_function import Training

__all__ = ["ACTIVE_FOR_MANY", "LEARN", "MANY", "Learned", "learn", "predict_seconds"]

LEARN = (*CRITERIA, None)


class Stage(NamedTuple):
    """One selection and the optimisation that follows it."""

    rows: int
    active: int
    iterations: int
    tolerance: float  # of the sites


_FIRST = 40  # iterations
_STAGES = (Stage(1000, 100, _FIRST, 3e-4), Stage(3000, 250, 12, 3e-4), Stage(10_000, 1000, 6, 3e-4))
MANY = 8  # kernel parameters, such as a length scale for each input
ACTIVE_FOR_MANY = 400  # rows at first, whatever is asked for: seen through few of them a relevant input costs more than
# it explains, and is switched off for good
_CLASS_STAGES = (Stage(1000, 100, 40, 1e-3), Stage(3000, 250, 0, 1e-2))  # of more than one function
_REST_STAGES = (_CLASS_STAGES[0], Stage(3000, 300, 0, 1e-2))  # of classes that are independent
_USUAL = 20  # evaluations in a stage, if it does not end for their number
_USUAL_FOR_MANY = 100  # in the first one, where there are many parameters
_NEAR = 0.9  # a stage that is no larger than this share of the next one is left out


class Learned(NamedTuple):
    """Training with learned parameters, and how they were found."""

    training: Training
    steps: list[Step]
    interrupted: bool
    level: float = -np.inf  # criterion of these parameters, to compare with that of another run


def learn(
    training: Training,
    model: Model,
    max_seconds: float,
    tell: Callable[[Step], object] | None,
    learning: Learning = Learning(),
) -> Learned:
    """Maximise the evidence of the projected posterior: cheaply at first, at the full active set in the end.

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
        Of which the numbers of steps count, if they are given: for stages as large as the last one.
    """
    steps, level, part = list[Step](), -np.inf, training
    with Interruption() as interruption:
        deadline = Deadline(time.perf_counter() + max_seconds, lambda: interruption.asked)

        def watch(step: Step) -> bool:
            return bool(tell and tell(part.shown(step))) or deadline.over

        many, several = bool(model.of_kernel.sum() >= MANY), training.n_functions > 1
        free = model.tied and not model.priors and model.limits is None  # nobody said how length scales are learned
        plan = _planned(_stages_of(training, many), learning)
        for number, stage in enumerate(plan):
            if deadline.over or not model.size:
                break
            give_back()  # what the stage before took
            rows = training.sample(stage.rows)
            with suppress(Late), work_until(deadline), own_threads():
                part = training.part(rows, stage.active, model.kernel, model.likelihood).sufficient()
                active = _at_random(part) if number == 0 else part.select()
                objective = part.objective(rows, active, stage.tolerance)
                if number == 0 and not several:
                    model, found = best_of_starts(objective, model, many, stage.iterations, watch)
                else:
                    model = find_scale(objective, model) if number == 0 else model
                    model, found = optimise(objective, model, stage.iterations, watch, training.learning_tolerance)
                level = max((step.criterion for step in found), default=level)
                steps += map(part.shown, found)
                if number == max(len(plan) - 2, 0) and _separable(part, model):
                    model, more = separate(objective, model, part.X.shape[1], level, watch)
                    steps += map(part.shown, more)
                if number == len(plan) - 1 and (several or free):
                    model = part.refined(objective, model, watch)
    learned = training.with_model(model).sufficient()
    return Learned(learned, steps, interruption.asked, level)


def _separable(training: Training, model: Model) -> bool:
    return training.n_functions == 1 and training.X.ndim == 2 and separable(model, *training.X.shape)


def _planned(plan: list[Stage], learning: Learning) -> list[Stage]:
    """The last stage as often, and with as many iterations, as is asked for."""
    last = plan[-1]._replace(iterations=learning.minor_steps or plan[-1].iterations)
    return [*plan[:-1], *[last] * (learning.major_steps or 1)]


def _stages_of(training: Training, many: bool) -> list[Stage]:
    n, d = len(training.y), training.wanted
    if training.n_functions == 1:
        asked = stages(n, d, many)
    else:
        likelihood: Any = training.likelihood
        asked = class_stages(n, d, likelihood.couples)
    sizes = training.sizes(d, np.dtype(training.dtype).itemsize)
    fitting = [(stage, *learning_sizes(training.limit, sizes, stage.rows, stage.active)) for stage in asked]
    return [stage._replace(rows=rows, active=active) for stage, rows, active in fitting]


def class_stages(n: int, d: int, couples: bool) -> list[Stage]:
    """Return the stages for many functions: the last one has no steps of its own, see ``Training.refined``."""
    few, more = _CLASS_STAGES if couples else _REST_STAGES
    first = few._replace(rows=min(n, few.rows), active=min(d, few.active, max(n // 2, 1)))
    return [first, more._replace(rows=min(n, more.rows), active=min(d, n, more.active))]


def stages(n: int, d: int, many: bool = False) -> list[Stage]:
    """Return the stages for n rows and d active ones: the last of them as large as it may be.

    Parameters
    ----------
    n, d : int
    many : bool
        Whether there are many parameters of the kernel to learn.
    """
    fitting = [Stage(min(n, s.rows), min(d, s.active, max(n // 2, 1)), s.iterations, s.tolerance) for s in _STAGES]
    fitting[-1] = fitting[-1]._replace(active=min(d, _STAGES[-1].active, n))
    kept = [
        stage for stage, later in pairwise(fitting) if stage.rows * stage.active < _NEAR * later.rows * later.active
    ]
    if many:
        first = fitting[0]._replace(active=min(ACTIVE_FOR_MANY, max(n // 2, 1)))
        return [first, *(stage for stage in kept if stage.rows > first.rows), fitting[-1]]
    begin, *rest = [*kept, fitting[-1]]
    return [begin._replace(iterations=_FIRST), *rest]


def predict_seconds(training: Training, tied: bool = False) -> float:
    """Seconds that learning by the evidence of the projected posterior will take, very roughly."""
    total, C, one = 0.0, training.n_functions, training.one_function()
    model = Model.begin(one.kernel, one.likelihood, tied)
    many = bool(model.of_kernel.sum() >= MANY)
    plan = _stages_of(one if isinstance(training.fitted_kernel, list) else training, many)
    for number, stage in enumerate(plan):
        part = one.part(one.sample(stage.rows), stage.active, one.kernel, one.likelihood)
        with own_threads():
            rates = calibrate(part.X, part.y, part.wanted, part.kernel, part.likelihood, part.dtype)
            usual = _USUAL_FOR_MANY if many and number == 0 and C == 1 else min(2 * stage.iterations or 6, _USUAL)
            usual += _USUAL if number == max(len(plan) - 2, 0) and _separable(training, model) else 0
            total += C * predict_evaluations(rates, stage.rows, stage.active, usual)
    return total


def _at_random(part: Training) -> Rows:
    return np.argsort(-part.priority, kind="stable")[: part.wanted]
