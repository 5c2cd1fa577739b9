"""Whether some labels are wrong."""

from collections.abc import Callable
from copy import copy
from typing import Protocol

import numpy as np

from .._types import Floats
from ..likelihoods import Lapsing, Likelihood, plain
from .model import Model
from .optimise import Climbed, Step, optimise, value_at

__all__ = ["MOST_FOR_LAPSE", "can_lapse", "none_wrong", "some_wrong"]

_STARTS = (0.05, 0.2)  # shares of the labels
_HOPELESS = 3.0  # by how much that may explain worse than no wrong labels do, with the other parameters as they are
_PRICE = 3.0  # log evidence that it must bring in the end: it makes for more work, and chance can bring one or two
_ITERATIONS, _TOLERANCE = 20, 3e-4
MOST_FOR_LAPSE = 2 * len(_STARTS) * _ITERATIONS  # evaluations


class LeavesOut(Protocol):
    """An objective that knows how well rows left out are predicted."""

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion, and its gradient in the steps of the model."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Return the criterion, and the mean log loss of rows left out."""


def can_lapse(model: Model) -> bool:
    """Whether labels may turn out to be wrong: parameters of their likelihood are learned, and it has no lapse yet."""
    likelihood = plain(model.likelihood) if isinstance(model.likelihood, Likelihood) else None
    moves = bool(np.any(model.group[model.kernel.theta.size :] >= 0))
    return moves and isinstance(likelihood, Lapsing) and not likelihood.lapse


def some_wrong(
    objective: LeavesOut, model: Model, level: float, watch: Callable[[Step], bool] | None
) -> tuple[Climbed | None, list[Step]]:
    """Go on from a model with labels some of which are wrong; None where it does not pay.

    It takes one evaluation to see that labels are clean: then a twentieth of them wrong explains far worse. Else the
    other parameters, which have made up for wrong labels by a function that is less sure of itself, must move too;
    with few wrong labels they may stay there, so that many are tried as well. Evidence and rows left out have to agree.

    Parameters
    ----------
    objective : LeavesOut
    model : Model
    level : float
        Its criterion.
    watch : callable, optional
        Told of every evaluation of the climb.
    """
    objective = copy(objective)  # the other keeps its sites
    if value_at(objective, model.lapsing(_STARTS[0])) <= level - _HOPELESS:
        return None, []
    climbs = [optimise(objective, model.lapsing(start), _ITERATIONS, watch, _TOLERANCE) for start in _STARTS]
    levels = [max((step.criterion for step in climb.steps), default=-np.inf) for climb in climbs]
    found, steps = climbs[int(np.argmax(levels))], [step for climb in climbs for step in climb.steps]
    if max(levels) > level + _PRICE and objective.left_out(found.model)[1] < objective.left_out(model)[1]:
        return found._replace(steps=steps), steps
    return None, [step._replace(theta=step.theta[:-1]) for step in steps]


def none_wrong(objective: LeavesOut, model: Model, level: float) -> Model | None:
    """Return the model whose labels are all right, if wrong ones do not pay any more; else None."""
    clean = model.all_right()
    return clean if value_at(copy(objective), clean) > level - _PRICE else None
