"""How well rows are predicted that were left out."""

from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from .._types import Floats
from ..errors import InfovecError
from .model import Model

__all__ = ["LeavesGroupsOut", "LeavesOut", "loss_of"]


class LeavesOut(Protocol):
    """An objective that knows how well rows left out are predicted."""

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion, and its gradient in the steps of the model."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Return the criterion, and the mean log loss of rows left out."""


class LeavesGroupsOut(LeavesOut, Protocol):
    """An objective that leaves out groups of rows."""

    def one_by_one(self) -> AbstractContextManager[None]:
        """Leave out single rows for a while."""


def loss_of(objective: LeavesOut, model: Model) -> float:
    """Mean log loss of rows left out; infinite where there is no posterior."""
    try:
        return objective.left_out(model)[1]
    except (InfovecError, np.linalg.LinAlgError):
        return np.inf
