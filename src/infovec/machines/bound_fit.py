"""The multinomial probit of GR06, from training rows to a posterior, for given kernels."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from .._types import Inputs, Rows
from ..errors import ParameterError
from ..inference.bound import classes_by_kernel, maximise_bound, project
from ..kernels import Kernel
from ..likelihoods.classes import MultivariateProbit
from ..posterior import FactorisedPosterior, Posterior, ProjectedPosterior, VariationalPosterior
from ..selection import Choosing, Included, select

__all__ = ["fit_variational", "fit_variational_rows"]


def fit_variational(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    n_active: int,
    *,
    likelihood: MultivariateProbit | None = None,
    active: Rows | None = None,
    tolerance: float = 1e-5,
    **choosing: Unpack[Choosing[str]],
) -> VariationalPosterior:
    """Fit the multinomial probit model of GR06 with given kernels.

    Parameters
    ----------
    X : inputs of shape (n, p), in the given precision
    labels : array of int, shape (n,)
        0 to C - 1.
    kernels : Kernel or C of them
        One for all classes, or one for each.
    n_active : int
        With all rows this is the variational posterior of GR06 section 4.
    likelihood : MultivariateProbit, optional
        Without biases, and as many classes as there are labels, if None.
    active : array of int, optional
        Rows to make active, in place of selection.
    tolerance : float
        Of the means, in units of the posterior.
    **choosing
        How rows are selected, and the precision of products over all rows; see ``select``.
    """
    labels = np.asarray(labels, dtype=np.intp)
    likelihood = _of_right_labels(likelihood, labels)
    if active is None and n_active >= len(labels):
        active = np.arange(len(labels))
    if active is None:
        active = select(X, labels, kernels, likelihood, n_active, **choosing).rows
    return _projected(X, labels, kernels, likelihood, active, choosing.get("dtype", "float64"), tolerance)


def fit_variational_rows(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    n_active: int,
    *,
    likelihood: MultivariateProbit | None = None,
    **choosing: Unpack[Choosing[str]],
) -> VariationalPosterior:
    """Fit the informative vector machine of GR06 section 5: the active rows alone have a say, each as it came in.

    Parameters
    ----------
    X, labels, kernels, n_active, likelihood, **choosing
        As for ``fit_variational``.
    """
    labels = np.asarray(labels, dtype=np.intp)
    likelihood = _of_right_labels(likelihood, labels)
    found = select(X, labels, kernels, likelihood, n_active, **choosing)
    return _factorised(X, labels, kernels, likelihood, found)


def _of_right_labels(likelihood: MultivariateProbit | None, labels: Rows) -> MultivariateProbit:
    """Return the likelihood that was given, or one without biases; refuse what the bound does not know."""
    if likelihood is not None and likelihood.lapse:
        raise ParameterError("the variational bound takes labels as right; give it MultivariateProbit without lapse")
    return MultivariateProbit(np.zeros(int(labels.max()) + 1)) if likelihood is None else likelihood


def _projected(
    X: Inputs,
    labels: Rows,
    kernels: Kernel | Sequence[Kernel],
    likelihood: MultivariateProbit,
    active: Rows,
    dtype: str,
    tolerance: float,
) -> VariationalPosterior:
    projections = project(kernels, likelihood.n_classes, X, active, dtype, likelihood.weight)
    best = maximise_bound(projections, labels, likelihood, tolerance=tolerance)
    X_active = projections[0].kernel.in_double(X[active])
    parts: list[Posterior] = [
        ProjectedPosterior(p.kernel, X_active, p.basis.L, p.Q, best.z[:, c]) for p in projections for c in p.classes
    ]  # beta = Q^-1 V^T y is z at the maximum
    return VariationalPosterior(tuple(parts), likelihood, active, best.bound, len(projections) == 1, best.converged)


def _factorised(
    X: Inputs, labels: Rows, kernels: Kernel | Sequence[Kernel], likelihood: MultivariateProbit, found: Included
) -> VariationalPosterior:
    once = likelihood.for_new_rows()
    precision = np.ones(len(found.rows)) if likelihood.weight is None else likelihood.weight[found.rows]
    groups = classes_by_kernel(kernels, likelihood.n_classes)
    X_active = groups[0][0].in_double(X[found.rows])
    parts: list[Posterior] = [
        FactorisedPosterior(kernel, X_active, precision, found.target[:, c], L, found.beta[:, c])
        for (kernel, classes), L in zip(groups, found.L, strict=True)
        for c in classes
    ]
    mean = found.mean[found.rows]
    log_z = once.tilted(labels[found.rows], mean, np.zeros_like(mean)).log_z
    # m' C^-1 m with C^-1 m = w (target - m)
    quadratic = float(precision @ np.sum(mean * (found.target - mean), axis=1))
    log_dets = sum(
        2.0 * len(classes) * float(np.log(np.diagonal(L)).sum())
        for (_, classes), L in zip(groups, found.L, strict=True)
    )
    bound = float(precision @ log_z) - 0.5 * (quadratic + log_dets)
    return VariationalPosterior(tuple(parts), likelihood, found.rows, bound, len(groups) == 1)
