"""A fit, from a machine to what is kept of it: learn, select, infer."""

import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from ..learning import Learning, Step
from ..runtime import Deadline, Interruption, give_back
from ..selection import Chooser, Patience, Progress, StopReason
from .in_time import in_time
from .learn import learn
from .machine import Machine
from .result import Result
from .run import Run

__all__ = ["Course", "Ended", "begin", "go_on"]

_log = logging.getLogger("infovec")
_SOON, _SOON_SHARE = 1.0, 0.2  # seconds, and share of those that learning took, for a model after an interruption
_AT_LEAST = 0.1  # of the time, to select and infer in if nothing is left of it
_LEARNING_SHARE = 0.5  # of the time, so that there is some left to fit the model in


class Course(NamedTuple):
    """Until when a fit may go on, and who is told of it."""

    deadline: Deadline
    seconds: float  # from the start to the deadline
    tell: Callable[[Progress], bool] | None


class Ended(NamedTuple):
    """What a fit came to."""

    machine: Machine  # with the parameters that were learned
    selector: Chooser  # to go on from
    result: Result
    stop: StopReason
    wanted: int
    steps: list[Step]
    learning_seconds: float
    learning_interrupted: bool
    cut_short: bool  # interrupted, or with fewer rows than there are: it is not what was asked for


def begin(machine: Machine, course: Course, learning: Learning | None, tied: bool) -> Ended:
    """Learn, select and infer; an interruption between them counts too.

    Parameters
    ----------
    machine : Machine
    course : Course
    learning : Learning, optional
        None leaves the parameters as they are.
    tied : bool
        Whether length scales of columns move together.
    """
    start, n, deadline = time.perf_counter(), machine.data.n, course.deadline
    steps, learned, cut, short = list[Step](), 0.0, False, False
    with Interruption() as interruption:
        machine = in_time(machine, deadline, 1.0 if learning is None else 1.0 - _LEARNING_SHARE)
        if learning is not None:
            most = _LEARNING_SHARE * deadline.left
            machine, steps = _learn(machine, course, most, learning, tied)
            learned = time.perf_counter() - start
            machine, short = in_time(machine, deadline), learned > most
        if _log.isEnabledFor(logging.INFO):
            _log.info("plan: %s", machine.plan())
        cut = learning is not None and interruption.answer()
        selector = machine.selector()
        selector.include(machine.work.initial)
        run = _run(selector, course, learned)
        cut = cut or (learning is not None and interruption.answer())
        if cut:
            run.hurry()
        stop, result = machine.finish(run, machine.work.wanted, machine.patience)
    fewer = machine.data.n < n
    if (fewer or short) and stop not in (StopReason.CALLBACK, StopReason.INTERRUPTED):
        stop = StopReason.TIME
    _log.info("actual: %d rows in %.3g s", selector.size, time.perf_counter() - start)
    stop = StopReason.INTERRUPTED if interruption.noted else stop
    wanted, noted = machine.work.wanted, interruption.noted
    return Ended(machine, selector, result, stop, wanted, steps, learned, cut, noted or fewer)


def go_on(machine: Machine, selector: Chooser, wanted: int, patience: Patience | None, course: Course) -> Ended:
    """Include more rows, from where a selector stopped."""
    wanted = min(wanted, selector.n_rows)
    selector.enlarge(wanted, machine.within_limit(wanted, machine.work.itemsize).index.max_entries)
    with Interruption() as interruption:
        stop, result = machine.finish(_run(selector, course, 0.0), wanted, patience)
    stop = StopReason.INTERRUPTED if interruption.noted else stop
    return Ended(machine, selector, result, stop, wanted, [], 0.0, False, interruption.noted)


def _run(selector: Chooser, course: Course, learned: float) -> Run:
    left = max(course.deadline.left, _AT_LEAST * course.seconds)  # a model without active rows is none
    return Run(selector, course.tell, left, max(_SOON, _SOON_SHARE * learned))


def _learn(
    machine: Machine, course: Course, max_seconds: float, learning: Learning, tied: bool
) -> tuple[Machine, list[Step]]:
    """Find parameters by the evidence."""
    start = time.perf_counter()

    def watch(step: Step) -> bool:
        seconds = time.perf_counter() - start
        progress = Progress(0, machine.work.wanted, 0.0, seconds, None, step.criterion)
        return course.tell is not None and course.tell(progress)

    learned = learn(machine, tied, max_seconds, watch, learning)
    give_back()
    return learned.machine, learned.steps
