"""Learning, once or from several starts, by the criterion that was asked for."""

import time
from collections.abc import Callable

import numpy as np

from ..learning import Learning, Model, Step, alike
from .learner import Learned
from .learner import learn as learn_projected
from .major import learn_factorised
from .training import Training

__all__ = ["learn"]

_SPREAD = 1.0  # of the steps between one start and another, on the free scale


def learn(
    training: Training, tied: bool, max_seconds: float, tell: Callable[[Step], object] | None, learning: Learning
) -> Learned:
    """Find parameters of kernel and likelihood.

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
    learning : Learning
        The EP evidence is that of the posterior that will be fitted, with many functions that of the projected one;
        other criteria are those of the factorised one.
    """
    end, told = time.perf_counter() + max_seconds, False

    def watch(step: Step) -> bool:
        nonlocal told
        told = told or bool(tell and tell(step))
        return told

    model = Model.begin(training.kernel, training.likelihood, tied, learning)
    projected = (training.approximation == "projected" or training.n_functions > 1) and learning.criterion == "ep"
    search = learn_projected if projected else learn_factorised
    best, rng = search(training, model, max_seconds, watch, learning), np.random.default_rng(_seed(training))
    steps = best.steps
    for _ in range(learning.restarts):
        if told or best.interrupted or time.perf_counter() > end:
            break
        low, high = model.bounds.T
        start = model.with_theta(np.clip(_SPREAD * rng.normal(size=model.size), low, high))
        other = search(training, start, end - time.perf_counter(), watch, learning)
        steps = steps + other.steps
        if other.level > best.level:
            best = other
        best = best._replace(interrupted=best.interrupted or other.interrupted)
    return best._replace(steps=alike(steps, model, training.X.shape[-1]))


def _seed(training: Training) -> int:
    return int(1e9 * training.priority[0])
