"""Where to begin: the parameters as given, other magnitudes of the length scales, and more noise."""

from collections.abc import Callable

import numpy as np

from .._types import Floats
from .curvature import Curvature
from .model import Model
from .optimise import Climbed, Step, find_scale, optimise

__all__ = ["best_of_starts", "most_starts", "second_look", "starts"]

_NOISIER = 5.0  # times the noise variance of the other start


def starts(objective: Callable[[Model], tuple[float, Floats]], model: Model, noisier: bool = False) -> list[Model]:
    """Return the models to begin from: as given, with length scales of another magnitude, each with more noise.

    Parameters
    ----------
    objective : callable
    model : Model
    noisier : bool
        Whether to begin with more noise as well, where there is noise that is learned.

    Notes
    -----
    The magnitude that suits best at first may be one that explains nothing (every row on its own, all of it noise),
    where a start that explains badly leads to a good model. And where noise starts low the first steps explain by
    whatever input is at hand: those that matter only together are switched off before they are found.
    """
    scaled = find_scale(objective, model)
    given = [model] if np.array_equal(scaled.theta, model.theta) else [model, scaled]
    low, high = model.bounds.T
    step = np.log(_NOISIER) * model.noise
    if not noisier or not step.any():
        return given
    return [*given, *(one.with_theta(np.clip(one.theta + step, low, high)) for one in given)]


def most_starts(many: bool) -> int:
    """Return from how many starts the best is taken at most: each with more noise and a second look if ``many``."""
    return 5 if many else 2


def second_look(model: Model) -> Model:
    """Return the model with the length scales that have grown back where learning began.

    Of inputs that matter together one may have been switched off because the other had been. Once the rest is
    explained both are told from those that do not matter.
    """
    return model.with_theta(np.where(model.scales, np.minimum(model.theta, 0.0), model.theta))


def best_of_starts(
    objective: Callable[[Model], tuple[float, Floats]],
    model: Model,
    many: bool,
    iterations: int,
    watch: Callable[[Step], bool] | None = None,
) -> Climbed[Model]:
    """Maximise from each of the starts until the watch asks for an end; return the best parameters, and all steps.

    With ``many`` parameters there are noisier starts too, and a second look at what has been switched off.
    """
    best, level, ended = Climbed(model, [], Curvature()), -np.inf, False
    steps = list[Step]()

    def told(step: Step) -> bool:
        nonlocal ended
        ended = ended or bool(watch and watch(step))
        return ended

    def begin(start: Model) -> None:
        nonlocal best, level, steps
        found = optimise(objective, start, iterations, told)
        reached = max((step.criterion for step in found.steps), default=-np.inf)
        steps += found.steps
        if reached > level:
            best, level = found, reached

    for start in starts(objective, model, many):
        if not ended:
            begin(start)
    again = second_look(best.model)
    if many and not ended and not np.array_equal(again.theta, best.model.theta):
        begin(again)
    return best._replace(steps=steps)
