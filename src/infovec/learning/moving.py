"""Active inputs that move: parameters like those of the kernel, once it is known where they begin."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats
from ..inference import make_basis, moved_gradient
from ..kernels import Kernel
from ..shards import Basis
from .model import Model
from .objective import LearnedRows, ProjectedEvidence

__all__ = ["MovedEvidence", "MovingModel", "no_rows"]


def no_rows(d: int) -> Floats:
    """Return numbers for d active inputs that are no rows."""
    return -1 - np.arange(d, dtype=np.intp)


@dataclass(frozen=True)
class MovingModel:
    """A model and its active inputs, as one vector of steps.

    Parameters
    ----------
    model : Model
        Kernel and likelihood, and which of their numbers move.
    inputs : array of shape (d, p)
        Where the active inputs are.
    start : array of shape (d, p)
        Where they began.
    unit : array of shape (p,)
        How far one step goes in each column; those of a unit zero stay.
    fixed : bool
        Whether kernel and likelihood stay as they are.
    """

    model: Model
    inputs: Floats
    start: Floats
    unit: Floats
    fixed: bool = False

    @classmethod
    def begin(cls, model: Model, inputs: Floats, unit: Floats, fixed: bool = False) -> Self:
        """Return the model before any step."""
        return cls(model, inputs, inputs, unit, fixed)

    @property
    def _moves(self) -> Floats:
        return np.flatnonzero(self.unit > 0.0)

    @property
    def theta(self) -> Floats:
        """Steps taken so far, those of the model first."""
        at = self._moves
        steps = (self.inputs[:, at] - self.start[:, at]) / self.unit[at]
        return np.concatenate([self._own, steps.ravel()])

    @property
    def _own(self) -> Floats:
        return np.empty(0) if self.fixed else self.model.theta

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step; inputs go where they like."""
        own = np.empty((0, 2)) if self.fixed else self.model.bounds
        free = np.tile([-np.inf, np.inf], (len(self.inputs) * len(self._moves), 1))
        return np.concatenate([own, free])

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""
        q, at = len(self._own), self._moves
        inputs = self.start.copy()
        inputs[:, at] += theta[q:].reshape(len(inputs), len(at)) * self.unit[at]
        model = self.model if self.fixed else self.model.with_theta(theta[:q])
        return replace(self, model=model, inputs=inputs)

    def pull(self, by_model: Floats, by_inputs: Floats) -> Floats:
        """Gradient in the steps from those in all free numbers and in the inputs."""
        own = np.empty(0) if self.fixed else self.model.pull(by_model)
        at = self._moves
        return np.concatenate([own, (by_inputs[:, at] * self.unit[at]).ravel()])


class MovedEvidence(ProjectedEvidence):
    """The evidence where active inputs move.

    Sites must know the variance that the active inputs leave (``blur``): without it these go where they explain the
    noise of the rows.

    Parameters
    ----------
    given : LearnedRows
    tolerance : float
    """

    def __init__(self, given: LearnedRows, tolerance: float = 1e-3) -> None:
        super().__init__(given, np.empty(0, dtype=np.intp), tolerance)
        self._inputs: Floats | None = None
        self.left = np.nan

    def __call__(self, model: MovingModel) -> tuple[float, Floats]:  # type: ignore[override]
        """Criterion plus log prior, and the gradient in the steps of the model."""
        self._inputs, own = model.inputs, model.model
        shards, basis, found = self.settle(own.kernel, own.likelihood)
        moved = moved_gradient(shards, basis, own.kernel, found)
        self.left = moved.left
        gradient = model.pull(np.concatenate([moved.kernel, moved.likelihood]), moved.inputs)
        prior, prior_gradient = own.log_prior()
        if not model.fixed:
            gradient[: len(prior_gradient)] += prior_gradient
        return found.log_evidence + prior, gradient

    def _basis(self, kernel: Kernel) -> Basis:
        assert self._inputs is not None
        return make_basis(kernel, no_rows(len(self._inputs)), self._inputs.astype(self.dtype), self.dtype)
