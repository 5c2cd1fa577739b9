"""Kernels of the coupled machine of pairs, by its evidence."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..criteria import pair_evidence
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..posterior import PairSites
from ..selection import Schedule, select_pairs
from .model import Model
from .optimise import optimise
from .settings import Learning

__all__ = ["PairObjective", "learn_factorised"]

_TOLERANCE = 1e-8  # minor steps are few, and end when they are all taken


@dataclass(frozen=True, eq=False)
class PairObjective:
    """Value and gradient at any parameters, with the active pairs and their sites fixed.

    Parameters
    ----------
    X, labels
        Training rows.
    sites : one ClassSites for each class
    """

    X: Inputs
    labels: Rows
    sites: PairSites

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        likelihood = cast(ClassLikelihood, model.likelihood)
        found = pair_evidence(self.X, self.labels, model.kernel, likelihood, self.sites)
        prior, by_prior = model.log_prior()
        return found.log_evidence + prior, model.pull(np.concatenate([*found.kernels, found.likelihood])) + by_prior


def learn_factorised(
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: ClassLikelihood,
    n_active: int,
    major: int = 4,
    minor: int = 8,
    priority: Floats | None = None,
    schedule: Schedule | None = None,
) -> tuple[Kernel, float]:
    """Learn a kernel for all classes on the evidence, by the major and minor steps of SLH 3.3.

    A major step selects pairs and their sites; minor steps move the parameters uphill by L-BFGS-B with pairs and sites
    as constants, under a wide normal prior around the start. Returns the kernel of the largest evidence that was met
    right after a selection, and that evidence.
    """
    labels, pairs = np.asarray(labels, dtype=np.intp), n_active * likelihood.n_classes
    model = Model.begin(kernel, cast(Likelihood, likelihood), learning=Learning(fixed=["likelihood.*"]))
    best, best_value = model.kernel, -np.inf
    for step in range(major + 1):
        sites = select_pairs(X, labels, model.kernel, likelihood, pairs, priority=priority, schedule=schedule)
        value = pair_evidence(X, labels, model.kernel, likelihood, sites, gradient=False).log_evidence
        if value > best_value:
            best, best_value = model.kernel, value
        if step < major:
            model = optimise(PairObjective(X, labels, sites), model, minor, tolerance=_TOLERANCE).model
    return best, best_value
