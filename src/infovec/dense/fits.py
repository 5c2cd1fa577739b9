"""All rows active: the posterior of a given kernel by each way of inference, on the pieces of the sparse machines."""

from typing import NamedTuple, TypeAlias, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import infer, infer_coupled, make_basis
from ..inference.bound import as_race, maximise_bound, project
from ..kernels import Kernel
from ..likelihoods import Discrete, Likelihood
from ..likelihoods import Logit as LogitOfOne
from ..likelihoods.classes import ClassLikelihood, Softmax
from ..numerics.cholesky import beyond_identity, solve_lower
from ..posterior import (
    AuxiliaryPosterior,
    ClassPosterior,
    FactorisedPosterior,
    ModePosterior,
    Posterior,
    ProjectedPosterior,
    SeparateAuxiliaryPosterior,
)
from ..shards import HERE
from .laplace_fit import LaplaceFit, Noise, laplace
from .noises import Logit, Probit

__all__ = [
    "DenseFit",
    "Kernels",
    "auxiliary",
    "fit_bound",
    "fit_ep",
    "fit_laplace",
    "mode_of",
    "of_all",
    "one_function",
    "signs",
]

Kernels: TypeAlias = Kernel | tuple[Kernel, ...]
"""One kernel of all classes, or one for each."""

_BOUND_TOLERANCE, _SITE_TOLERANCE = 1e-6, 1e-4
_LEAST = 1e-12  # curvature of a row, whose site would have no mean without


class DenseFit(NamedTuple):
    """What a way of inference comes to."""

    posterior: Posterior
    log_evidence: float
    converged: bool = True


def signs(labels: Rows) -> Floats:
    """Labels 0 and 1 as the targets -1 and 1 of one function."""
    return 2.0 * labels - 1.0


def of_all(kernels: Kernels, X: Inputs) -> Floats:
    """Covariances of the rows: one matrix, or one for each class."""
    if isinstance(kernels, Kernel):
        return np.asarray(kernels(kernels.in_double(X)), dtype=np.float64)
    return np.stack([of_all(kernel, X) for kernel in kernels])


def auxiliary(kernels: Kernels, X: Inputs, force: Floats) -> AuxiliaryPosterior:
    """The posterior of one kernel, or of one for each class."""
    if isinstance(kernels, Kernel):
        return AuxiliaryPosterior(kernels, X, force)
    return SeparateAuxiliaryPosterior(kernels[0], X, force, kernels)


def fit_bound(X: Inputs, labels: Rows, kernel: Kernels, likelihood: Discrete | ClassLikelihood) -> DenseFit:
    r"""Maximise the variational bound with all rows active (GR06 4.4).

    At the maximum :math:`(I + K)^{-1} \tilde y = \tilde y - m`, which are the weights of predictions.
    """
    race = as_race(cast(Likelihood, likelihood))
    projections = project(kernel, race.n_classes, X, np.arange(len(labels)))
    best = maximise_bound(projections, labels, race, tolerance=_BOUND_TOLERANCE)
    return DenseFit(auxiliary(kernel, X, best.g[None]), best.bound, best.converged)


def fit_ep(X: Inputs, labels: Rows, kernel: Kernels, likelihood: Discrete | ClassLikelihood) -> DenseFit:
    """Run expectation propagation with all rows active, coupled where there are more than two classes."""
    assert isinstance(kernel, Kernel)  # coupled classes have one
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


def mode_of(
    K: Floats, labels: Rows, likelihood: Discrete | ClassLikelihood, start: Floats | None = None
) -> tuple[LaplaceFit, Noise, Floats]:
    r"""Find the mode for a kernel matrix; return the noise and the matrix that it was found with as well.

    Two classes have one function f of kernel K. Of a race of two, :math:`f = f_1 - f_0` for the logit, with K / 2 for
    each, and :math:`f = (f_1 - f_0) / \sqrt 2` for the probit, with K.
    """
    two = not isinstance(likelihood, ClassLikelihood)
    logit = isinstance(likelihood, Softmax | LogitOfOne)
    noise: Noise = Logit() if logit else Probit()
    K = 0.5 * K if two and logit else K
    return laplace(noise, K, labels, 2 if isinstance(likelihood, Discrete) else likelihood.n_classes, start), noise, K


def fit_laplace(X: Inputs, labels: Rows, kernel: Kernels, likelihood: Discrete | ClassLikelihood) -> DenseFit:
    r"""Approximate the posterior by a normal one at its mode (GR06 4.2).

    With two classes it has a site of precision w, minus the second derivative of log P, at f + g / w for every row.
    """
    K = of_all(kernel, X)
    found, _, _ = mode_of(K, labels, likelihood)
    kernels = () if isinstance(kernel, Kernel) else kernel
    kernel = kernel if isinstance(kernel, Kernel) else kernel[0]
    if isinstance(likelihood, ClassLikelihood):
        inner = found.inner
        E = np.empty((0, len(labels), len(labels))) if inner.E is None else inner.E
        posterior = ModePosterior(kernel, X, found.weights, E, inner.G, inner.sign, kernels)
        return DenseFit(posterior, found.log_evidence)
    f = K @ one_function(found.weights, likelihood)
    _, g, w = likelihood.tilted(signs(labels), f, np.zeros(len(f)))
    w = np.maximum(w, _LEAST)
    root, site = np.sqrt(w), f + g / w
    L = beyond_identity(root[:, None] * K * root)
    beta = solve_lower(L, root * site)
    return DenseFit(FactorisedPosterior(kernel, X, w, site, L, beta), found.log_evidence)


def one_function(weights: Floats, likelihood: Discrete) -> Floats:
    """Weights of the one function of two classes, from those of a race of two; see ``mode_of``."""
    difference = weights[..., 1] - weights[..., 0]
    return 0.5 * difference if isinstance(likelihood, LogitOfOne) else difference / np.sqrt(2.0)
