"""Where to begin: the parameters as given, other magnitudes of the length scales, and more noise."""

from collections.abc import Callable, Sequence

import numpy as np

from .._types import Floats, Mask
from ..kernels import Kernel
from .curvature import Curvature
from .model import Model
from .optimise import Climbed, Step, find_scale, optimise

__all__ = ["best_of_starts", "elsewhere", "most_starts", "second_look", "starts"]

_NOISIER = 5.0  # times the noise variance of the other start
_FAR = float(np.log(30.0))  # between starts: a length scale, or size of the function, that learning does not come from
_SHORT = float(np.log(2.5))  # between length scales, of which the shorter makes rows of many columns strangers


def starts(
    objective: Callable[[Model], tuple[float, Floats]],
    model: Model,
    noisier: bool = False,
    others: Sequence[Model] = (),
) -> list[Model]:
    """Return the models to begin from: as given, with length scales of another magnitude, each with more noise.

    Parameters
    ----------
    objective : callable
    model : Model
    noisier : bool
        Whether to begin with more noise as well, where there is noise that is learned.
    others : sequence of Model
        To begin from as well, each also in the magnitude of its length scales that suits best.

    Notes
    -----
    The magnitude that suits best at first may be one that explains nothing (every row on its own, all of it noise),
    where a start that explains badly leads to a good model. And where noise starts low the first steps explain by
    whatever input is at hand: those that matter only together are switched off before they are found.
    """
    given = _magnitudes(objective, model)
    low, high = model.bounds.T
    step = np.log(_NOISIER) * model.noise
    if noisier and step.any():
        given += [one.with_theta(np.clip(one.theta + step, low, high)) for one in given]
    return [*given, *(start for other in others for start in _magnitudes(objective, other))]


def _magnitudes(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> list[Model]:
    """Return the model, and where its length scales are of the magnitude that suits best if that is another one."""
    scaled = find_scale(objective, model)
    return [model] if np.array_equal(scaled.theta, model.theta) else [model, scaled]


def elsewhere(model: Model, kernels: Sequence[Kernel], noise: float | None = None) -> list[Model]:
    """Return models that begin at other kernels, and noise variance, those that are far from it and from each other.

    A kernel in other units than those of rows and targets is no start: where it explains nothing the criterion is flat,
    and its weak prior keeps it there. One in about the right units is left to itself, unless its length scales are
    shorter: distances add up over columns, and rows that have nothing to do with each other are all noise.
    """
    found, share = [model], np.where(model.variances | (model.noise == 1.0), 0.5, 1.0)
    for kernel in kernels:
        other = model.elsewhere(kernel, noise)
        if all(_differ(other.begun - known.begun, share, model.scales) for known in found):
            found.append(other)
    return found[1:]


def _differ(steps: Floats, share: Floats, scales: Mask) -> bool:
    longer = bool(np.max(steps[scales], initial=0.0) > _SHORT)
    return longer or bool(np.max(share * np.abs(steps), initial=0.0) > _FAR)


def most_starts(many: bool, others: int = 0) -> int:
    """Return from how many starts the best is taken at most: each with more noise and a second look if ``many``.

    Others, at which it begins as well, are starts of their own.
    """
    return (5 if many else 2) + 2 * others


def second_look(model: Model) -> Model:
    """Return the model with the length scales that have grown back where learning began.

    Of inputs that matter together one may have been switched off because the other had been. Once the rest is
    explained both are told from those that do not matter.
    """
    return model.with_theta(np.where(model.scales, np.minimum(model.theta, model.begun), model.theta))


def best_of_starts(
    objective: Callable[[Model], tuple[float, Floats]],
    begun: Sequence[Model],
    iterations: int,
    watch: Callable[[Step], bool] | None = None,
    again: bool = False,
    tolerance: float = 1e-4,
) -> Climbed[Model]:
    """Maximise from each of the starts until the watch asks for an end; return the best parameters, and all steps.

    With ``again`` what has been switched off gets a second look.
    """
    best, level, ended = Climbed(begun[0], [], Curvature()), -np.inf, False
    steps = list[Step]()

    def told(step: Step) -> bool:
        nonlocal ended
        ended = ended or bool(watch and watch(step))
        return ended

    def begin(start: Model) -> None:
        nonlocal best, level, steps
        found = optimise(objective, start, iterations, told, tolerance)
        reached = max((step.criterion for step in found.steps), default=-np.inf)
        steps += found.steps
        if reached > level:
            best, level = found, reached

    for start in begun:
        if not ended:
            begin(start)
    second = second_look(best.model)
    if again and not ended and not np.array_equal(second.theta, best.model.theta):
        begin(second)
    return best._replace(steps=steps)
