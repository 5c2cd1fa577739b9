"""Kernels by the gradient of the bound, for a given active set."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..inference import calibrated, left_out_loss, make_basis
from ..inference.bound import (
    BoundGradient,
    BoundShard,
    Optimum,
    Projection,
    Race,
    as_race,
    bound_gradient,
    maximise_bound,
    project,
)
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import MultivariateProbit
from ..numerics.parameters import Parametrised
from .class_kernels import ClassKernels
from .model import Model
from .optimise import optimise
from .settings import Learning

__all__ = ["VariationalBound", "learn_kernels"]


class VariationalBound:
    """Bound and gradient at any kernels; the means go on from the auxiliary variables of the last evaluation.

    Parameters
    ----------
    X, labels
        Training rows.
    active : array of int
        Positions among them.
    dtype : {"float32", "float64"}
    tolerance : float
        Of the means, in units of the posterior: the bound is exact to its square, the gradient to itself.
    rows : array of int, optional
        Numbers of these rows among those that the likelihood has weights for; all of them if None.
    group : array of int, optional
        The same number for rows of equal inputs, which are left out together.
    """

    def __init__(
        self,
        X: Inputs,
        labels: Rows,
        active: Rows,
        dtype: str = "float64",
        tolerance: float = 1e-4,
        rows: Rows | None = None,
        group: Rows | None = None,
    ) -> None:
        self.X, self.labels, self.active, self.dtype, self.tolerance = X, labels, active, dtype, tolerance
        self.rows, self.group = np.arange(len(labels)) if rows is None else rows, group
        self._target: Floats | None = None

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Bound plus log prior, and the gradient in the steps of a model with one kernel, or one for each class."""
        best, gradient = self.at(_kernels(model), as_race(model.likelihood))
        prior, prior_gradient = model.log_prior()
        still = np.zeros(model.likelihood.theta.size - gradient.likelihood.size)  # the slope of a probit
        whole = np.concatenate([*gradient.kernels, gradient.likelihood, still])
        return best.bound + prior, model.pull(whole) + prior_gradient

    def go_on_from(self, other: "VariationalBound") -> None:
        """Begin anew: targets of other rows say nothing."""

    def release(self) -> None:
        """Give back nothing: all rows are here."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Bound plus log prior, and mean log loss of rows left out with the power that suits them best."""
        assert isinstance(model.likelihood, MultivariateProbit)
        kernel, likelihood = model.kernel, model.likelihood
        shard = BoundShard(self.rows, self.X, self.labels, kernel, likelihood, self.dtype, self.group)
        shard.project(make_basis(kernel, self.rows[self.active], self.X[self.active], self.dtype))
        bound = shard.infer(self.tolerance).log_evidence
        return bound + model.log_prior()[0], left_out_loss(calibrated(model.likelihood, [shard]), [shard])

    def at(self, kernels: Kernel | Sequence[Kernel], likelihood: Race) -> tuple[Optimum, BoundGradient]:
        """Largest bound and its gradient."""
        projections = project(
            kernels, likelihood.n_classes, self.X, self.active, self.dtype, likelihood.take(self.rows).weight
        )
        best = maximise_bound(projections, self.labels, likelihood, self._start(projections), self.tolerance)
        if best.converged:
            self._target = best.mean + best.g
        return best, bound_gradient(projections, self.X, best)

    def _start(self, projections: Sequence[Projection]) -> Floats | None:
        if self._target is None:
            return None
        z = np.empty((len(self.active), self._target.shape[1]))
        for p in projections:
            z[:, p.classes] = p.transposed_times(p.weight[:, None] * self._target[:, p.classes])  # eq. 4.6
        return z


def learn_kernels(
    bound: VariationalBound,
    kernels: Kernel | Sequence[Kernel],
    likelihood: MultivariateProbit,
    iterations: int = 50,
    tolerance: float = 3e-5,
) -> tuple[Kernel | list[Kernel], float]:
    """Maximise the bound plus a wide normal prior around the start, by L-BFGS-B.

    Returns the kernels, one for all classes or one for each, as they were given, and the bound.
    """
    start = kernels if isinstance(kernels, Kernel) else cast(Kernel, ClassKernels(tuple(kernels)))
    fixed = Learning(fixed=["likelihood.*"])
    model, steps, _ = optimise(
        bound, Model.begin(start, cast(Likelihood, likelihood), learning=fixed), iterations, tolerance=tolerance
    )
    found = _kernels(model)
    value = max((step.criterion for step in steps), default=-np.inf) - model.log_prior()[0]
    return found if isinstance(found, Kernel) else list(found), value


def _kernels(model: Model) -> Kernel | tuple[Kernel, ...]:
    """One kernel for all classes, or one for each."""
    kernel: Parametrised = model.kernel
    return kernel.kernels if isinstance(kernel, ClassKernels) else model.kernel
