"""Length scales by what the posterior says of rows left out, where the evidence has found the rest."""

from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from ..runtime import Late, check
from .leaving_out import LeavesGroupsOut, LeavesOut, loss_of
from .model import Model
from .optimise import Step

__all__ = ["MOST_BY_GROUPS", "MOST_TRIALS", "refine_by_groups", "refine_scales", "refine_scales_by_groups"]

_STEPS = (1, 3, 5, 7)  # tried on either side
_NARROW = 2  # steps between the neighbours of the best, where nothing else is worth trying
_LARGER = 3.0  # factor between sizes of the function, or of the noise, that are tried
_WALL = 4.0  # times the slope on the other side, of what is no parabola
MOST_TRIALS = 2 + 2 * len(_STEPS)
_CLEARLY = 0.95  # share of the loss of groups left out
MOST_BY_GROUPS = 4 * MOST_TRIALS


def refine_scales(objective: LeavesOut, model: Model, factor: float, watch: Callable[[Step], bool]) -> Model:
    """Shorten all length scales, or lengthen them, as long as rows left out are predicted better.

    The evidence asks how well the rows are predicted one after the other, most of them from few others; what is wanted
    is how well a further one is predicted from all of them, and this is often a less smooth function's.
    Steps are tried until it gets worse, and one in the gap that is left; then a parabola through three tells.
    """
    return _along(-np.log(factor) * model.scales, objective, model, watch)


def refine_by_groups(objective: LeavesOut, model: Model, factor: float, watch: Callable[[Step], bool]) -> Model:
    """Do the same where whole groups of rows are left out, and with the size of the function and of the noise, too.

    Rows of a group know each other's targets by heart. To the evidence, which adds up what each row says after the
    others, this is a function that is large, rough and free of noise; of a new group it would say nothing.
    """
    smoother, smaller = np.log(factor) * model.scales, -np.log(_LARGER) * model.variances
    for direction in (smoother, smaller, np.log(_LARGER) * model.noise, smoother):
        model = _along(direction, objective, model, watch)
    return model


def refine_scales_by_groups(
    objective: LeavesGroupsOut, model: Model, factor: float, watch: Callable[[Step], bool]
) -> Model:
    """Return the length scales that single rows left out ask for, unless groups clearly ask for others.

    Without a group fewer rows are left than there will be, for which smoother functions than the best do as well.
    """
    with objective.one_by_one():
        alone = refine_scales(objective, model, factor, watch)
    grouped = refine_scales(objective, alone, factor, watch)
    return grouped if loss_of(objective, grouped) < _CLEARLY * loss_of(objective, alone) else alone


def _along(direction: Floats, objective: LeavesOut, model: Model, watch: Callable[[Step], bool]) -> Model:
    """Return the model that predicts rows left out best on a line."""
    tried: dict[int, float] = {}

    def at(k: float) -> Model:
        return model.with_theta(model.theta + k * direction)

    def better(k: int) -> bool:
        """Try a step; whether it is the best so far."""
        check()
        try:
            criterion, tried[k] = objective.left_out(at(k))
        except (InfovecError, np.linalg.LinAlgError):
            return False
        if watch(Step(criterion, at(k).theta)):
            raise Late
        return tried[k] <= min(tried.values())

    with suppress(Late):
        if np.any(direction) and better(0):
            for way in (1, -1):
                if list(takewhile(better, (way * k for k in _STEPS))):
                    break
            between = _between(tried)
            if between is not None:
                better(between)
    return at(_lowest(tried)) if tried else model


def _neighbours(tried: dict[int, float]) -> tuple[int | None, int, int | None]:
    """Return the best step, between the nearest that were tried on either side."""
    best = min(tried, key=tried.__getitem__)
    return max((k for k in tried if k < best), default=None), best, min((k for k in tried if k > best), default=None)


def _between(tried: dict[int, float]) -> int | None:
    """Return the step in the larger gap beside the best one, if there is one: the loss may rise like a wall."""
    a, best, c = _neighbours(tried)
    if a is None or c is None or c - a <= _NARROW:
        return None
    left = best - a > c - best or (best - a == c - best and _lowest(tried) < best)
    return (a + best) // 2 if left else (best + c) // 2


def _lowest(tried: dict[int, float]) -> float:
    """Where the parabola through the best trial and its neighbours is lowest; the best itself if it has but one."""
    a, best, c = _neighbours(tried)
    if a is None or c is None:
        return best
    fall, rise = (tried[a] - tried[best]) / (best - a), (tried[c] - tried[best]) / (c - best)
    if max(fall, rise) >= _WALL * min(fall, rise):
        return best
    return best + 0.5 * ((c - best) * fall - (best - a) * rise) / (fall + rise)
