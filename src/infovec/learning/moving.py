"""Active inputs that move: parameters like those of the kernel, once it is known where they begin."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats, Rows
from ..inference import make_basis, moved_gradient
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..shards import Basis
from .model import Model
from .objective import LearnedRows, ProjectedEvidence

__all__ = ["MovedEvidence", "MovingInputs", "MovingModel", "no_rows"]


def no_rows(d: int) -> Rows:
    """Return numbers for d active inputs that are no rows."""
    return -1 - np.arange(d, dtype=np.intp)


@dataclass(frozen=True)
class MovingInputs:
    """Active inputs, as one vector of steps.

    Parameters
    ----------
    inputs : array of shape (d, p)
        Where they are.
    start : array of shape (d, p)
        Where they began.
    unit : array of shape (p,)
        How far one step goes in each column; those of a unit zero stay.
    """

    inputs: Floats
    start: Floats
    unit: Floats

    @classmethod
    def begin(cls, start: Floats, unit: Floats) -> Self:
        """Return the inputs before any step."""
        return cls(start, start, unit)

    @property
    def _moving(self) -> Rows:
        return np.flatnonzero(self.unit > 0.0)

    @property
    def theta(self) -> Floats:
        """Steps taken so far."""
        at = self._moving
        return np.ravel((self.inputs[:, at] - self.start[:, at]) / self.unit[at])

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step: inputs go where they like."""
        return np.tile([-np.inf, np.inf], (len(self.inputs) * len(self._moving), 1))

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""
        at, inputs = self._moving, self.start.copy()
        inputs[:, at] += theta.reshape(len(inputs), len(at)) * self.unit[at]
        return replace(self, inputs=inputs)

    def pull(self, gradient: Floats) -> Floats:
        """Gradient in the steps from that in the inputs."""
        at = self._moving
        return np.ravel(gradient[:, at] * self.unit[at])


@dataclass(frozen=True)
class MovingModel:
    """A kernel and a likelihood with their active inputs, whose steps come after those of the parameters.

    Parameters
    ----------
    kernel : Kernel
    likelihood : Likelihood
    inputs : MovingInputs
    model : Model, optional
        How the parameters move; None leaves them as they are.
    """

    kernel: Kernel
    likelihood: Likelihood
    inputs: MovingInputs
    model: Model | None = None

    @property
    def _own(self) -> int:
        return 0 if self.model is None else self.model.size

    @property
    def theta(self) -> Floats:
        """Steps taken so far."""
        own = np.empty(0) if self.model is None else self.model.theta
        return np.concatenate([own, self.inputs.theta])

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step."""
        own = np.empty((0, 2)) if self.model is None else self.model.bounds
        return np.concatenate([own, self.inputs.bounds])

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""
        moved = replace(self, inputs=self.inputs.with_theta(theta[self._own :]))
        if self.model is None:
            return moved
        model = self.model.with_theta(theta[: self._own])
        return replace(moved, model=model, kernel=model.kernel, likelihood=model.likelihood)

    def pull(self, by_parameters: Floats, by_inputs: Floats) -> Floats:
        """Gradient in the steps from those in all free numbers and in the inputs."""
        own = np.empty(0) if self.model is None else self.model.pull(by_parameters)
        return np.concatenate([own, self.inputs.pull(by_inputs)])

    def log_prior(self) -> tuple[float, Floats]:
        """Log density of the prior of the parameters, and its gradient in the steps; the inputs have none."""
        value, gradient = (0.0, np.empty(0)) if self.model is None else self.model.log_prior()
        return value, np.concatenate([gradient, np.zeros(self.inputs.theta.size)])


class MovedEvidence(ProjectedEvidence):
    """The evidence where active inputs move.

    Sites must know the variance that the active inputs leave (``blur``): without it these go where they explain the
    noise of the rows.

    Parameters
    ----------
    given : LearnedRows
    start : array of shape (d, p)
        Where the active inputs begin.
    tolerance : float
        As for ProjectedEvidence.

    Attributes
    ----------
    left : float
        Of the last evaluation: nats that the rows tell, and the active inputs do not take up.
    """

    def __init__(self, given: LearnedRows, start: Floats, tolerance: float = 1e-3) -> None:
        super().__init__(given, np.empty(0, dtype=np.intp), tolerance)
        self._inputs, self.left = start, np.nan

    def __call__(self, model: MovingModel) -> tuple[float, Floats]:  # type: ignore[override]
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        self.place(model.inputs.inputs)
        shards, basis, found = self.settle(model.kernel, model.likelihood)
        moved = moved_gradient(shards, basis, model.kernel, found)
        self.left = moved.left
        gradient = model.pull(np.concatenate([moved.kernel, moved.likelihood]), moved.inputs)
        prior, prior_gradient = model.log_prior()
        return found.log_evidence + prior, gradient + prior_gradient

    def place(self, inputs: Floats) -> None:
        """Let the active inputs be there."""
        self._inputs = inputs

    def _basis(self, kernel: Kernel) -> Basis:
        return make_basis(kernel, no_rows(len(self._inputs)), self._inputs.astype(self.dtype), self.dtype)
