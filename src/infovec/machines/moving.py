"""Active inputs that move: after selection, by the evidence of the rows."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from .._types import Floats, Rows
from ..kernels import Kernel
from ..kernels.moving import movable
from ..kernels.relevances import column_weights
from ..learning import Model, MovedEvidence, MovingModel, Step, optimise
from ..likelihoods import Likelihood
from ..runtime import Late, give_back, own_threads, work_until
from .run import Run

if TYPE_CHECKING:
    from .one_function import ProjectedFunction

__all__ = ["move", "moves"]

F = TypeVar("F", bound="ProjectedFunction")

_ROWS = int(os.environ.get("M_ROWS", 10000))
_ITERATIONS = int(os.environ.get("M_ITER", 100))
_TOLERANCE = float(os.environ.get("M_TOL", 1e-4))
_BLUR = os.environ.get("M_BLUR", "true")
_JOINT = os.environ.get("M_JOINT", "1") == "1"
_UNIT = os.environ.get("M_UNIT", "scale")
_LOG = os.environ.get("M_LOG")

def moves(machine: "ProjectedFunction", d: int) -> bool:
    return bool(machine.choices.move)


def move(machine: F, run: Run) -> tuple[F, Floats | None]:
    """Return the machine with the parameters, and where the active inputs have come to."""
    import time
    active = run.selector.active[: run.selector.size]
    rows = machine.data.sample(_ROWS)
    part = machine.part(rows, len(active), machine.kernel, cast(Likelihood, machine.likelihood))
    blur = {"choice": machine.choices.blur, "true": True, "false": False}[_BLUR]
    given = part.learned_rows(rows)._replace(blur=blur)
    objective = MovedEvidence(given, 1e-3)
    model = Model.begin(machine.kernel, cast(Likelihood, part.likelihood), False, machine.choices.learning)
    start = np.asarray(machine.data.given.inside[active], dtype=np.float64) - part.data.offset(rows)
    unit = _unit(machine.kernel, part.data.X)
    begun = MovingModel.begin(model, start, unit, machine.moves_alone or not _JOINT)
    t0 = time.process_time(); log = []
    lefts=[]
    def watch(step):
        lefts.append(objective.left/len(rows)); log.append((time.process_time()-t0, step.criterion)); return False
    deadline = run.deadline.within(0.5 * run.left)
    with work_until(deadline), own_threads():
        found, steps, _ = optimise(objective, begun, _ITERATIONS, watch, _TOLERANCE)
    if _LOG:
        print('   move: evals %d secs %.1f first %.1f last %.1f dtype %s; drift/unit %.3f; left/n %.4f to %.4f' % (len(log), log[-1][0], log[0][1], log[-1][1], objective.dtype, np.sqrt(np.mean(((found.inputs-start)[:, unit>0]/unit[unit>0])**2)), lefts[0], lefts[-1]), flush=True)
    give_back()
    own = found.model
    learned = machine.with_parameters(own.kernel, machine.likelihood.with_theta(own.likelihood.theta), machine.learned)
    return learned.sufficient(), found.inputs + part.data.offset(rows)


def _unit(kernel: Kernel, X: Floats) -> Floats:
    p = X.shape[1]
    spread = X.std(axis=0, dtype=np.float64)
    weight = column_weights(kernel, p)
    if _UNIT == "std" or weight is None:
        return np.where(movable(kernel, p), spread, 0.0)
    scale = 1.0 / np.sqrt(np.maximum(weight, 1e-300))
    return np.where(movable(kernel, p) & (weight > 0) & (spread > 0), np.minimum(scale, 30 * spread), 0.0)
