"""What learning tells on its way, and what it leaves behind."""

import time
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..learning import Step
from ..runtime import Deadline, Progress

__all__ = ["Learned", "told"]

M = TypeVar("M")


class Learned(NamedTuple, Generic[M]):
    """A machine with learned parameters, and how they were found."""

    machine: M
    steps: list[Step]
    level: float = -np.inf  # criterion of these parameters, to compare with that of another run


def told(deadline: Deadline, step: Step, wanted: int, start: float) -> bool:
    """Tell of a step of learning, which began at some time; return whether to end."""
    deadline.listener.tell(Progress(0, wanted, 0.0, time.perf_counter() - start, None, step.criterion))
    return deadline.over
