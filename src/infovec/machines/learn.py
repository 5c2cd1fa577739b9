"""Learning, once or from several starts, by the criterion that was asked for."""

from dataclasses import replace
from typing import cast

import numpy as np

from ..errors import ParameterError
from ..learning import WEAK, Expected, Learning, Model, Normal, alike
from ..likelihoods import Likelihood, Logit, Probit, plain
from ..runtime import Deadline
from .against_rest import AgainstRest
from .course import ONLY, Turn
from .learned import Learned
from .legs import unguided
from .machine import Machine
from .major_steps import learn_by_major_steps
from .one_function import OneFunction
from .staged import Staged
from .stages import learn_by_stages

__all__ = ["learn"]

_SPREAD = 1.0  # of the steps between one start and another, on the free scale
_FEW = 200  # rows, beyond which the weak prior will do: parameters that many rows ask for are their own
_NEARLY_SEPARABLE = (Probit, Logit)  # whose default kernel has a variance of a hundred,
_VARIANCE = Normal(-1.5, 3.0)  # which is more than most labels bear
_NOISE = Normal(1.0, 2.0)  # of targets, of whose variance it begins with a tenth


def learn(machine: Machine, tied: bool, deadline: Deadline, learning: Learning, turn: Turn = ONLY) -> Learned[Machine]:
    """Find parameters of kernel and likelihood.

    Parameters
    ----------
    machine : Machine
        With the parameters to start from.
    tied : bool
        Whether length scales of columns move together.
    deadline : Deadline
        When it is over the best parameters so far are taken; it is told of every evaluation.
    learning : Learning
        The EP evidence is that of the posterior that will be fitted, with many functions that of the projected one;
        other criteria are those of the factorised one.
    turn : Turn
        Which of several classes that learn one after the other it is for.
    """
    if isinstance(machine, AgainstRest) and machine.kernels:
        return _learn_each(machine, tied, deadline, learning)  # type: ignore[return-value]
    model = _expecting(machine, Model.begin(machine.kernel, cast(Likelihood, machine.likelihood), tied, learning))
    searches = 1 + learning.restarts
    best = _search(machine, model, deadline, learning, turn.part(0, searches))
    steps, rng = best.steps, np.random.default_rng(int(1e9 * machine.data.priority[0]))
    for number in range(1, searches):
        if deadline.over:
            break
        low, high = model.bounds.T
        start = model.with_theta(np.clip(_SPREAD * rng.normal(size=model.size), low, high))
        other = _search(machine, start, deadline, learning, turn.part(number, searches))
        steps = steps + other.steps
        best = other if other.level > best.level else best
    return best._replace(steps=alike(steps, model, best.apart))


def _expecting(machine: Machine, model: Model) -> Model:
    """Return the model with what is believed of it where few rows, and nobody else, speak: of kernels of ours."""
    if machine.data.n > _FEW or not isinstance(machine, OneFunction) or not unguided(model):
        return model
    likelihood = plain(machine.likelihood)
    told_apart = isinstance(likelihood, _NEARLY_SEPARABLE)
    noise = _NOISE if machine.choices.doubt.named and likelihood.conjugate else WEAK  # heavy tails begin far from it
    expected = Expected(variance=_VARIANCE if told_apart else WEAK, noise=noise)
    return replace(model, weak=model.weak._replace(expected=expected))


def _search(machine: Machine, model: Model, deadline: Deadline, learning: Learning, turn: Turn) -> Learned[Machine]:
    """Learn from one start: by stages where there is an objective with all rows, else by major steps."""
    if isinstance(machine, Staged) and learning.by_all_rows:
        return learn_by_stages(machine, model, deadline, learning, turn)  # type: ignore[return-value]
    if learning.all_rows:
        raise ParameterError(
            "Learning: all_rows is for criterion='ep' and approximation='projected'; leave it out, or set "
            "max_rows=None to learn by another criterion from all rows"
        )
    assert isinstance(machine, OneFunction)
    return learn_by_major_steps(machine, model, deadline, learning, turn)  # type: ignore[return-value]


def _learn_each(machine: AgainstRest, tied: bool, deadline: Deadline, learning: Learning) -> Learned[AgainstRest]:
    """A kernel and a bias for every class, by its own machine against the rest, each in its share of the time."""
    C, found = machine.n_functions, list[Learned[OneFunction]]()
    if machine.likelihood.lapse:  # the same for all classes, which do not know of each other here
        learning = replace(learning, fixed=(*learning.fixed, "likelihood.lapse"))
    for c in range(C):
        if found and deadline.listener.reason:
            break
        one = machine.machine(c)
        learned = learn(one, tied, deadline.within(deadline.seconds / (C - c)), learning, Turn(c, C))
        found.append(cast(Learned[OneFunction], learned))
    steps, level = [step for one in found for step in one.steps], sum(one.level for one in found)
    model = Model.begin(one.kernel, one.likelihood, tied, learning)
    kept = {one.steps[-1].theta.size for one in found if one.steps}
    steps = alike(steps, model, len(kept) == 1)  # some classes may have fewer length scales
    return Learned(machine.with_machines([one.machine for one in found]), steps, level)
