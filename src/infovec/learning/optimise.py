"""Minor steps: the active set is given, the parameters move uphill."""

from collections.abc import Callable
from contextlib import suppress
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from ..runtime import Late, check
from .curvature import NOTHING_KNOWN, Curvature
from .model import Model

__all__ = ["Climbed", "Step", "find_scale", "optimise", "value_at"]

_TRIALS = 6  # points of a line search
_SHORTER = (0.1, 0.5)  # least and largest share of a step that was too long
_SLOPE = 1e-4  # share of the promised increase that is enough
_DECADES = (0.0, -1.0, 1.0, -2.0, 2.0, -4.0, 4.0)  # by which all length scales are tried
_FEWEST, _PEAK = 3, 1.0  # of them that are enough where the first is better by so much


class Moves(Protocol):
    """What is optimised: a value that knows its steps, such as a Model."""

    @property
    def theta(self) -> Floats:
        """Steps taken so far."""

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step."""

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""


M = TypeVar("M", bound=Moves)


class Step(NamedTuple):
    """One evaluation of the criterion."""

    criterion: float  # larger is better
    theta: Floats  # steps of the model
    major: bool = False  # whether the active rows and their sites had just been selected for these parameters
    form: int = 0  # of the kernel, with which further terms are tried


def find_scale(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> Model:
    """Return the model with all length scales multiplied by the power of ten that suits best.

    Where they are far off the criterion is flat, and no gradient tells where to go. Far powers are not
    tried where the start is at a peak. When time is over, those that were not tried do not count.
    """
    values = dict[float, float]()

    def trial(decade: float) -> Model:
        return model.with_theta(model.theta + decade * np.log(10.0) * model.scales)

    with suppress(Late):
        for decade in _DECADES if model.scales.any() else ():
            if len(values) == _FEWEST and values[0.0] > max(values[-1.0], values[1.0]) + _PEAK:
                break
            values[decade] = value_at(objective, trial(decade))
    return trial(max(values, key=values.__getitem__)) if np.isfinite(list(values.values())).any() else model


def value_at(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> float:
    """Criterion of a model, without its gradient if the objective knows how; minus infinity where there is none."""
    try:
        alone: Callable[[Model], float] | None = getattr(objective, "value", None)
        return objective(model)[0] if alone is None else alone(model)
    except (InfovecError, np.linalg.LinAlgError):
        return -np.inf


def optimise(
    objective: Callable[[M], tuple[float, Floats]],
    model: M,
    iterations: int,
    watch: Callable[[Step], bool] | None = None,
    tolerance: float = 1e-4,
    curvature: Curvature = NOTHING_KNOWN,
) -> "Climbed[M]":
    """Maximise by limited-memory quasi-Newton steps, and return the best parameters that were met.

    It ends when the next step promises less than the share ``tolerance`` of the criterion, after so many iterations or
    twice as many evaluations, when ``watch`` answers true, and when the objective is late. Where the objective cannot
    be computed the line search is sent back. Where it raises its precision it is another one: the search goes on from
    the best parameters so far, and the steps before are forgotten.

    Parameters
    ----------
    objective : callable
        Criterion and gradient.
    model : Model, or other value that knows its steps
    iterations : int
    watch : callable, optional
        Told of every evaluation.
    tolerance : float
    curvature : Curvature
        What is known of it before.
    """
    ascent = _Ascent(objective, model, 2 * iterations, watch, tolerance, curvature)
    with suppress(_Stop, Late):
        ascent.begin()
        for _ in range(iterations):
            if not ascent.step():
                break
    best = max(ascent.steps, key=lambda step: step.criterion, default=None)
    found = model if best is None else model.with_theta(best.theta)
    return Climbed(found, ascent.steps, ascent.curvature)


class Climbed(NamedTuple, Generic[M]):
    """Where a search has led, and what it has seen."""

    model: M
    steps: list[Step]
    curvature: Curvature


class _Ascent(Generic[M]):
    """A point, its value and gradient, and what is known of the curvature."""

    def __init__(
        self,
        objective: Callable[[M], tuple[float, Floats]],
        model: M,
        most: int,
        watch: Callable[[Step], bool] | None,
        tolerance: float,
        curvature: Curvature,
    ) -> None:
        self.objective, self.model, self.most, self.watch = objective, model, most, watch
        self.tolerance, self.curvature, self.steps = tolerance, curvature, list[Step]()
        self.theta, self.bounds = model.theta, model.bounds.T

    def begin(self) -> None:
        """Evaluate at the start."""
        self.value, self.gradient = self._evaluate(self.theta)
        if not np.isfinite(self.value):
            raise _Stop

    def step(self) -> bool:
        """Take one step; say whether there was one."""
        low, high = self.bounds
        stuck = (self.theta <= low) & (self.gradient < 0.0) | (self.theta >= high) & (self.gradient > 0.0)
        uphill = np.where(stuck, 0.0, self.gradient)
        direction = np.where(stuck, 0.0, self.curvature.direction(uphill))
        if self._along(direction, uphill):
            return True
        if not self.curvature.pairs or self._enough(direction, uphill):
            return False
        self.curvature = NOTHING_KNOWN  # it was another's, or misleading
        return self._along(self.curvature.direction(uphill), uphill)

    def _enough(self, direction: Floats, uphill: Floats) -> bool:
        """Whether a step promises too little: half of its slope, if the criterion is as curved as it seems."""
        if not self.curvature.pairs:  # there may be a long way to go
            return float(np.linalg.norm(uphill)) <= self.tolerance
        return 0.5 * float(direction @ uphill) <= self.tolerance * max(abs(self.value), 1.0)

    def _along(self, direction: Floats, uphill: Floats) -> bool:
        """Take shorter and shorter steps until one is better."""
        if self._enough(direction, uphill):
            return False
        length = 1.0
        for _ in range(_TRIALS):
            trial = np.clip(self.theta + length * direction, *self.bounds)
            step = trial - self.theta
            promised = float(uphill @ step)
            value, gradient = self._evaluate(trial)
            if value > self.value + _SLOPE * max(promised, 0.0):
                self.curvature = self.curvature.after(step, self.gradient - gradient)
                self.theta, self.value, self.gradient = trial, value, gradient
                return True
            missing = 2.0 * (promised - value + self.value)  # of a parabola through both values and the slope
            length *= float(np.clip(promised / missing, *_SHORTER)) if np.isfinite(missing) else _SHORTER[0]
        return False

    def _evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Criterion and gradient; minus infinity where there is none."""
        if len(self.steps) >= self.most:
            raise _Stop
        check()
        precision = getattr(self.objective, "dtype", None)
        try:
            value, gradient = self.objective(self.model.with_theta(theta))
        except (InfovecError, np.linalg.LinAlgError):
            value, gradient = -np.inf, np.zeros(theta.size)
        if getattr(self.objective, "dtype", None) != precision:
            self.steps.clear()
            if not np.array_equal(theta, self.theta):
                self.begin()
                return -np.inf, np.zeros(theta.size)  # a trial that went too far for comfort
        if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
            return -np.inf, np.zeros(theta.size)
        self.steps.append(Step(value, theta.copy()))
        if self.watch and self.watch(self.steps[-1]):
            raise _Stop
        return value, gradient


class _Stop(Exception):
    """The watch asked to end, there is nothing to begin from, or there were evaluations enough."""
