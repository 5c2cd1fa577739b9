"""Length scales by what the posterior says of rows left out, where the evidence has found the rest."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..errors import InfovecError
from ..runtime import Late, check
from .model import Model
from .optimise import Step

__all__ = ["MOST_TRIALS", "refine_scales"]

_MOST = 8  # steps either way
MOST_TRIALS = 2 * _MOST


class LeavesOut(Protocol):
    """An objective that knows how well rows left out are predicted."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Return the criterion, and the mean log loss of rows left out."""


def refine_scales(objective: LeavesOut, model: Model, factor: float, watch: Callable[[Step], bool]) -> Model:
    """Shorten all length scales, or lengthen them, as long as rows left out are predicted better.

    The evidence asks how well the rows are predicted one after the other, most of them from few others; what is wanted
    is how well a further one is predicted from all of them, and this is often a less smooth function's.
    """
    tried: dict[int, float] = {}
    steps = {k: model.with_theta(model.theta - k * np.log(factor) * model.scales) for k in range(-_MOST, _MOST)}

    def loss(k: int) -> float:
        if k in tried or k not in steps:
            return tried.get(k, np.inf)
        try:
            check()
            criterion, tried[k] = objective.left_out(steps[k])
        except (InfovecError, np.linalg.LinAlgError, Late):
            return np.inf
        return np.inf if watch(Step(criterion, steps[k].theta)) else tried[k]

    if model.scales.any() and np.isfinite(loss(0)):
        at, stride = 0, 1
        while stride:  # longer and longer ones, then shorter
            way = next((way for way in (stride, -stride) if loss(at + way) < tried[at]), 0)
            at += way
            stride = 2 * stride if way and not _around(tried, at) else stride // 2
    return steps[min(tried, key=tried.__getitem__)] if tried else model


def _around(tried: dict[int, float], at: int) -> bool:
    """Whether something has been tried on either side."""
    return min(tried) < at < max(tried)
