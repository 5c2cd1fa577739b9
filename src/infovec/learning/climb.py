"""Minor steps whose sites move with the parameters, and the way out when a line search has failed."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from ..runtime import Late, check
from .factorised import FactorisedObjective
from .model import Model
from .optimise import Step, optimise

__all__ = ["climb", "minor_steps"]

_MEMORY = 8  # pairs that the search direction remembers
_TRIALS = 8  # points of a line search
_SHORTER = 0.3
_SLOPE = 1e-4  # share of the promised increase that is enough
_LONGEST = 2.0  # of a first step along the gradient

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


def climb(
    objective: FactorisedObjective, model: Model, iterations: int, sites: str, watch: Watch | None
) -> tuple[Model, list[Step]]:
    """Maximise by limited-memory quasi-Newton directions and line searches that only go back.

    With "hybrid" the sites are found anew for every direction, with "exact" for every evaluation: then the gradient is
    none of the criterion that is compared, and a point counts as better by its value alone (SLH 3.3). When a search
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
    theta, memory = model.theta, list[tuple[Floats, Floats]]()
    for _ in range(iterations):
        if sites != "constant":
            objective = objective.with_sites_of(model.with_theta(theta))
        value, gradient = _attempt(objective, model.with_theta(theta))
        if not np.isfinite(value) or notes.end_after(value, theta):
            break
        uphill = np.where((theta <= low) & (gradient < 0) | (theta >= high) & (gradient > 0), 0.0, gradient)
        search = _Search(objective, model, theta, value, uphill, sites == "exact", notes)
        found = search.along(_direction(uphill, memory))
        if found is None and memory:
            memory = []
            found = search.along(_direction(uphill, memory))
        if found is None:
            break
        trial, slope = found
        step, bend = trial - theta, gradient - slope
        if step @ bend > 1e-10 * (step @ step):
            memory = [*memory, (step, bend)][-_MEMORY:]
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


def _direction(gradient: Floats, memory: list[tuple[Floats, Floats]]) -> Floats:
    """Uphill direction of limited-memory BFGS, by the recursion over pairs of steps and changes of the gradient."""
    if not memory:
        return gradient * min(1.0, _LONGEST / max(float(np.linalg.norm(gradient)), 1e-300))
    q, shares = gradient.copy(), []
    for step, bend in reversed(memory):
        share = float(step @ q) / float(step @ bend)
        q -= share * bend
        shares.append(share)
    step, bend = memory[-1]
    q *= float(step @ bend) / float(bend @ bend)
    for (step, bend), share in zip(memory, reversed(shares), strict=True):
        q += step * (share - float(bend @ q) / float(step @ bend))
    return q if float(q @ gradient) > 0.0 else gradient


def _attempt(objective: FactorisedObjective, model: Model) -> tuple[float, Floats]:
    """Evaluate; minus infinity where it cannot be done."""
    check()
    try:
        value, gradient = objective(model)
    except (InfovecError, np.linalg.LinAlgError):
        return -np.inf, np.zeros(model.size)
    good = np.isfinite(value) and bool(np.all(np.isfinite(gradient)))
    return (value, gradient) if good else (-np.inf, np.zeros(model.size))
