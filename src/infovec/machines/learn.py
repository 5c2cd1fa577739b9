"""Learning, once or from several starts, by the criterion that was asked for."""

from collections.abc import Callable
from typing import cast

import numpy as np

from ..learning import Learning, Model, Step, alike
from ..likelihoods import Likelihood
from ..runtime import Deadline
from .against_rest import AgainstRest
from .learned import Learned
from .machine import Machine
from .major_steps import learn_by_major_steps
from .one_function import OneFunction
from .staged import Staged
from .stages import learn_by_stages

__all__ = ["learn"]

_SPREAD = 1.0  # of the steps between one start and another, on the free scale

Tell = Callable[[Step], object]


def learn(machine: Machine, tied: bool, max_seconds: float, tell: Tell | None, learning: Learning) -> Learned[Machine]:
    """Find parameters of kernel and likelihood.

    Parameters
    ----------
    machine : Machine
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
    if isinstance(machine, AgainstRest) and machine.kernels:
        return _learn_each(machine, tied, max_seconds, tell, learning)  # type: ignore[return-value]
    deadline, told = Deadline.after(max_seconds), False

    def watch(step: Step) -> bool:
        nonlocal told
        told = told or bool(tell and tell(step))
        return told

    model = Model.begin(machine.kernel, cast(Likelihood, machine.likelihood), tied, learning)
    best = _search(machine, model, max_seconds, watch, learning)
    steps, rng = best.steps, np.random.default_rng(int(1e9 * machine.data.priority[0]))
    for _ in range(learning.restarts):
        if told or best.interrupted or deadline.over:
            break
        low, high = model.bounds.T
        start = model.with_theta(np.clip(_SPREAD * rng.normal(size=model.size), low, high))
        other = _search(machine, start, deadline.left, watch, learning)
        steps = steps + other.steps
        interrupted = best.interrupted or other.interrupted
        best = (other if other.level > best.level else best)._replace(interrupted=interrupted)
    return best._replace(steps=alike(steps, model, machine.data.X.shape[-1]))


def _search(machine: Machine, model: Model, max_seconds: float, tell: Tell, learning: Learning) -> Learned[Machine]:
    """Learn from one start: by stages where there is an objective with all rows, else by major steps."""
    if isinstance(machine, Staged) and learning.by_all_rows:
        return learn_by_stages(machine, model, max_seconds, tell, learning)  # type: ignore[return-value]
    assert isinstance(machine, OneFunction)
    return learn_by_major_steps(machine, model, max_seconds, tell, learning)  # type: ignore[return-value]


def _learn_each(
    machine: AgainstRest, tied: bool, max_seconds: float, tell: Tell | None, learning: Learning
) -> Learned[AgainstRest]:
    """A kernel and a bias for every class, by its own machine against the rest, each in its share of the time."""
    C, deadline, found = machine.n_functions, Deadline.after(max_seconds), list[Learned[OneFunction]]()
    for c in range(C):
        if found and found[-1].interrupted:
            break
        one = learn(machine.machine(c), tied, deadline.left / (C - c), tell, learning)
        found.append(cast(Learned[OneFunction], one))
    steps, level = [step for one in found for step in one.steps], sum(one.level for one in found)
    learned = machine.with_machines([one.machine for one in found])
    return Learned(learned, steps, found[-1].interrupted, level)
