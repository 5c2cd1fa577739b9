"""What learning leaves behind."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..learning import Step

__all__ = ["Learned"]

M = TypeVar("M")


class Learned(NamedTuple, Generic[M]):
    """A machine with learned parameters, and how they were found."""

    machine: M
    steps: list[Step]
    level: float = -np.inf  # criterion of these parameters, to compare with that of another run
    apart: bool = False  # whether columns have got length scales of their own
