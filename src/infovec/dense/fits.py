"""All rows active: the posterior of a given kernel by each way of inference, on the pieces of the sparse machines."""

from typing import Any, NamedTuple, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import infer, infer_coupled, make_basis
from ..inference.bound import as_race, maximise_bound, project
from ..kernels import Kernel
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..posterior import AuxiliaryPosterior, ClassPosterior, Posterior, ProjectedPosterior
from ..shards import HERE

__all__ = ["DenseFit", "fit_bound", "fit_ep", "signs"]

_BOUND_TOLERANCE, _SITE_TOLERANCE = 1e-6, 1e-4


class DenseFit(NamedTuple):
    """What a way of inference comes to."""

    posterior: Posterior
    log_evidence: float
    converged: bool
    evidence_error: float = 0.0  # standard error, where it was estimated by draws
    about: dict[str, Any] = {}  # what is to be known of the draws


def signs(labels: Rows) -> Floats:
    """Labels 0 and 1 as the targets -1 and 1 of one function."""
    return 2.0 * labels - 1.0


def fit_bound(X: Inputs, labels: Rows, kernel: Kernel, likelihood: Discrete | ClassLikelihood) -> DenseFit:
    r"""Maximise the variational bound with all rows active (GR06 4.4).

    At the maximum :math:`(I + K)^{-1} \tilde y = \tilde y - m`, which are the weights of predictions.
    """
    race = as_race(cast(Likelihood, likelihood))
    projections = project(kernel, race.n_classes, X, np.arange(len(labels)))
    best = maximise_bound(projections, labels, race, tolerance=_BOUND_TOLERANCE)
    return DenseFit(AuxiliaryPosterior(kernel, X, best.g[None]), best.bound, best.converged)


def fit_ep(X: Inputs, labels: Rows, kernel: Kernel, likelihood: Discrete | ClassLikelihood) -> DenseFit:
    """Run expectation propagation with all rows active, coupled where there are more than two classes."""
    rows = np.arange(len(labels))
    basis = make_basis(kernel, rows, X, "float64")
    if isinstance(likelihood, ClassLikelihood):
        shard = HERE.to_infer_classes(rows, X, labels, kernel, likelihood, "float64", False)
        shard.project(basis)
        found = infer_coupled([shard], tolerance=_SITE_TOLERANCE)
        return DenseFit(ClassPosterior(kernel, X, basis.L, *found.beliefs), found.log_evidence, found.converged)
    one = HERE.to_infer(rows, X, signs(labels), kernel, likelihood, "float64", False)
    one.project(basis)
    found = infer([one], tolerance=_SITE_TOLERANCE, rescue=True)
    return DenseFit(ProjectedPosterior(kernel, X, basis.L, *found.beliefs), found.log_evidence, found.converged)
