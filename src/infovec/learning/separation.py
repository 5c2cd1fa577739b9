"""Whether columns deserve length scales of their own."""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from .._types import Floats, Rows
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from .curvature import Curvature
from .few_of_many import OfColumns, few_of_many, screenable
from .fewer_columns import FEWEST_COLUMNS, fewer_columns, price_of, worth_of
from .leaving_out import LeavesOut, loss_of
from .model import Model
from .optimise import Climbed, Step, optimise, value_at
from .starts import second_look

__all__ = ["MOST_COLUMNS", "MOST_FOR_COLUMNS", "alike", "separable", "separate"]

MOST_COLUMNS = 500  # whose length scales are learned one by one unless asked for
_ROWS = 1  # for each column at least
_LABELS = 100  # rows at least where all that is known of each is a label
_SEVERAL = 64  # columns, beyond which the whole price is asked for in any case: so many overfit
_PRICE = 1.0  # log evidence that a further length scale must bring
_CHANCE = 0.5  # of that price, which a length scale brings that says nothing
_ITERATIONS = 50
_TOLERANCE = (1e-4, 1e-5)  # of an objective that needs sweeps, and of one that is exact
_LOOK, _PROMISE = 6, 0.25  # iterations after which this share of the price must be paid for it to go on,
_PROMISING = 5.0  # or so much, however many columns there are
_SHORTER = 0.9  # step of the common length scale from where learning began
_SHORT, _TRIED = -1.0, 32  # step to a length scale by which a column can bend, and columns for which it is tried
MOST_FOR_COLUMNS = 4 * (_LOOK + _ITERATIONS)  # evaluations


def separable(model: Model, n: int, p: int) -> bool:
    """Whether to try it with n rows and p columns: nobody said how length scales should be learned."""
    free = model.tied and not model.priors and model.limits is None and bool(model.scales.any())
    fewest = _LABELS if isinstance(model.likelihood, Discrete | ClassLikelihood) else 0
    if isinstance(model.likelihood, Likelihood) and model.likelihood.waits:
        return False  # rows without label are many, and say little of single columns
    return free and 1 < p <= MOST_COLUMNS and n >= max(_ROWS * p, fewest)


def separate(
    objective: LeavesOut,
    model: Model,
    p: int,
    n: int,
    level: float,
    share: float,
    watch: Callable[[Step], bool] | None = None,
) -> tuple[Climbed[Model] | None, list[Step]]:
    """Go on from a model whose length scales move together with one for each of p columns; None where it does not pay.

    Length scales that are fitted, not integrated out, make the evidence larger by about half for each of them even
    where they say nothing, so that each must bring more than that.

    Parameters
    ----------
    objective : callable
    model : Model
    p, n : int
        Columns and rows.
    level : float
        Criterion of the model.
    share : float
        Of all rows that parameters will be learned from. What a length scale brings by chance does not grow with them,
        what it brings in truth does.
    """
    earlier = list[Step]()
    if isinstance(objective, OfColumns) and screenable(model, n, p):
        few, earlier = few_of_many(objective, model, level, watch)
        if few is not None:
            return few, earlier
    if not separable(model, n, p):
        return None, earlier
    starts, pays = _starts(objective, model.separated(p)[0]), True
    price, steps = _PRICE * (starts[0].size - model.size), earlier
    exact = isinstance(model.likelihood, Likelihood) and model.likelihood.conjugate  # then an evaluation costs little
    looks = [(_LOOK, _PROMISE), (_ITERATIONS, 1.0)]
    best = Climbed(starts[0], [], Curvature())
    for iterations, part in looks[1:] if exact else looks:
        climbs = [optimise(objective, one, iterations, watch, _TOLERANCE[exact], best.curvature) for one in starts]
        steps += [step for climbed in climbs for step in climbed.steps]
        best = max(climbs, key=_reached)
        starts, gain = [best.model], _reached(best) - level
        wanted = part * price * (1.0 if p > _SEVERAL else _CHANCE * (1.0 + share))
        if gain <= (wanted if part == 1.0 else min(wanted, _PROMISING)):
            pays = False
            if part < 1.0 or p <= FEWEST_COLUMNS:
                return None, steps
    best = best._replace(steps=steps)
    if pays:
        best = _bent(objective, best, watch)
        if exact:
            best = _better(best, optimise(objective, second_look(best.model), _ITERATIONS, watch))
    if p > FEWEST_COLUMNS:
        before = loss_of(objective, model)

        def enough(fewer: Model) -> bool:
            brings = n * (before - loss_of(objective, fewer))
            return worth_of(objective, fewer) > level and brings > price_of(fewer)

        fewer, more = fewer_columns(copy(objective), best.model, enough, watch)
        steps += more
        if fewer is not None:
            return Climbed(fewer, steps, Curvature()), steps
    return best if pays else None, steps


def _starts(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> list[Model]:
    """Return the model, or where learning began: a length scale that all share grows where few columns count.

    Where it has become much shorter, rows have nothing to do with each other and all is noise; no gradient leads out of
    that either, so learning begins anew as well.
    """
    again = second_look(model)
    best = max((model, again), key=lambda start: value_at(objective, start)) if _moved(model, again) else model
    shrunk = np.any((model.begun - model.theta)[model.scales] > _SHORTER)
    return [best, model.with_theta(model.begun)] if shrunk else [best]


def _moved(one: Model, other: Model) -> bool:
    return not np.array_equal(one.theta, other.theta)


def _bent(
    objective: Callable[[Model], tuple[float, Floats]], best: Climbed[Model], watch: Callable[[Step], bool] | None
) -> Climbed[Model]:
    """Try columns whose length scales have grown with short ones; the steps join the others.

    To a long length scale a column that goes up and down is a straight line, which is a maximum of its own: no
    gradient leads out of it.
    """
    model, level, number = best.model, _reached(best), np.arange(best.model.size)
    grown = np.flatnonzero(model.scales & (model.theta > 0.0))
    grown = grown[np.argsort(model.theta[grown], kind="stable")][:_TRIED]

    def short(columns: list[int]) -> Model:
        return model.with_theta(np.where(np.isin(number, columns), _SHORT, model.theta))

    better = [j for j in grown.tolist() if value_at(objective, short([j])) > level]
    return _better(best, optimise(objective, short(better), _ITERATIONS, watch)) if better else best


def _better(best: Climbed[Model], again: Climbed[Model]) -> Climbed[Model]:
    """Return the better of two climbs; the steps of the second join those of the first."""
    level = _reached(best)
    best.steps.extend(again.steps)
    return again._replace(steps=best.steps) if _reached(again) > level else best


def _reached(climbed: Climbed[Model]) -> float:
    return max((step.criterion for step in climbed.steps), default=-np.inf)


def alike(steps: Sequence[Step], model: Model, apart: bool) -> list[Step]:
    """Return steps in terms of the length scales that were kept, where others were tried too.

    Parameters
    ----------
    steps : sequence of Step
    model : Model
        One whose length scales move together.
    apart : bool
        Whether separate length scales were kept, those of the last step; if not, those that were tried are averaged, as
        ``Model.theta`` is.
    """
    if all(step.theta.size == model.size for step in steps):
        return list(steps)
    columns = {size: _columns_of(model, size) for size in {step.theta.size for step in steps}}
    if apart:
        kept = columns[steps[-1].theta.size]
        return [step._replace(theta=step.theta[kept]) if step.theta.size == model.size else step for step in steps]
    return [step._replace(theta=_averaged(step.theta, columns[step.theta.size], model)) for step in steps]


def _columns_of(model: Model, size: int) -> Rows:
    """Position of each of so many steps among those of a model whose length scales move together."""
    if size == model.size:
        return np.arange(size)
    one, two = model.separated(1)[0].size, model.separated(2)[0].size
    return model.separated(1 + (size - one) // max(two - one, 1))[1]  # kernels of given columns have their number


def _averaged(theta: Floats, columns: Rows, model: Model) -> Floats:
    share = 1.0 / np.maximum(np.bincount(columns, minlength=model.size), 1)
    return np.asarray(share * np.bincount(columns, weights=theta, minlength=model.size))
