"""Length scales by what the posterior says of rows left out, where the evidence has found the rest."""

from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

import numpy as np

from ..errors import InfovecError
from ..runtime import Late, check
from .leaving_out import LeavesOut
from .model import Model
from .optimise import Step

__all__ = ["MOST_TRIALS", "refine_scales"]

_STEPS = (1, 3, 5, 7)  # tried on either side
_NARROW = 2  # steps between the neighbours of the best, where nothing else is worth trying
_WALL = 4.0  # times the slope on the other side, of what is no parabola
MOST_TRIALS = 2 + 2 * len(_STEPS)


def refine_scales(objective: LeavesOut, model: Model, factor: float, watch: Callable[[Step], bool]) -> Model:
    """Shorten all length scales, or lengthen them, as long as rows left out are predicted better.

    The evidence asks how well the rows are predicted one after the other, most of them from few others; what is wanted
    is how well a further one is predicted from all of them, and this is often a less smooth function's.
    Steps are tried until it gets worse, and one in the gap that is left; then a parabola through three tells.
    """
    tried: dict[int, float] = {}

    def at(k: float) -> Model:
        return model.with_theta(model.theta - k * np.log(factor) * model.scales)

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
        if model.scales.any() and better(0):
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
