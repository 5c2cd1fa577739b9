"""Minor steps: the active set is given, the parameters move uphill."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from .._types import Floats
from ..errors import InfovecError
from ..runtime import Late, check
from .model import Model

__all__ = ["Step", "find_scale", "optimise"]

_DECADES = (0.0, -1.0, 1.0, -2.0, 2.0, -4.0, 4.0)  # by which all length scales are tried


class Step(NamedTuple):
    """One evaluation of the criterion."""

    criterion: float  # larger is better
    theta: Floats  # steps of the model
    major: bool = False  # whether the active rows and their sites had just been selected for these parameters


def find_scale(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> Model:
    """Return the model with all length scales multiplied by the power of ten that suits best.

    Where they are far off the criterion is flat, and no gradient tells where to go. When time is over, those that were
    not tried do not count.
    """
    trials = [model.with_theta(model.theta + decade * np.log(10.0) * model.scales) for decade in _DECADES]
    values = []
    for trial in trials if model.scales.any() else []:
        try:
            values.append(objective(trial)[0])
        except (InfovecError, np.linalg.LinAlgError):
            values.append(-np.inf)
        except Late:
            break
    return trials[int(np.argmax(values))] if np.isfinite(values).any() else model


def optimise(
    objective: Callable[[Model], tuple[float, Floats]],
    model: Model,
    iterations: int,
    watch: Callable[[Step], bool] | None = None,
    tolerance: float = 1e-4,
) -> tuple[Model, list[Step]]:
    """Maximise by L-BFGS-B and return the best parameters that were met, and all steps.

    Where the objective cannot be computed the line search is sent back. A true answer of ``watch`` ends it, and so does
    an objective that is late. Where the objective raises its precision it is another one: the search begins anew from
    the best parameters so far, and the steps before are forgotten.
    """
    steps: list[Step] = []
    if not iterations:
        return model, steps

    def minus(theta: Floats) -> tuple[float, Floats]:
        check()
        precision = getattr(objective, "dtype", None)
        try:
            value, gradient = objective(model.with_theta(theta))
        except (InfovecError, np.linalg.LinAlgError):
            value, gradient = -np.inf, np.zeros(theta.size)
        if getattr(objective, "dtype", None) != precision:
            best = max(steps, key=lambda step: step.criterion).theta if steps else model.theta  # not a wild trial
            steps.clear()
            raise _Again(best)
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            worst = min((s.criterion for s in steps), default=0.0)
            return 1e3 + 2.0 * abs(worst), np.zeros(theta.size)
        steps.append(Step(value, theta.copy()))
        if (watch and watch(steps[-1])) or len(steps) >= 2 * iterations:
            raise _Stop
        return -value, -gradient

    def climb(start: Floats) -> None:
        minimize(
            minus, start, jac=True, method="L-BFGS-B", bounds=model.bounds,
            options={"maxiter": iterations, "ftol": 0.3 * tolerance, "gtol": tolerance},
        )  # fmt: skip

    with suppress(_Stop, Late):
        try:
            climb(model.theta)
        except _Again as again:  # once: there is no higher precision
            climb(again.theta)
    if not steps:
        return model, steps
    best = max(steps, key=lambda step: step.criterion)
    return model.with_theta(best.theta), steps


class _Stop(Exception):
    """The watch asked to end."""


class _Again(Exception):
    """The objective is no longer what it was."""

    def __init__(self, theta: Floats) -> None:
        super().__init__()
        self.theta = theta.copy()
