"""Whether the function is a sum: of rougher functions, and of functions of one column each."""

from collections.abc import Callable, Iterable
from copy import copy
from enum import IntFlag
from functools import reduce
from typing import NamedTuple

import numpy as np

from .._types import Mask
from ..kernels import RBF, Kernel, MainEffects, Matern, Sum
from ..kernels.named import terms_of
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from .curvature import Curvature
from .leaving_out import LeavesOut, loss_of
from .model import Model
from .optimise import Climbed, Step, optimise, value_at

__all__ = [
    "Form",
    "Richer",
    "can_be_richer",
    "further_terms",
    "most_for_form",
    "of_labels",
    "richer",
    "with_terms",
]

_MOST_COLUMNS = 128  # an evaluation with main effects takes time for each of them
_FEWEST = 100  # rows by which it can be told
_LONGEST = 3.0  # length scales to begin with, in those that learning began with
_SHARE = 0.1  # variance to begin with, in that of the first term
_LOOK, _PROMISE = 5, 0.25  # iterations after which this share of the price must be paid for it to go on
_ITERATIONS, _TOLERANCE = 15, 1e-4
_PRICE, _SURE = 0.5, 3.0  # log evidence that it must bring: for every further parameter, as chance does, and beyond
_BRINGS = 2.0  # log density of all rows, each left out, that it must bring


class Form(IntFlag):
    """What the kernel has beside its first term and a bias."""

    PLAIN = 0
    MATERN = 1
    MAIN_EFFECTS = 2


_TERMS: dict[Form, type[Kernel]] = {Form.MATERN: Matern, Form.MAIN_EFFECTS: MainEffects}
_BEGUN = 2  # terms of a kernel that may get more: one of distances, and a bias


def further_terms(kernel: Kernel) -> list[int]:
    """Return the forms of the terms that a kernel has got, in their order."""
    kinds = [type(term) for term in terms_of(kernel)[_BEGUN:]] if isinstance(kernel, Kernel) else []
    return [int(form) for kind in kinds for form, of in _TERMS.items() if kind is of]


def with_terms(kernel: Kernel, forms: Iterable[int]) -> Kernel:
    """Return a kernel with such terms, whose parameters are still to be set."""
    return reduce(Sum, (_TERMS[Form(form)]() for form in forms), kernel)


class Richer(NamedTuple):
    """What came of it."""

    climbed: Climbed[Model]  # with all terms that were taken
    added: Mask  # which of its steps are theirs
    form: Form


def of_labels(model: Model) -> bool:
    """Whether all that is known of a row is a label."""
    return isinstance(model.likelihood, Discrete | ClassLikelihood)


def _forms_of(model: Model) -> list[Form]:
    """Return what is tried: labels do not tell how rough a function is."""
    forms = [] if of_labels(model) else [Form.MATERN]
    return [*forms, Form.MAIN_EFFECTS]


def can_be_richer(model: Model, n: int, p: int) -> bool:
    """Whether to try it with n rows and p columns: a kernel of distances, and nobody said how it is learned.

    Numbers whose noise has so heavy tails that outliers say nothing are left out: rough functions and outliers can
    take each other's place there, and sites do not settle.
    """
    kinds = [type(term) for term in terms_of(model.kernel)] if isinstance(model.kernel, Kernel) else []
    waits = isinstance(model.likelihood, Likelihood) and model.likelihood.waits
    steady = of_labels(model) or getattr(model.likelihood, "log_concave", True)
    guided = bool(model.priors) or model.limits is not None
    return (
        RBF in kinds
        and MainEffects not in kinds
        and steady
        and not waits
        and not guided
        and 1 < p <= _MOST_COLUMNS
        and n >= _FEWEST
    )


def most_for_form(model: Model) -> int:
    """Return how many evaluations it takes at most."""
    tried = len(_forms_of(model))
    return 2 * (_LOOK + _ITERATIONS) * tried * (tried + 1) // 2


def richer(
    objective: LeavesOut, model: Model, n: int, watch: Callable[[Step], bool] | None = None
) -> tuple[Richer | None, list[Step]]:
    """Go on from a model with further terms of the kernel, one after the other; None where none pays.

    Terms begin at the length scales of the first one. Where these are learned one by one theirs are too. A term is
    taken if the evidence grows by more than its parameters bring by chance, and if rows left out agree: with kernels
    that are too rough, or columns that fit by chance, the evidence of labels grows as well.

    Parameters
    ----------
    objective : LeavesOut
    model : Model
        See ``can_be_richer``; its parameters have been learned.
    n : int
        Rows.
    watch : callable, optional
        Told of every evaluation.

    Returns
    -------
    richer : Richer or None
    steps : list of Step
        In terms of the steps of ``model``.
    """
    forms, steps = _forms_of(model), list[Step]()
    best = Richer(Climbed(model, [], Curvature()), np.zeros(model.size, dtype=bool), Form.PLAIN)
    level, loss = value_at(copy(objective), model), None
    while forms:
        trials = sorted((_looked(objective, best, form, level, watch) for form in forms), key=lambda one: -one.worth)
        taken = None
        for trial in trials:
            steps += trial.told()
            if taken is None and trial.promises:
                trial = trial.ended(watch)
                steps += trial.told()
                loss = loss_of(copy(objective), best.climbed.model) if loss is None else loss
                left = loss_of(copy(trial.objective), trial.found.climbed.model) if trial.worth > 0.0 else np.inf
                taken = (trial, left) if n * (loss - left) > _BRINGS else None
        if taken is None:
            break
        trial, loss = taken
        objective, best, level = trial.objective, trial.found, trial.level
        forms = [form for form in forms if form not in best.form]
    return (None if best.form is Form.PLAIN else best), steps


class _Trial(NamedTuple):
    """A model with a further term, on its way."""

    objective: LeavesOut  # with sites of its own
    found: Richer
    level: float  # criterion
    gain: float  # of the criterion, over that without the term
    price: float

    @property
    def worth(self) -> float:
        return self.gain - self.price

    @property
    def promises(self) -> bool:
        return self.gain > _PROMISE * self.price

    def told(self) -> list[Step]:
        """Steps of the last climb, without those of the terms."""
        added, form = self.found.added, int(self.found.form)
        return [step._replace(theta=step.theta[~added], form=form) for step in self.found.climbed.steps]

    def ended(self, watch: Callable[[Step], bool] | None) -> "_Trial":
        """Return it at the end of its way."""
        model, _, curvature = self.found.climbed
        climbed = optimise(self.objective, model, _ITERATIONS, watch, _TOLERANCE, curvature)
        level = max((step.criterion for step in climbed.steps), default=-np.inf)
        return self._replace(
            found=self.found._replace(climbed=climbed), level=level, gain=self.gain + level - self.level
        )


def _looked(
    objective: LeavesOut, best: Richer, form: Form, level: float, watch: Callable[[Step], bool] | None
) -> _Trial:
    """Begin with a further term."""
    before, own = best.climbed.model, copy(objective)
    model, new = before.with_term(_term(before, form), before.tied)
    added = new.copy()
    added[~new] = best.added
    climbed = optimise(own, model, _LOOK, watch, _TOLERANCE)
    reached = max((step.criterion for step in climbed.steps), default=-np.inf)
    price = _PRICE * (model.size - before.size) + _SURE
    return _Trial(own, Richer(climbed, added, best.form | form), reached, reached - level, price)


def _term(model: Model, form: Form) -> Kernel:
    """Return a further term, at the length scales of the first one unless these have grown long."""
    first, begun = (_first(kernel) for kernel in (model.kernel, model.with_theta(model.begun).kernel))
    scale, variance = np.minimum(first.length_scale, _LONGEST * np.asarray(begun.length_scale)), _SHARE * first.variance
    own = scale if np.ndim(scale) else float(scale)
    return Matern(own, variance) if form is Form.MATERN else MainEffects(RBF(own, variance))


def _first(kernel: Kernel) -> RBF:
    return next(term for term in terms_of(kernel) if isinstance(term, RBF))
