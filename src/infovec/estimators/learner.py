"""Major steps: rows and active sets that grow, and the parameters that suit each of them best."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._types import Rows
from ..learning import Model, ProjectedEvidence, Step, find_scale, optimise
from ..selection.interrupt import Interruption
from ..shards import own_threads
from .training import Training

__all__ = ["LEARN", "Learned", "learn"]

LEARN = ("ep", None)


class Stage(NamedTuple):
    """One selection and the optimisation that follows it."""

    rows: int
    active: int
    iterations: int
    tolerance: float  # of the sites


_STAGES = (Stage(1000, 100, 40, 3e-4), Stage(3000, 250, 12, 3e-4), Stage(10_000, 1000, 6, 3e-4))
_NEAR = 0.9  # a stage that is no larger than this share of the next one is left out


class Learned(NamedTuple):
    """Training with learned parameters, and how they were found."""

    training: Training
    steps: list[Step]
    interrupted: bool


def learn(training: Training, tied: bool, max_seconds: float, tell: Callable[[Step], object] | None) -> Learned:
    """Maximise the evidence of the projected posterior: cheaply at first, at the full active set in the end.

    Parameters
    ----------
    training : Training
        With the parameters to start from.
    tied : bool
        Whether length scales of columns move together.
    max_seconds : float
        When they are used up the best parameters so far are taken.
    tell : callable, optional
        Told of every evaluation; a true answer ends learning.
    """
    model, steps = Model.begin(training.kernel, training.likelihood, tied), list[Step]()
    end = time.perf_counter() + max_seconds
    with Interruption() as interruption:

        def watch(step: Step) -> bool:
            return bool(tell and tell(step)) or interruption.asked or time.perf_counter() > end

        for number, stage in enumerate(stages(len(training.y), training.wanted)):
            if interruption.asked or time.perf_counter() > end or not model.size:
                break
            rows = _rows(training, stage.rows)
            with own_threads():
                part = training.part(rows, stage.active, model.kernel, model.likelihood)
                active = _at_random(part) if number == 0 else part.select()
                objective = ProjectedEvidence(rows, part.X, part.y, active, part.dtype, part.blur, stage.tolerance)
                model = find_scale(objective, model) if number == 0 else model
                model, found = optimise(objective, model, stage.iterations, watch)
            steps += found
    return Learned(training.with_model(model.kernel, model.likelihood), steps, interruption.asked)


def stages(n: int, d: int) -> list[Stage]:
    """Return the stages for n rows and d active ones: the last of them as large as it may be."""
    fitting = [Stage(min(n, s.rows), min(d, s.active, max(n // 2, 1)), s.iterations, s.tolerance) for s in _STAGES]
    fitting[-1] = fitting[-1]._replace(active=min(d, _STAGES[-1].active, n))
    kept = [
        stage for stage, later in pairwise(fitting) if stage.rows * stage.active < _NEAR * later.rows * later.active
    ]
    return [*kept, fitting[-1]] if kept else [fitting[-1]._replace(iterations=40)]


def _rows(training: Training, size: int) -> Rows:
    """Rows drawn at random, the same for the same random state, none of them held back."""
    order = np.argsort(training.priority, kind="stable")
    return np.sort(order[~training.held_back[order]][:size])


def _at_random(part: Training) -> Rows:
    return np.argsort(-part.priority, kind="stable")[: part.wanted]
