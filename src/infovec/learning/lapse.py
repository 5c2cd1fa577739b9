"""Whether some labels are wrong."""

from collections.abc import Callable
from copy import copy

import numpy as np

from ..likelihoods import Lapsing, Likelihood, plain
from .leaving_out import LeavesOut, loss_of
from .model import Model
from .optimise import Climbed, Step, optimise, value_at

__all__ = ["MOST_FOR_LAPSE", "can_lapse", "none_wrong", "some_wrong"]

_STARTS = (0.05, 0.2)  # shares of the labels
_PRICE = 3.0  # log evidence that it must bring in the end: it makes for more work, and chance can bring one or two
_ITERATIONS, _TOLERANCE = 20, 3e-4
MOST_FOR_LAPSE = 2 * len(_STARTS) * _ITERATIONS  # evaluations


def can_lapse(model: Model) -> bool:
    """Whether labels may turn out to be wrong: parameters of their likelihood are learned, and it has no lapse yet."""
    likelihood = plain(model.likelihood) if isinstance(model.likelihood, Likelihood) else None
    moves = bool(np.any(model.group[model.kernel.theta.size :] >= 0))
    return moves and isinstance(likelihood, Lapsing) and not likelihood.lapse


def some_wrong(
    objective: LeavesOut, model: Model, level: float, watch: Callable[[Step], bool] | None
) -> tuple[Climbed[Model] | None, list[Step]]:
    """Go on from a model with labels some of which are wrong; None where it does not pay.

    It takes one evaluation to see that labels are clean: then a twentieth of them wrong explains worse. Else the
    other parameters, which have made up for wrong labels by a function that is less sure of itself, must move too;
    with few wrong labels they may stay there, so that many are tried then. Evidence and rows left out have to agree.

    Parameters
    ----------
    objective : LeavesOut
    model : Model
    level : float
        Its criterion.
    watch : callable, optional
        Told of every evaluation of the climb.
    """
    if value_at(copy(objective), model.lapsing(_STARTS[0])) <= level:
        return None, []
    steps = list[Step]()
    for start in _STARTS:
        own = copy(objective)  # with sites of its own
        climb = optimise(own, model.lapsing(start), _ITERATIONS, watch, _TOLERANCE)
        steps += climb.steps
        reached = max((step.criterion for step in climb.steps), default=-np.inf)
        if reached > level + _PRICE and loss_of(own, climb.model) < loss_of(copy(objective), model):
            return climb._replace(steps=steps), steps
    return None, [step._replace(theta=step.theta[:-1]) for step in steps]


def none_wrong(objective: LeavesOut, model: Model, level: float) -> Model | None:
    """Return the model whose labels are all right, if wrong ones do not pay any more; else None."""
    clean = model.all_right()
    return clean if value_at(copy(objective), clean) > level - _PRICE else None
