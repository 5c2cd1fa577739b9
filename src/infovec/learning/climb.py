"""Minor steps whose sites move with the parameters, and the way out when a line search has failed."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from ..runtime import Late, check
from .curvature import Curvature
from .factorised import FactorisedObjective
from .model import Model
from .optimise import Step, optimise

__all__ = ["climb", "minor_steps", "most_evaluations"]

_TRIALS = 8  # points of a line search
_SHORTER = 0.3
_SLOPE = 1e-4  # share of the promised increase that is enough

Watch = Callable[[Step], bool]


def minor_steps(
    objective: FactorisedObjective, model: Model, iterations: int, sites: str, watch: Watch | None
) -> tuple[Model, list[Step]]:
    """Move the parameters uphill with the active set fixed, and the sites as SLH 3.3 has it.

    Where L-BFGS-B finds nothing better than the start, short steps along the gradient are tried.
    """
    if sites != "constant":
        return climb(objective, model, iterations, sites, watch)
    found, steps, _ = optimise(objective, model, iterations, watch)
    stuck = len(steps) > 1 and max(steps[1:], key=lambda s: s.criterion).criterion <= steps[0].criterion
    if stuck and len(steps) < 2 * iterations:
        found, more = climb(objective, model, 1, sites, watch)
        steps += more
    return found, steps


def most_evaluations(iterations: int, sites: str) -> int:
    """Return how many evaluations minor steps take at most."""
    a_climb = 1 + 2 * _TRIALS  # along two directions
    return 2 * iterations + a_climb if sites == "constant" else iterations * a_climb


def climb(
    objective: FactorisedObjective, model: Model, iterations: int, sites: str, watch: Watch | None
) -> tuple[Model, list[Step]]:
    """Maximise by limited-memory quasi-Newton directions and line searches that only go back.

    With "hybrid" the sites are found anew for every direction, with "exact" for every evaluation: then the gradient is
    not that of the criterion that is compared, and a point counts as better by its value alone (SLH 3.3). When a search
    fails the memory is dropped and the gradient tried; when that fails too it ends.
    """
    notes = _Notes(watch, model.theta)
    with suppress(Late):
        _climb(objective, model, iterations, sites, notes)
    theta = notes.reached
    if sites != "hybrid" and notes.steps:  # with it, values belong to different sites
        theta = max(notes.steps, key=lambda step: step.criterion).theta
    return model.with_theta(theta), notes.steps


def _climb(objective: FactorisedObjective, model: Model, iterations: int, sites: str, notes: "_Notes") -> None:
    low, high = model.bounds.T
    theta, curvature = model.theta, Curvature()
    for _ in range(iterations):
        if sites != "constant":
            objective = objective.with_sites_of(model.with_theta(theta))
        value, gradient = _attempt(objective, model.with_theta(theta))
        if not np.isfinite(value) or notes.end_after(value, theta):
            break
        uphill = np.where((theta <= low) & (gradient < 0) | (theta >= high) & (gradient > 0), 0.0, gradient)
        search = _Search(objective, model, theta, value, uphill, sites == "exact", notes)
        found = search.along(curvature.direction(uphill))
        if found is None and curvature.pairs:
            curvature = Curvature()
            found = search.along(curvature.direction(uphill))
        if found is None:
            break
        trial, slope = found
        curvature = curvature.after(trial - theta, gradient - slope)
        theta = notes.reached = trial
        if notes.ended:
            break


class _Notes:
    """All evaluations, where the last search ended, and whether whoever is told of them wants an end."""

    def __init__(self, watch: Watch | None, start: Floats) -> None:
        self.watch, self.steps, self.ended, self.reached = watch, list[Step](), False, start

    def end_after(self, value: float, theta: Floats) -> bool:
        self.steps.append(Step(value, theta.copy()))
        self.ended = self.ended or bool(self.watch and self.watch(self.steps[-1]))
        return self.ended


class _Search(NamedTuple):
    """A line search from a point: shorter and shorter steps until one is better."""

    objective: FactorisedObjective
    model: Model
    theta: Floats
    value: float
    uphill: Floats
    exact: bool
    notes: _Notes

    def along(self, direction: Floats) -> tuple[Floats, Floats] | None:
        """Return a point that is better, with the gradient there."""
        length, (low, high) = 1.0, self.model.bounds.T
        for _ in range(_TRIALS):
            trial = np.clip(self.theta + length * direction, low, high)
            there = self.model.with_theta(trial)
            new, slope = _attempt(self.objective.with_sites_of(there) if self.exact else self.objective, there)
            promised = float(self.uphill @ (trial - self.theta))
            ended = np.isfinite(new) and self.notes.end_after(new, trial)
            if new > self.value + (0.0 if self.exact else _SLOPE * max(promised, 0.0)):
                return trial, slope
            if ended:
                break
            length *= _SHORTER
        return None


def _attempt(objective: FactorisedObjective, model: Model) -> tuple[float, Floats]:
    """Evaluate; minus infinity where it cannot be done."""
    check()
    try:
        value, gradient = objective(model)
    except (InfovecError, np.linalg.LinAlgError):
        return -np.inf, np.zeros(model.size)
    good = np.isfinite(value) and bool(np.all(np.isfinite(gradient)))
    return (value, gradient) if good else (-np.inf, np.zeros(model.size))
