"""What is maximised for the factorised posterior: one of its criteria plus the log prior, with I and J fixed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from .._types import Floats
from ..criteria import Criterion, Given, active_set_criterion, ep_criterion, partition_criterion, variational_criterion
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..selection import sites_in_order
from .model import Model

__all__ = ["FACTORISED", "FactorisedObjective", "Plan"]

CriterionFunction: TypeAlias = Callable[[Given, Kernel, Likelihood], Criterion]


class Plan(NamedTuple):
    """How parameters are learned by a criterion."""

    level: CriterionFunction  # comparable between active sets, by which the best parameters are told
    phases: tuple[tuple[CriterionFunction, str], ...]  # maximised one after the other, and which parameters move


FACTORISED: Mapping[str, Plan] = {
    "ep": Plan(ep_criterion, ((ep_criterion, "all"),)),
    # LSH05 algorithm 2; the density of the sites' means says nothing where the sites differ
    "active_set": Plan(
        partition_criterion, ((active_set_criterion, "kernel"), (partition_criterion, "likelihood"))
    ),
    "variational": Plan(variational_criterion, ((variational_criterion, "all"),)),
}  # fmt: skip


@dataclass(frozen=True)
class FactorisedObjective:
    """Value and gradient at any parameters.

    Parameters
    ----------
    given : Given
        Active rows, their sites, and the rows outside.
    criterion : callable
    moves : {"all", "kernel", "likelihood"}
        Which parameters have a gradient, and so move.
    """

    given: Given
    criterion: CriterionFunction
    moves: str = "all"

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion plus log prior, and the gradient in the steps of the model."""
        found = self.criterion(self.given, model.kernel, model.likelihood)
        prior, by_prior = model.log_prior()
        gradient = model.pull(np.concatenate([found.by_kernel, found.by_likelihood])) + by_prior
        if self.moves != "all":
            gradient = np.where(model.of_kernel == (self.moves == "kernel"), gradient, 0.0)
        return found.value + prior, gradient

    def with_sites_of(self, model: Model) -> Self:
        """Return the same with the sites that the active rows get, in their order, at these parameters."""
        given = self.given
        likelihood = model.likelihood.take(given.active)
        sites = sites_in_order(model.kernel, given.X_active, given.y_active, likelihood)
        return replace(self, given=given.with_sites(*sites))
