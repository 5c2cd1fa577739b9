"""A fit, from a machine to what is kept of it: learn, select, infer."""

import logging
import time
from typing import NamedTuple

import numpy as np

from ..learning import Learning, Step
from ..runtime import Callback, Deadline, Interruption, Listener, StopReason, give_back
from ..selection import Chooser, Patience
from ..shards import noted
from .checkpoint import Checkpoint
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

    end: float  # by time.perf_counter
    seconds: float  # from the start to there
    callback: Callback | None = None

    @classmethod
    def of(cls, seconds: float, callback: Callback | None) -> "Course":
        """Return one that begins now."""
        return cls(time.perf_counter() + seconds, seconds, callback)

    def half(self) -> "Course":
        """Return one that ends when half of the time is over; the rest is for what comes after."""
        return (
            self if self.seconds == np.inf else Course(self.end - 0.5 * self.seconds, 0.5 * self.seconds, self.callback)
        )

    def run_on(self) -> "Course":
        """Return one that begins now and ends as long after the end of this as that was after its beginning."""
        return Course.of(max(self.end + self.seconds - time.perf_counter(), _AT_LEAST * self.seconds), self.callback)

    def run(self, selector: Chooser, listener: Listener, learned: float = 0.0) -> Run:
        """Return the rest of it, after so many seconds of learning."""
        left = max(self.end - time.perf_counter(), _AT_LEAST * self.seconds)  # a model without active rows is none
        return Run(selector, Deadline.after(left, listener), max(_SOON, _SOON_SHARE * learned))


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
    share: float = 1.0  # of all observations, that the evidence is of
    learned_less: bool = False  # than it would have with more time


def begin(
    machine: Machine, course: Course, learning: Learning | None, tied: bool, checkpoint: Checkpoint | None = None
) -> Ended:
    """Learn, select and infer; an interruption between them counts too.

    Parameters
    ----------
    machine : Machine
    course : Course
    learning : Learning, optional
        None leaves the parameters as they are.
    tied : bool
        Whether length scales of columns move together.
    checkpoint : Checkpoint, optional
        Takes note of it, and remembers what it has noted before.
    """
    start, whole, steps, learned, cut, short = time.perf_counter(), machine.data, list[Step](), 0.0, False, False
    with Interruption() as interruption:
        listener = Listener(interruption, course.callback)
        deadline = Deadline(course.end, listener)
        machine = in_time(machine, deadline, 1.0 if learning is None else 1.0 - _LEARNING_SHARE)
        if learning is not None:
            most = deadline.within(_LEARNING_SHARE * deadline.seconds)
            machine, steps = _learned(machine, tied, most, learning, checkpoint)
            give_back()
            cut = listener.answer() is StopReason.INTERRUPTED
            learned, short = time.perf_counter() - start, most.seconds == 0.0
            machine = in_time(machine, deadline)
        if _log.isEnabledFor(logging.INFO):
            _log.info("plan: %s", machine.plan())
        with noted(checkpoint):
            selector = machine.selector()
            selector.include(machine.work.initial, deadline)
            run = course.run(selector, listener, learned)
            cut = cut or (learning is not None and listener.answer() is StopReason.INTERRUPTED)
            if cut:
                run.hurry()
            stop, result = machine.finish(run, machine.work.wanted, machine.patience)
    fewer = machine.data.n < whole.n
    if (fewer or short) and stop not in (StopReason.CALLBACK, StopReason.INTERRUPTED):
        stop = StopReason.TIME
    _log.info("actual: %d rows in %.3g s", selector.size, time.perf_counter() - start)
    interrupted = interruption.noted
    stop, wanted = StopReason.INTERRUPTED if interrupted else stop, machine.work.wanted
    share = machine.data.given.observations / whole.given.observations
    return Ended(machine, selector, result, stop, wanted, steps, learned, cut, interrupted or fewer, share, short)


def _learned(
    machine: Machine, tied: bool, deadline: Deadline, learning: Learning, checkpoint: Checkpoint | None
) -> tuple[Machine, list[Step]]:
    """Learn, unless it was done before."""
    known = None if checkpoint is None else checkpoint.learned(machine)
    if known is not None:
        return known
    machine, steps, *_ = learn(machine, tied, deadline, learning)
    if checkpoint is not None:
        checkpoint.note_learned(machine, steps)
    return machine, steps


def go_on(machine: Machine, selector: Chooser, wanted: int, patience: Patience | None, course: Course) -> Ended:
    """Include more rows, from where a selector stopped."""
    wanted = min(wanted, selector.n_rows)
    selector.enlarge(wanted, machine.within_limit(wanted, machine.work.itemsize).index.max_entries)
    with Interruption() as interruption:
        run = course.run(selector, Listener(interruption, course.callback))
        stop, result = machine.finish(run, wanted, patience)
    stop = StopReason.INTERRUPTED if interruption.noted else stop
    return Ended(machine, selector, result, stop, wanted, [], 0.0, False, interruption.noted)
