"""The few of many columns that say something, found in rounds."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..errors import InfovecError
from ..kernels.relevances import of_distances, on_columns, scales_of, with_scales
from ..likelihoods import Likelihood
from .curvature import Curvature
from .fewer_columns import price
from .leaving_out import LeavesOut, loss_of
from .model import Model
from .optimise import Climbed, Step, find_scale, optimise, value_at
from .screening import Spread, best_products, chance, single_scores, wave_scores

__all__ = ["FEWEST_TO_SCREEN", "MOST_FOR_SCREENING", "OfColumns", "few_of_many", "screenable"]

FEWEST_TO_SCREEN = 64  # columns, beyond which those that say something are looked for
_ROWS = 40  # at least
_ROUNDS = 10  # at most
_NEW, _CLEAREST, _PAIRS = 4, 2, 2  # columns by slope and by residuals, and pairs of such, that each of them lets in
_TRIED, _BENT = 8, 2  # columns by slope, and as many by waves, that are tried one by one, and the best of them
_CHANCE = 0.9  # of what the best of columns that say nothing reaches
_SINGLY = 10  # columns that are ranked by what the evidence loses without each of them
_LEARN, _ROUND, _LAST = 20, 8, 30  # iterations with new columns, with fewer of them, and in the end
_KEPT = (0.5, 0.75)  # shares of the columns that are tried, and all but one
_LONG = 1000.0  # times the distance of two rows in units of spread: a length scale that says nothing
_LONGER = 2.0  # times the usual length scale, with which a column begins beside those that were found
_SCATTER = 1.0  # of what one row left out gains or loses: chance has more of a say where rows are few
_SHORT = 2.0  # times the spread of a column: a length scale by which it can bend
_BEHIND = 2.0  # prices of a column by which a model may be behind that of all columns, to go on
_GAIN = 1.0  # by which a round must make the model worth more
MOST_FOR_SCREENING = _ROUNDS * (2 * _LEARN + 10 * 2 * _ROUND) + 2 * _LAST  # evaluations

_NONE: Rows = np.empty(0, dtype=np.intp)


@runtime_checkable
class OfColumns(LeavesOut, Protocol):
    """An objective that can be made one of some of the columns."""

    @property
    def X(self) -> Inputs:
        """Inputs of the rows."""

    def of_columns(self, columns: Rows) -> Self:
        """Return the same of some of the columns."""

    def residuals(self, model: Model) -> Floats:
        """Return what every row asks of its latent value beyond the posterior mean."""


def screenable(model: Model, n: int, p: int) -> bool:
    """Whether to look for the few of p columns that say something: nobody said how length scales are learned."""
    if not model.tied or model.priors or model.limits is not None or p <= FEWEST_TO_SCREEN or n < _ROWS:
        return False
    if not isinstance(model.likelihood, Likelihood) or model.likelihood.waits or not of_distances(model.kernel):
        return False
    whole = Model.begin(model.kernel, model.likelihood, tied=True)
    return bool(model.scales.any()) and np.array_equal(model.group, whole.group)


def few_of_many(
    objective: OfColumns, model: Model, level: float, watch: Callable[[Step], bool] | None = None
) -> tuple[Climbed[Model] | None, list[Step]]:
    r"""Return a model of few columns, or None where it does not pay, and all steps in terms of the given model.

    In every round all columns are asked by one gradient: by how much the evidence would rise if a column that is
    switched off began to count,

    .. math:: s_j^{-2} \left.\frac{\partial \log Z}{\partial \ell_j^{-2}}\right|_{\ell_j^{-2} = 0}

    with the spread s_j, so that units do not matter. And all products of two columns are asked whether they go with
    the residuals, since two that matter only together have no such slope. The best are let in, length scales are
    learned with these columns alone, and those that do not pay for themselves are dropped. It ends when no column
    promises more than the best of so many by chance, or when a round brings nothing.

    Labels were used to choose columns; so each of k that stay must bring 1 + log p, in evidence as well as in what
    rows left out gain, which is what the best of p columns brings by chance.

    Parameters
    ----------
    objective : OfColumns
    model : Model
        Whose length scales move together.
    level : float
        Its criterion.
    watch : callable, optional
        Told of every evaluation.
    """
    search = _Search(objective, model, level, watch)
    found = search.run()
    if found is None or found.worth <= level:
        return None, search.steps
    n, p = objective.X.shape
    if search.brings(found) <= price(len(found.columns), p) + _SCATTER * np.sqrt(n):
        return None, search.steps
    there = replace(found.model, kernel=on_columns(found.model.kernel, found.columns))
    return Climbed(there, search.steps, Curvature()), [*search.steps, Step(found.worth, there.theta)]


class _Found(NamedTuple):
    """Columns, the objective and the model that have these alone, and what it is worth."""

    columns: Rows
    objective: OfColumns
    model: Model
    worth: float


class _New(NamedTuple):
    """Columns to let in, and which of them begin with a short length scale."""

    columns: Rows
    short: Mask

    @classmethod
    def none(cls) -> "_New":
        return cls(_NONE, np.empty(0, dtype=bool))


class _Search:
    """Rounds of screening, learning and dropping."""

    def __init__(self, objective: OfColumns, model: Model, level: float, watch: Callable[[Step], bool] | None) -> None:
        self.objective, self.tied, self.level, self.watch = objective, model.scales, level, watch
        self.before = loss_of(copy(objective), model)
        self.steps, self.ended = list[Step](), False
        begun, self.p = model.with_theta(model.begun), objective.X.shape[1]
        self.kernel, self.likelihood = begun.kernel, begun.likelihood
        self.scales, self.spread = scales_of(begun.kernel, self.p), Spread.of(objective.X)

    def run(self) -> _Found | None:
        """Return what was found."""
        found: _Found | None = None
        for _ in range(_ROUNDS):
            new = self._first() if found is None else self._further(found)
            if self.ended or not len(new.columns):
                break
            again = self._narrowed(self._learned(new, found))
            if found is not None and again.worth <= found.worth + _GAIN:
                break
            found = again
            if found.worth < self.level - _BEHIND * price(1, self.p) or self.brings(found) <= 0.0:
                return None
        return None if found is None else self._climbed(found.columns, found.objective, found.model, _LAST)

    def brings(self, found: _Found) -> float:
        """Return what rows left out gain, all together."""
        return self.objective.X.shape[0] * (self.before - loss_of(copy(found.objective), found.model))

    def _first(self) -> _New:
        """Return the columns to begin with; none if they promise no more than chance."""
        slopes, single, waves, pairs, clear = self._screened(None)
        if max(clear.max(initial=0.0), waves.max(), single.max() / chance(self.p)) < _CHANCE:
            return _New.none()
        short = _best(np.where(waves > _CHANCE, waves, 0.0), _BENT)
        several = (_best(slopes, _NEW), _best(single, _CLEAREST), short, pairs[clear > _CHANCE].ravel())
        columns = reduce(np.union1d, several)
        return _New(columns, np.zeros(len(columns), dtype=bool))

    def _further(self, found: _Found) -> _New:
        """Return columns to let in beside those that were found: by slope, and the best of some that are tried.

        To a long length scale a column along which the function goes up and down says next to nothing; so they are
        tried with a short one, one by one.
        """
        slopes, single, waves, pairs, clear = self._screened(found)
        tried = reduce(np.union1d, (_best(slopes, _TRIED), _best(waves, _TRIED), _best(single, _CLEAREST)))
        gain = np.array([self._with(found, j) for j in tried]) - found.worth - price(len(found.columns), self.p)
        short = tried[_best(gain, _BENT)]
        several = (_best(slopes, _CLEAREST), _best(single, 1), short, pairs[clear > _CHANCE].ravel())
        columns = np.setdiff1d(reduce(np.union1d, several), found.columns)
        return _New(columns, np.isin(columns, short))

    def _with(self, found: _Found, column: int) -> float:
        """Return the log evidence with one column more, of a short length scale."""
        columns = np.append(found.columns, column)
        model = self._model(columns, found, columns[-1:])
        return value_at(self.objective.of_columns(columns), model) - model.log_prior()[0]

    def _screened(self, found: _Found | None) -> tuple[Floats, Floats, Floats, Rows, Floats]:
        """Return slopes of the evidence, what residuals say of each column and its waves, and of the best pairs."""
        X, far = self.objective.X, self._far(found)
        own = copy(self.objective)
        try:
            residual = own.residuals(far) if found is None else found.objective.residuals(found.model)
            slopes = self._slopes(own, far)
        except (InfovecError, np.linalg.LinAlgError):
            nothing = np.zeros(self.p)
            return nothing, nothing, nothing, np.empty((0, 2), dtype=np.intp), np.empty(0)
        single = single_scores(X, self.spread, residual)
        waves = wave_scores(X, self.spread, residual)
        if found is not None:
            for score in (slopes, single, waves):
                score[found.columns] = 0.0
        return slopes, single, waves, *best_products(X, self.spread, residual, single, _PAIRS)

    def _far(self, found: _Found | None) -> Model:
        """Return a model of all columns of which those that were not found say nothing."""
        scales = [_LONG * np.sqrt(self.p) * self.spread.deviation for _ in self.scales]
        if found is None:
            return Model.begin(with_scales(self.kernel, scales), self.likelihood)
        for whole, own in zip(scales, scales_of(found.model.kernel, len(found.columns)), strict=True):
            whole[found.columns] = own
        return Model.begin(with_scales(found.model.kernel, scales), found.model.likelihood)

    def _slopes(self, objective: OfColumns, far: Model) -> Floats:
        """Return by how much the evidence would rise if a column began to count."""
        gradient = objective(far)[1][far.scales].reshape(len(self.scales), self.p)  # of log l; the prior is flat there
        inside = [-0.5 * by * scale**2 for by, scale in zip(gradient, scales_of(far.kernel, self.p), strict=True)]
        return np.asarray(np.sum(inside, axis=0) / self.spread.deviation**2)

    def _learned(self, new: _New, found: _Found | None) -> _Found:
        """Learn with new columns beside those that were found."""
        columns = np.sort(new.columns if found is None else np.append(found.columns, new.columns))
        own = self.objective.of_columns(columns)
        model = self._model(columns, found, new.columns[new.short])
        if found is None:
            model = find_scale(own, model)
        return self._climbed(columns, own, model, _LEARN)

    def _model(self, columns: Rows, found: _Found | None, short: Rows = _NONE) -> Model:
        """Return a model of some columns, whose prior is around the usual length scales of so many."""
        usual = [np.sqrt(len(columns) / self.p) * scale[columns] for scale in self.scales]
        model = Model.begin(with_scales(self.kernel, usual), self.likelihood)
        if found is None:
            return model
        at, bends = {j: k for k, j in enumerate(found.columns.tolist())}, np.isin(columns, short)
        known = np.array([j in at for j in columns.tolist()])
        start = [np.log(_LONGER * scale) for scale in usual]
        for new, old in zip(start, scales_of(found.model.kernel, len(found.columns)), strict=True):
            new[bends] = np.log(_SHORT * self.spread.deviation[columns[bends]])
            new[known] = np.log(old[[at[j] for j in columns[known].tolist()]])
        theta = model.theta
        theta[model.scales] = np.concatenate(start) - np.log(np.concatenate(usual))
        theta[~model.scales] = found.model.theta[~found.model.scales]
        return model.with_theta(np.clip(theta, *model.bounds.T))

    def _narrowed(self, found: _Found) -> _Found:
        """Drop columns as long as it makes the model worth more: half of them, a quarter, or one."""
        better = True
        while better and not self.ended:
            better, k = False, len(found.columns)
            ranked = self._ranked(found)
            for kept in dict.fromkeys([*(int(share * k) for share in _KEPT), k - 1]):
                if not kept:
                    continue
                columns = np.sort(ranked[:kept])
                own = found.objective.of_columns(np.flatnonzero(np.isin(found.columns, columns)))
                fewer = self._climbed(columns, own, self._model(columns, found), _ROUND)
                if fewer.worth > found.worth:
                    found, better = fewer, True
                    break
        return found

    def _ranked(self, found: _Found) -> Rows:
        """Return the columns by what they say, most first: one by one, or where they are many by length scales."""
        if len(found.columns) <= _SINGLY:
            without = [self._without(found, np.flatnonzero(found.columns != j)) for j in found.columns]
            return found.columns[np.argsort(without, kind="stable")]
        scale = np.min(scales_of(found.model.kernel, len(found.columns)), axis=0)
        return found.columns[np.argsort(scale / self.spread.deviation[found.columns], kind="stable")]

    def _without(self, found: _Found, kept: Rows) -> float:
        """Return the criterion with some of the columns that were found."""
        if not len(kept):
            return -np.inf
        columns = found.columns[kept]
        return value_at(found.objective.of_columns(kept), self._model(columns, found))

    def _climbed(self, columns: Rows, objective: OfColumns, model: Model, iterations: int) -> _Found:
        if not self.ended:
            climbed = optimise(objective, model, iterations, self._told)
            self.steps += [step._replace(theta=self._together(step.theta, model)) for step in climbed.steps]
            model = climbed.model
        worth = value_at(objective, model) - model.log_prior()[0] - price(len(columns), self.p)
        return _Found(columns, objective, model, worth)

    def _together(self, theta: Floats, model: Model) -> Floats:
        """Return a step in terms of a model whose length scales move together: their average."""
        found = np.empty(len(self.tied))
        found[self.tied], found[~self.tied] = theta[model.scales].mean(), theta[~model.scales]
        return found

    def _told(self, step: Step) -> bool:
        self.ended = self.ended or bool(self.watch and self.watch(step))
        return self.ended


def _best(score: Floats, number: int) -> Rows:
    """Return the columns of the largest scores, which are above zero."""
    best = np.argsort(-score, kind="stable")[:number]
    return best[score[best] > 0.0]
