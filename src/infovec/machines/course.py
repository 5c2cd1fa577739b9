"""How far learning is: the legs of its way, and the seconds that are probably left."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..learning import Step
from ..runtime import Deadline, Progress

__all__ = ["ONLY", "Course", "Leg", "Turn"]

_EACH = 300  # active rows from which on products take most of the time of an evaluation


class Leg(NamedTuple):
    """A selection and the evaluations of the criterion that follow it, all of the same size."""

    rows: int
    active: int
    usual: float  # evaluations
    most: int
    untold: float = 0.0  # evaluations before, of which nobody is told; a selection takes about as long as one
    worth: float = 0.0  # evaluations of one function, with their gradients, that take as long as all that

    @property
    def size(self) -> float:
        """Seconds of an evaluation, but for a factor that is that of all legs."""
        return float(self.rows * self.active * (self.active + _EACH))

    def left(self, step: int) -> float:
        """Evaluations that usually follow the given one; there may always be some."""
        return self.usual * float(np.exp(-step / self.usual)) if self.usual else 0.0


class Turn(NamedTuple):
    """Which of several searches one is, that follow each other: for another class, or from another start."""

    number: int = 0
    of: int = 1

    def part(self, number: int, of: int) -> "Turn":
        """Return one of the searches that this one is made of."""
        return Turn(self.number * of + number, self.of * of)

    @property
    def after(self) -> int:
        """How many follow."""
        return self.of - 1 - self.number


ONLY = Turn()


class Course:
    """The way of one search.

    Parameters
    ----------
    legs : sequence of Leg
    wanted : int
        Active rows in the end.
    deadline : Deadline
        Who is told.
    turn : Turn
    """

    def __init__(self, legs: Sequence[Leg], wanted: int, deadline: Deadline, turn: Turn = ONLY) -> None:
        self.legs, self.wanted, self.deadline, self.turn = legs, wanted, deadline, turn
        self.start, self.allowed = time.perf_counter(), deadline.seconds
        self.at, self.step, self.done = 0, 0, 0.0

    def begin(self, leg: int) -> None:
        """Go on to another leg, by its number."""
        self.at, self.step = leg, 0
        self.done += self.legs[leg].untold * self.legs[leg].size

    def tell(self, step: Step) -> bool:
        """Tell of an evaluation; return whether to end."""
        leg, seconds = self.legs[self.at], time.perf_counter() - self.start
        self.step += 1
        self.done += leg.size
        stage, stages = self.turn.number * len(self.legs) + self.at + 1, self.turn.of * len(self.legs)
        self.deadline.listener.tell(
            Progress(
                0, self.wanted, 0.0, seconds, None, float(step.criterion), stage, stages, self.step,
                max(leg.most, self.step), self._left(seconds / self.done),
            )
        )  # fmt: skip
        return self.deadline.over

    def _left(self, rate: float) -> float:
        """Seconds left, at so many for an evaluation of size one."""
        leg, later = self.legs[self.at], self.legs[self.at + 1 :]
        here = leg.left(self.step) * leg.size + _work(later)
        return min(rate * here, self.deadline.seconds) + self.turn.after * min(rate * _work(self.legs), self.allowed)


def _work(legs: Sequence[Leg]) -> float:
    return sum((leg.untold + leg.usual) * leg.size for leg in legs)
