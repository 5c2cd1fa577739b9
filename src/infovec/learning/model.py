"""The numbers that are learned, as one vector of steps away from where learning begins."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats, Mask, Rows
from ..kernels import Kernel
from ..likelihoods import Likelihood

__all__ = ["Model"]

_WIDTH = 3.0  # of the prior on each step
_FARTHEST = 12.0  # a factor of 160 000 for a parameter that is learned as a logarithm
_REDUNDANT = "slope"  # of a likelihood: the variance of the kernel says the same
_MANY = "length_scale["  # one for each column


@dataclass(frozen=True)
class Model:
    """A kernel and a likelihood, and which of their free numbers move, alone or together, with a normal prior.

    Parameters
    ----------
    kernel, likelihood
    start : array of shape (q,)
        Free numbers of both where learning begins, which is the mean of the prior.
    group : array of int, shape (q,)
        Numbers of one group move by the same step; -1 does not move.
    """

    kernel: Kernel
    likelihood: Likelihood
    start: Floats
    group: Rows

    @classmethod
    def begin(cls, kernel: Kernel, likelihood: Likelihood, tied: bool = False) -> Self:
        """Everything moves but what another parameter says already; ``tied`` length scales move together."""
        names = [*kernel.parameter_names, *likelihood.parameter_names]
        keys = [
            _MANY if tied and _MANY in name else "" if _last(name) == _REDUNDANT else f"{i}"
            for i, name in enumerate(names)
        ]
        order = {key: k for k, key in enumerate(dict.fromkeys(key for key in keys if key))}
        group = np.array([order.get(key, -1) for key in keys], dtype=np.intp)
        return cls(kernel, likelihood, np.concatenate([kernel.theta, likelihood.theta]), group)

    @property
    def scales(self) -> Mask:
        """Which of the steps are those of length scales."""
        names = [*self.kernel.parameter_names, *self.likelihood.parameter_names]
        moving = [g for g, name in zip(self.group, names, strict=True) if "length_scale" in name and g >= 0]
        return np.isin(np.arange(self.size), moving)

    @property
    def size(self) -> int:
        """How many steps there are."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def theta(self) -> Floats:
        """Steps taken so far, in which the criterion is optimised."""
        moved = np.concatenate([self.kernel.theta, self.likelihood.theta]) - self.start
        return self.pull(moved) / np.maximum(np.bincount(self.group[self.group >= 0], minlength=self.size), 1)

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step."""
        own = np.concatenate([self.kernel.bounds, self.likelihood.bounds]) - self.start[:, None]
        bounds = np.tile([-_FARTHEST, _FARTHEST], (self.size, 1))
        for g in range(self.size):
            of = own[self.group == g]
            bounds[g] = max(-_FARTHEST, of[:, 0].max()), min(_FARTHEST, of[:, 1].min())
        return bounds

    def pull(self, gradient: Floats) -> Floats:
        """Gradient in the steps from the gradient in all free numbers."""
        moves = self.group >= 0
        return np.bincount(self.group[moves], weights=gradient[moves], minlength=self.size)

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""
        whole = self.start + np.append(theta, 0.0)[self.group]
        q = self.kernel.theta.size
        return replace(self, kernel=self.kernel.with_theta(whole[:q]), likelihood=self.likelihood.with_theta(whole[q:]))

    def log_prior(self) -> tuple[float, Floats]:
        """Log density of the prior, up to a constant, and its gradient in the steps."""
        z = self.theta / _WIDTH
        return -0.5 * float(z @ z), -z / _WIDTH


def _last(name: str) -> str:
    """The name of a parameter without the parts it is in."""
    return name.rpartition(".")[2]
