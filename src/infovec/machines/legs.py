"""How many evaluations the stages of learning take, usually and at most."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..learning import (
    FEWEST_COLUMNS,
    MOST_BY_GROUPS,
    MOST_FOR_COLUMNS,
    MOST_FOR_FEWER,
    MOST_FOR_SCREENING,
    MOST_FOR_SPARE,
    MOST_TRIALS,
    Model,
    can_be_richer,
    elsewhere,
    has_spare,
    most_for_form,
    most_starts,
    screenable,
    separable,
)
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..shards import FarInputs
from .course import Leg
from .machine import Machine
from .staged import MANY, Stage, Staged

__all__ = ["before_last", "has_forms", "is_separable", "legs_of", "many_parameters", "unguided"]

_UNTOLD = 4  # evaluations that find the magnitude of the length scales
_FIRST, _FIRST_FOR_MANY, _FOR_CLASSES = 14, 80, 12  # evaluations of the first stage
_MORE_ROWS, _SAME_ROWS, _NUMBERS = 4, 2, 6  # of a later one; of numbers there is more to learn than of labels
_FEW_ROWS, _FEW, _FOR_COLUMNS, _FOR_NUMBERS = 1000, 18, 30, 45  # where columns are tried with scales of their own
_FOR_SCREENING = 60  # of few columns, where those of many are looked for
_FOR_FEWER = 150  # where some of them are switched off
_FOR_FORM = 0.25  # of the evaluations that it may take to find further terms of a kernel
_REFINING = 6  # where rows left out have a say
_TIMES_BY_GROUPS = 3  # as many trials, where groups are left out
_NO_GRADIENT = 0.5  # of an evaluation, without its gradient
_SHARP = 1.6  # times the evaluations of one function: a class against the rest is told with more certainty
_ANEW = 2.5  # where every class selects anew, and begins without sites


def legs_of(machine: Machine, model: Model, plan: Sequence[Stage]) -> list[Leg]:
    """Return what the stages of learning mean in evaluations, from the parameters of a model."""
    return [_leg(machine, model, plan, number) for number in range(len(plan))]


def _leg(machine: Machine, model: Model, plan: Sequence[Stage], number: int) -> Leg:
    stage, several, untold = plan[number], machine.n_functions > 1, 1 if number else _UNTOLD
    usual, most = _climbing(machine, model, plan, number)
    refining = number == len(plan) - 1 and (several or unguided(model)) and _refines(machine, stage)
    trials, trial = _REFINING * refining, _ANEW if several else _NO_GRADIENT
    trials_at_most = MOST_TRIALS * refining
    if several and has_forms(machine, model, stage.rows):  # with further terms and without, where some were found
        trials, trials_at_most = trials + round(_FOR_FORM * trials), 2 * trials_at_most
    if machine.data.folds is not None:  # by groups, besides: of one function also the sizes of function and noise
        trials, trials_at_most = _TIMES_BY_GROUPS * trials, MOST_BY_GROUPS * refining
    worth = (untold + usual) * (_SHARP if several else 1.0) + trials * trial
    return Leg(stage.rows, stage.active, usual + trials, most + trials_at_most, untold, worth)


def _climbing(machine: Machine, model: Model, plan: Sequence[Stage], number: int) -> tuple[float, int]:
    """Evaluations with their gradients, usually and at most."""
    stage, several = plan[number], machine.n_functions > 1
    others = len(elsewhere(model, *machine.choices.doubt.elsewhere)) if number == 0 else 0
    starts = most_starts(many_parameters(model) and not several, others) if number == 0 else 1
    starts -= number == 0 and several  # the magnitude of the length scales is chosen before
    most = 2 * starts * stage.iterations
    usual = min((1 + others) * _usual(model, plan, number, several), most)
    if number <= before_last(plan) and machine.choices.doubt.spare and has_spare(model):
        most += MOST_FOR_SPARE
    if number == before_last(plan) and has_forms(machine, model, stage.rows):
        for_form = most_for_form(model)
        usual, most = usual + round(_FOR_FORM * for_form), most + for_form
    if number == before_last(plan) and _is_screenable(machine, model, stage.rows):
        usual, most = usual + _FOR_SCREENING, most + MOST_FOR_SCREENING
    if number == before_last(plan) and _has_enough_rows(machine, model, stage.rows):
        many = machine.data.p > FEWEST_COLUMNS
        usual, most = usual + _for_columns(model, stage.rows), most + MOST_FOR_COLUMNS
        return usual + _FOR_FEWER * many, most + MOST_FOR_FEWER * many
    return usual, most


def _for_columns(model: Model, n: int) -> int:
    """Evaluations of a climb with length scales of their own; exact ones go on to the end, and look again."""
    if isinstance(model.likelihood, Likelihood) and model.likelihood.conjugate:
        return _FOR_NUMBERS
    return _FEW if n < _FEW_ROWS else _FOR_COLUMNS


def _usual(model: Model, plan: Sequence[Stage], number: int, several: bool) -> int:
    """Evaluations of a climb with the length scales as they are."""
    if number and not isinstance(model.likelihood, Discrete | ClassLikelihood):
        return _NUMBERS
    if number:
        return _MORE_ROWS if plan[number].rows > plan[number - 1].rows else _SAME_ROWS
    if several:
        return _FOR_CLASSES
    return _FIRST_FOR_MANY if many_parameters(model) else _FIRST


def _refines(machine: Machine, stage: Stage) -> bool:
    return isinstance(machine, Staged) and machine.refines(stage.rows)


def before_last(plan: Sequence[Stage]) -> int:
    """Return the number of the stage in which columns are tried with length scales of their own."""
    return min(1, max(len(plan) - 2, 0))


def many_parameters(model: Model) -> bool:
    """Whether the kernel has many parameters."""
    return bool(model.of_kernel.sum() >= MANY)


def unguided(model: Model) -> bool:
    """Whether nobody said how length scales are learned."""
    return model.tied and not model.priors and model.limits is None


def has_forms(machine: Machine, model: Model, n: int) -> bool:
    """Whether further terms of the kernel are tried, with so many rows: of dense columns of numbers.

    Not where rows come in groups: sites stay while terms are compared, and say too little of what a group would lose.
    """
    X = machine.data.X
    if machine.data.folds is not None:
        return False
    numbers = isinstance(X, np.ndarray | FarInputs) and X.ndim == 2 and X.dtype != object
    return machine.choices.doubt.forms and numbers and can_be_richer(model, n, machine.data.p)


def is_separable(machine: Machine, model: Model, n: int) -> bool:
    """Whether columns are tried with length scales of their own, all of them or a few, with so many rows."""
    return _has_enough_rows(machine, model, n) or _is_screenable(machine, model, n)


def _has_enough_rows(machine: Machine, model: Model, n: int) -> bool:
    return machine.n_functions == 1 and machine.data.X.ndim == 2 and separable(model, n, machine.data.p)


def _is_screenable(machine: Machine, model: Model, n: int) -> bool:
    X = machine.data.X
    there = isinstance(X, np.ndarray) or sparse.issparse(X)
    return machine.n_functions == 1 and there and X.ndim == 2 and screenable(model, n, machine.data.p)
