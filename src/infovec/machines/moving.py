"""Active inputs that move after selection, up the evidence of rows, where that pays."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import ParameterError
from ..inference import best_spread
from ..kernels import Kernel
from ..kernels.moving import movable
from ..kernels.relevances import column_weights
from ..learning import Model, MovedEvidence, MovingInputs, MovingModel, Step, optimise
from ..likelihoods import Discrete, Likelihood, Weighted
from ..posterior import ProjectedPosterior
from ..runtime import Late, Progress, give_back, own_threads, work_until
from ..shards import FarInputs, noted
from .budget import learning_sizes
from .data import whole_folds
from .run import Moved, Run
from .staged import Staged

__all__ = ["check_moving", "move", "moving_unit"]

_log = logging.getLogger("infovec")

F = TypeVar("F", bound=Staged)

_ROWS = 10_000  # at most that inputs move by
_HELD, _MOST_HELD, _FEWEST_HELD = 0.1, 1000, 50  # share of the rows that tell whether moving was good; how many
_WORK = 1e11  # evaluations times rows times squared active inputs,
_FEWEST, _MOST = 10, 150  # for which there is time; evaluations whatever they take
_TOLERANCE, _SITES = 1e-4, 1e-3  # of the criterion, and of the sites
_SHARE = 0.5  # of the time that is left
_FEW = 0.2  # share of the rows that are active, from which on there is little to gain for the time it takes
_LEFT = 0.02  # nats a row that the active inputs must leave for moving to pay
_SURE, _SURER = 1.0, 2.0  # standard errors: what losses must have fallen by, and squared errors may have grown
_FARTHEST = 30.0  # spreads of a column that a step goes at most


def check_moving(X: Inputs, kernel: Kernel, possible: bool) -> None:
    """Raise unless active inputs can move, as was asked for."""
    if not possible:
        raise ParameterError(
            "move=True is for approximation='projected' with one function, or multi_class='ovr', and not for images of "
            "rows or rows without label; leave move='auto', which moves active inputs only where that is possible"
        )
    if not _can_move(X, kernel):
        raise ParameterError(
            "move=True: there is no column that active inputs could move in. They move in dense columns of numbers "
            "that the kernel has a gradient in; leave move='auto'"
        )


def moving_unit(inputs: Inputs, kernel: Kernel) -> Floats | None:
    """How far a step of active inputs goes in each column, by the length scale there; None where nothing moves."""
    if not isinstance(inputs, np.ndarray) or inputs.ndim != 2 or not kernel.numeric:
        return None
    p = inputs.shape[1]
    spread, weight = inputs.std(axis=0), column_weights(kernel, p)
    scale = spread if weight is None else 1.0 / np.sqrt(np.maximum(weight, 1e-300))
    unit = np.where(movable(kernel, p), np.minimum(scale, _FARTHEST * spread), 0.0)
    return unit if np.any(unit > 0.0) else None


def _can_move(X: Inputs, kernel: Kernel) -> bool:
    """Whether there is a column that active inputs can move in."""
    dense = isinstance(X, np.ndarray | FarInputs) and X.ndim == 2
    return dense and kernel.numeric and bool(movable(kernel, X.shape[1]).any())


def move(machine: F, run: Run) -> tuple[F, Moved | None]:
    """Return the machine with the parameters, and where the active inputs have come to.

    They move together with the parameters, unless these belong to other functions too, by some of the rows; others
    tell whether that was good. Where it was not, everything is as before.
    """
    active = run.selector.active[: run.selector.size]
    asked = machine.choices.moving.asked
    if asked is False or not (machine.can_move and _can_move(machine.data.X, machine.kernel) and len(active)):
        return machine, None
    start = np.asarray(machine.data.given.inside[active], dtype=np.float64)
    unit = moving_unit(start, machine.kernel)
    if unit is None:
        return machine, None
    rows, held = _parts(machine, active)
    few = len(active) <= _FEW * len(rows) and len(held) >= _FEWEST_HELD and machine.choices.moving.learning is not None
    if asked is None and not few:
        return machine, None
    found: tuple[F, Moved] | None = None
    sizes = machine.sizes(len(active), machine.work.itemsize)
    size, room = learning_sizes(machine.work.limit, sizes, len(rows), len(active))
    if room < len(active):
        return machine, None
    rows = np.sort(rows[np.argsort(-machine.data.priority[rows], kind="stable")[:size]])
    with noted(None), suppress(Late), work_until(run.deadline.within(_SHARE * run.left)), own_threads():
        found = _Search(machine, MovingInputs.begin(start, unit), rows, run).run(held)
    give_back()
    return (machine, None) if found is None else found


def _parts(machine: Staged, active: Rows) -> tuple[Rows, Rows]:
    """Rows that inputs move by, and rows that tell whether it was good: none of those that were active.

    These were chosen since they were far from what was expected; inputs that have left them always look worse there.
    """
    free = np.flatnonzero(~machine.data.held_back)
    line = free[np.argsort(-machine.data.priority[free], kind="stable")]
    others, enough = line[~np.isin(line, active)], min(int(_HELD * len(line)), _MOST_HELD)
    if machine.data.folds is not None:
        out = whole_folds(line[::-1], enough, machine.data.folds)
        return np.sort(line[~np.isin(line, out)][:_ROWS]), np.setdiff1d(out, active)
    held = others[len(others) - min(enough, len(others)) :]
    return np.sort(line[~np.isin(line, held)][:_ROWS]), np.sort(held)


class _Search(Generic[F]):
    """Active inputs on their way."""

    def __init__(self, machine: F, inputs: MovingInputs, rows: Rows, run: Run) -> None:
        self.machine, self.run_, self.start = machine, run, time.perf_counter()
        d = len(inputs.inputs)
        part = machine.part(rows, d, machine.kernel, machine.likelihood)
        self.offset = offset = part.data.offset(rows)
        given = part.learned_rows(rows)
        exact = cast(Callable[[], Inputs], given.exact)
        given = given._replace(blur=True, exact=lambda: exact() - offset)  # inputs that move are not read anew
        here = MovingInputs.begin(inputs.inputs - offset, inputs.unit)
        self.objective = MovedEvidence(given, here.inputs, _SITES)
        likelihood = cast(Likelihood, machine.likelihood)
        model = (
            None
            if machine.moves_alone or machine.choices.moving.learning is None
            else Model.begin(machine.kernel, likelihood, False, machine.choices.moving.learning)
        )
        self.model = MovingModel(machine.kernel, likelihood, here, model)
        self.criterion, self.left, self.size = list[float](), list[float](), len(rows)
        self.most = int(np.clip(_WORK / (len(rows) * d**2), _FEWEST, _MOST))

    def watch(self, step: Step) -> bool:
        """Tell of an evaluation; return whether to end."""
        run, n = self.run_, len(self.criterion) + 1
        self.criterion.append(step.criterion)
        self.left.append(self.objective.left)
        seconds, size = time.perf_counter() - self.start, run.selector.size
        run.listener.tell(Progress(size, size, 0.0, seconds, None, step.criterion, 1, 1, n, self.most))
        pays = self.machine.choices.moving.asked is True or self.left[0] > _LEFT * self.size
        return run.listener.reason is not None or not pays or n == self.most

    def run(self, held: Rows) -> tuple[F, Moved] | None:
        before = self.model
        found, _, _ = optimise(self.objective, before, self.most, self.watch, _TOLERANCE)
        if len(self.criterion) < 2:
            return None
        told = np.full((2, 2, 1), np.nan)
        if len(held):
            with suppress(Late):  # then nothing is known of it
                told = np.array([self.losses(model, held) for model in (before, found)])
        loss = told[:, 0].mean(axis=1)
        criterion = np.array(self.criterion)
        _log.info(
            "moving: %d evaluations in %.3g s, %.3g nats a row left before, loss of rows left out from %.4g to %.4g",
            len(criterion), time.perf_counter() - self.start, self.left[0] / self.size, *loss,
        )  # fmt: skip
        if self.machine.choices.moving.asked is not True and not _better(told[1] - told[0]):
            return self.machine, Moved(None, criterion, loss)
        learned = self.machine.with_parameters(found.kernel, found.likelihood, self.machine.learned).sufficient()
        return learned, Moved(found.inputs.inputs + self.offset, criterion, loss)

    def losses(self, model: MovingModel, held: Rows) -> Floats:
        """Loss of every row left out, and its squared error, of labels none; a row of more weight has more of both."""
        data = self.machine.data
        self.objective.place(model.inputs.inputs)
        _, basis, found = self.objective.settle(model.kernel, model.likelihood)
        posterior = ProjectedPosterior(model.kernel, model.inputs.inputs, basis.L, *found.beliefs)
        known = np.stack(posterior.predict(np.asarray(data.given.inside[held], dtype=np.float64) - self.offset))
        likelihood, y = model.likelihood.take(held), data.y[held]
        weight = likelihood.weight / np.mean(likelihood.weight) if isinstance(likelihood, Weighted) else 1.0
        own = likelihood.likelihood if isinstance(likelihood, Weighted) else likelihood
        if not isinstance(own, Discrete):
            return weight * np.stack([-own.log_predictive(y, *known), (y - own.predict(*known)[0]) ** 2])
        own = own.with_spread(best_spread(likelihood, y, known).share)
        return weight * np.stack([-own.log_predictive(y, *known), np.zeros(len(y))])


def _better(change: Floats) -> bool:
    """Whether losses have surely fallen, and squared errors have not surely grown, by how each row's have changed."""
    error = np.std(change, axis=1) / np.sqrt(change.shape[1])
    (loss, square), (by, beside) = change.mean(axis=1), error
    return bool(loss < -_SURE * by and square <= _SURER * beside)
