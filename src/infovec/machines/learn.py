"""Learning, once or from several starts, by the criterion that was asked for."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..learning import Learning, Model, Step, alike
from .classes import ClassTraining
from .major_steps import learn_factorised
from .one_function import Training
from .stages import Learned
from .stages import learn as learn_projected

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
    if isinstance(training, ClassTraining) and training.kernels:
        return _learn_each(training, tied, max_seconds, tell, learning)
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


def _learn_each(
    training: ClassTraining, tied: bool, max_seconds: float, tell: Callable[[Step], object] | None, learning: Learning
) -> Learned:
    """A kernel and a bias for every class, by its own machine against the rest, each in its share of the time."""
    C, end, found = training.n_functions, time.perf_counter() + max_seconds, list[Learned]()
    for c in range(C):
        if found and found[-1].interrupted:
            break
        left = max(end - time.perf_counter(), 0.0) / (C - c)
        one = training.against_rest(c, training.wanted)
        found.append(learn(one, tied, left, tell, learning))
    bias, kernels = np.array(training.class_likelihood.bias), list(training.kernels)
    for c, learned in enumerate(found):
        probit: Any = learned.training.likelihood
        kernels[c], bias[c] = learned.training.kernel, probit.for_new_rows().bias
    likelihood: Any = replace(training.class_likelihood, bias=bias)
    after = replace(training, kernels=tuple(kernels), likelihood=likelihood)
    steps, level = [step for learned in found for step in learned.steps], sum(learned.level for learned in found)
    model = Model.begin(one.kernel, one.likelihood, tied, learning)
    steps = alike(steps, model, training.X.shape[-1])  # a class that was cut short may not have got to separate scales
    return Learned(after, steps, found[-1].interrupted, level)


def _seed(training: Training) -> int:
    return int(1e9 * training.priority[0])
