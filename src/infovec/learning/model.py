"""The parameters that are learned, as one vector: those of the kernel, then those of the likelihood."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats, Mask
from ..kernels import Kernel
from ..likelihoods import Likelihood

__all__ = ["Model"]

_WIDTH = 3.0  # of the prior on each free number, around where it starts
_REDUNDANT = ("slope",)  # the variance of the kernel says the same
_FARTHEST = 12.0  # from the start, a factor of 160 000 for a number that is learned as a logarithm


@dataclass(frozen=True)
class Model:
    """A kernel and a likelihood with a normal prior on their free numbers.

    Parameters
    ----------
    kernel, likelihood
    start : array
        Mean of the prior: where learning began.
    free : array of bool
        Which of the numbers are learned.
    """

    kernel: Kernel
    likelihood: Likelihood
    start: Floats
    free: Mask

    @classmethod
    def begin(cls, kernel: Kernel, likelihood: Likelihood) -> Self:
        """Everything is free but what another parameter says already."""
        names = [*kernel.parameter_names, *likelihood.parameter_names]
        fixed = [name in _REDUNDANT for name in names]
        return cls(kernel, likelihood, np.concatenate([kernel.theta, likelihood.theta]), ~np.array(fixed, dtype=bool))

    @property
    def theta(self) -> Floats:
        """The numbers that are learned."""
        return np.concatenate([self.kernel.theta, self.likelihood.theta])[self.free]

    @property
    def bounds(self) -> Floats:
        """Lower and upper bounds of the numbers that are learned."""
        own = np.concatenate([self.kernel.bounds, self.likelihood.bounds])[self.free]
        start = self.start[self.free, None] + _FARTHEST * np.array([-1.0, 1.0])
        return np.stack([np.maximum(own[:, 0], start[:, 0]), np.minimum(own[:, 1], start[:, 1])], axis=1)

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy with other values of what is learned."""
        whole = np.concatenate([self.kernel.theta, self.likelihood.theta])
        whole[self.free] = theta
        q = self.kernel.theta.size
        return replace(self, kernel=self.kernel.with_theta(whole[:q]), likelihood=self.likelihood.with_theta(whole[q:]))

    def log_prior(self) -> tuple[float, Floats]:
        """Log density of the prior, up to a constant, and its gradient in what is learned."""
        z = (self.theta - self.start[self.free]) / _WIDTH
        return -0.5 * float(z @ z), -z / _WIDTH
