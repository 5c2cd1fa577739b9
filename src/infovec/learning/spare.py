"""Whether a parameter is needed that is zero unless rows ask for it: some labels are wrong, or counts scatter."""

from collections.abc import Callable
from copy import copy
from typing import Final, NamedTuple

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from ..likelihoods import Likelihood, plain
from ..likelihoods.classes import ClassLikelihood
from .leaving_out import LeavesOut, loss_of
from .model import Model
from .optimise import Climbed, Step, optimise, value_at

__all__ = ["MOST_FOR_SPARE", "enough_for_spare", "has_spare", "put_back", "still_pays", "take_up", "to_begin_with"]


class _Way(NamedTuple):
    """How a parameter is looked for."""

    starts: tuple[float, float]
    price: float  # log evidence that it must bring in the end: chance can bring one or two
    anew: bool  # whether the other parameters go back to where they began with the second start
    fewest: int  # rows from which it can be told


_WAYS: Final = {
    "lapse": _Way((0.05, 0.2), 3.0, False, 100),  # it makes for more work
    "scatter": _Way((0.05, 0.5), 1.0, True, 30),  # usual, and a function that follows it is of no use
}
_ITERATIONS, _TOLERANCE = 20, 3e-4
_SHORT = -1.0  # step of a length scale, from where it began, by which a function goes from row to row
MOST_FOR_SPARE = 2 * 2 * _ITERATIONS  # evaluations


def enough_for_spare(likelihood: Likelihood | ClassLikelihood, n: int) -> bool:
    """Whether n rows are enough to tell a likelihood with such a parameter from one without."""
    name = plain(likelihood).spare
    return name in _WAYS and n >= _WAYS[name].fewest


def has_spare(model: Model) -> bool:
    """Whether the likelihood has a parameter that is zero and may turn out to be needed: others of it are learned."""
    likelihood = plain(model.likelihood)
    moves = bool(np.any(model.group[model.kernel.theta.size :] >= 0))
    return moves and likelihood.spare in _WAYS and not getattr(likelihood, likelihood.spare)


def take_up(
    objective: LeavesOut, model: Model, level: float, watch: Callable[[Step], bool] | None
) -> tuple[Climbed[Model] | None, list[Step]]:
    """Go on from a model with the parameter that was zero; None where it does not pay.

    It takes an evaluation or two to see that it is not needed: then a little of it explains worse. Labels that are
    wrong the other parameters have made up for by a function that is less sure of itself, counts that scatter by one
    that follows them from row to row; they must move too. With few wrong labels they may stay there, so that many are
    tried then; from a function that follows every row no gradient leads back, so that they begin anew with much
    scatter, in any case where length scales have become much shorter. Evidence and rows left out have to agree.

    Parameters
    ----------
    objective : LeavesOut
    model : Model
    level : float
        Its criterion.
    watch : callable, optional
        Told of every evaluation of the climb.
    """
    way = _WAYS[plain(model.likelihood).spare]
    little = model.with_spare(way.starts[0])
    much = (model.with_theta(model.begun) if way.anew else model).with_spare(way.starts[1])
    starts, steps = [little, much], list[Step]()
    if way.anew:
        short = bool(np.any((model.theta - model.begun)[model.scales] < _SHORT))
        at = [value_at(copy(objective), one) for one in starts]
        starts = [much] * (short or at[1] > level) + [little] * (at[0] > level)
    elif value_at(copy(objective), little) <= level:
        starts = []
    for start in starts:
        own = copy(objective)  # with sites of its own
        climb = optimise(own, start, _ITERATIONS, watch, _TOLERANCE)
        steps += climb.steps
        reached = max((step.criterion for step in climb.steps), default=-np.inf)
        if reached > level + way.price and loss_of(own, climb.model) < loss_of(copy(objective), model):
            return climb._replace(steps=steps), steps
    return None, [step._replace(theta=step.theta[:-1]) for step in steps]


def to_begin_with(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> Model | None:
    """Return the model with much of a parameter, where counts are explained better so before anything is learned.

    For searches that know no rows left out: once a function follows every count, they do not come back.
    """
    if not has_spare(model) or not (way := _WAYS[plain(model.likelihood).spare]).anew:
        return None
    much = model.with_spare(way.starts[1])
    return much if value_at(objective, much) > value_at(objective, model) + way.price else None


def put_back(objective: LeavesOut, model: Model, level: float) -> Model | None:
    """Return the model without that parameter, if it does not pay any more; else None."""
    clean, way = model.without_spare(), _WAYS[plain(model.likelihood).spare]
    return clean if value_at(copy(objective), clean) > level - way.price else None


def still_pays(objective: LeavesOut, model: Model, before: Model) -> bool:
    """Whether that parameter pays with more active rows, too, beside the model that was found without it."""
    try:
        level, loss = copy(objective).left_out(model)
        without, loss_without = copy(objective).left_out(before)
    except (InfovecError, np.linalg.LinAlgError):
        return False
    return level > without + _WAYS[plain(model.likelihood).spare].price and loss < loss_without
