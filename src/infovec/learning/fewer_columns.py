"""Columns that say nothing, switched off."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np

from .._types import Floats, Rows
from .leaving_out import LeavesOut
from .model import Model
from .optimise import Step, optimise, value_at
from .starts import second_look

__all__ = ["FEWEST_COLUMNS", "MOST_FOR_FEWER", "fewer_columns", "price", "price_of", "worth_of"]

FEWEST_COLUMNS = 64  # beyond which columns are switched off: with fewer it costs time and brings little
_LOOKS, _AGAIN = 2, 30  # from a start with all columns, and iterations of the second one
_ROUND, _LAST = 8, 30  # iterations with every number of columns, and with the best of them
_KEPT = (0.5, 0.75)  # shares of the columns that are tried
_SINGLY = 32  # columns that are ranked by what the evidence loses without each of them
_NEAR = 1.0  # step from the longest length scale: there is hardly a slope, and a search may wander
_ROUNDS = 8  # that are likely at most, from hundreds of columns to few
MOST_FOR_FEWER = 2 * _LOOKS * (len(_KEPT) * _ROUNDS * _ROUND + _LAST + _SINGLY)  # evaluations


def price(k: int, p: int) -> float:
    """Return the log evidence that k length scales must bring which were chosen out of p.

    Of so many that say nothing the best bring more than one by chance, nearly log p, so that each costs so much more.
    """
    return max(k, 1) * (1.0 + float(np.log(p)))


def price_of(model: Model) -> float:
    """Log evidence that the length scales which are not switched off must bring: one for each where all of them move.

    See ``price`` for those that were chosen.
    """
    scales = model.scales
    p, k = int(scales.sum()), int(np.sum(scales & (model.theta < model.bounds[:, 1] - _NEAR)))
    return float(p) if k == p else price(k, p)


def fewer_columns(
    objective: LeavesOut,
    model: Model,
    enough: Callable[[Model], bool],
    watch: Callable[[Step], bool] | None = None,
) -> tuple[Model | None, list[Step]]:
    """Go on from a model with a length scale for each column, most of them switched off; None where it does not pay.

    Columns that say nothing end at long length scales, but not at infinite ones, where the evidence is flat; each adds
    a little to all distances, so that a hundred of them blur what the others say. So the half of them with the longest
    length scales is switched off, or a quarter, and the others move again, as long as the evidence less the price of
    columns that were chosen rises. Columns that matter only together may have been lost among the others; from what
    was found all of them are let in once more.

    Parameters
    ----------
    objective : LeavesOut
    model : Model
        Its length scales have been learned.
    enough : callable
        Whether a model with fewer columns is to be believed.
    watch : callable, optional
        Told of every evaluation of the climb.
    """
    search = _Search(watch)
    best, level = model, worth_of(copy(objective), model)
    for _ in range(_LOOKS):
        start = model
        if best is not model:
            start = search.climb(copy(objective), replace(second_look(best), priors=model.priors), _AGAIN)
        found, reached = search.narrowed(copy(objective), start)
        if reached <= level or not enough(found):
            break
        best, level = found, reached
    return best if best is not model else None, search.steps


class _Search:
    """Climbs one after the other, until somebody asks for an end."""

    def __init__(self, watch: Callable[[Step], bool] | None) -> None:
        self.watch, self.steps, self.ended = watch, list[Step](), False

    def told(self, step: Step) -> bool:
        self.ended = self.ended or bool(self.watch and self.watch(step))
        return self.ended

    def climb(self, objective: LeavesOut, model: Model, iterations: int) -> Model:
        if self.ended:
            return model
        climbed = optimise(objective, model, iterations, self.told)
        self.steps += climbed.steps
        return climbed.model

    def narrowed(self, objective: LeavesOut, model: Model) -> tuple[Model, float]:
        """Switch off columns as long as it pays; return the model, and what it is worth."""
        columns, worth, more = np.flatnonzero(model.scales), -np.inf, True
        while more and not self.ended:
            ranked, more = _ranked(objective, model, columns), False
            for kept in [int(share * len(columns)) for share in _KEPT if int(share * len(columns)) > 0]:
                own = copy(objective)  # with sites of its own
                fewer = self.climb(own, model.switched_off(ranked[kept:]), _ROUND)
                reached = worth_of(own, fewer)
                if reached > worth:
                    objective, model, columns, worth, more = own, fewer, ranked[:kept], reached, True
                    break
        model = self.climb(objective, model, _LAST)
        return model, max(worth, worth_of(objective, model))


def _ranked(objective: LeavesOut, model: Model, columns: Rows) -> Rows:
    """Return the columns by what they say, most first: by their length scales, or where they are few one by one."""
    if len(columns) > _SINGLY:
        return columns[np.argsort(model.theta[columns], kind="stable")]
    without = [value_at(copy(objective), model.switched_off(columns[[j]])) for j in range(len(columns))]
    return columns[np.argsort(without, kind="stable")]


def worth_of(objective: Callable[[Model], tuple[float, Floats]], model: Model) -> float:
    """Log evidence of a model less the price of its columns: all of them, or those that are not switched off.

    It is without the prior, of which columns that are switched off have none.
    """
    return value_at(objective, model) - model.log_prior()[0] - price_of(model)
