"""Kernels by the gradient of the bound, for a given active set."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from .._types import Floats, Inputs, Rows
from ..errors import InfovecError
from ..inference import calibrated, left_out_loss, make_basis
from ..inference.bound import BoundGradient, BoundShard, Optimum, Projection, bound_gradient, maximise_bound, project
from ..kernels import Kernel
from ..likelihoods.classes import MultivariateProbit
from .model import Model

__all__ = ["VariationalBound", "learn_kernels"]

_WIDTH = 3.0  # of the normal prior on each free number, around where it starts
_FARTHEST = 12.0


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
        """Bound plus log prior, and the gradient in the steps of a model with one kernel for all classes."""
        assert isinstance(model.likelihood, MultivariateProbit)
        best, gradient = self.at(model.kernel, model.likelihood)
        prior, prior_gradient = model.log_prior()
        whole = np.concatenate([gradient.kernels[0], gradient.likelihood])
        return best.bound + prior, model.pull(whole) + prior_gradient

    def left_out(self, model: Model) -> tuple[float, float]:
        """Bound plus log prior, and mean log loss of rows left out with the power that suits them best."""
        assert isinstance(model.likelihood, MultivariateProbit)
        kernel, likelihood = model.kernel, model.likelihood
        shard = BoundShard(self.rows, self.X, self.labels, kernel, likelihood, self.dtype, self.group)
        shard.project(make_basis(kernel, self.rows[self.active], self.X[self.active], self.dtype))
        bound = shard.infer(self.tolerance).log_evidence
        return bound + model.log_prior()[0], left_out_loss(calibrated(model.likelihood, [shard]), [shard])

    def at(self, kernels: Kernel | Sequence[Kernel], likelihood: MultivariateProbit) -> tuple[Optimum, BoundGradient]:
        """Largest bound and its gradient."""
        projections = project(
            kernels, likelihood.n_classes, self.X, self.active, self.dtype, likelihood.take(self.rows).weight
        )
        best = maximise_bound(projections, self.labels, likelihood, self._start(projections), self.tolerance)
        if best.converged:
            self._target = best.mean + best.g
        return best, bound_gradient(projections, self.X, likelihood, best)

    def _start(self, projections: Sequence[Projection]) -> Floats | None:
        if self._target is None:
            return None
        z = np.empty((len(self.active), self._target.shape[1]))
        for p in projections:
            z[:, p.classes] = p.R.T @ (p.weight[:, None] * self._target[:, p.classes]).astype(p.R.dtype)  # eq. 4.6
        return z


def learn_kernels(
    bound: VariationalBound,
    kernels: Kernel | Sequence[Kernel],
    likelihood: MultivariateProbit,
    iterations: int = 50,
    tolerance: float = 1e-3,
) -> tuple[Kernel | list[Kernel], float]:
    """Maximise the bound plus a wide normal prior around the start, by L-BFGS-B.

    Returns the kernels, one for all classes or one for each, as they were given, and the bound.
    """
    shared = isinstance(kernels, Kernel)
    first: list[Kernel] = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    start = np.concatenate([kernel.theta for kernel in first])
    edges = np.cumsum([0, *(kernel.theta.size for kernel in first)])
    limits = np.clip(
        np.concatenate([kernel.bounds for kernel in first]), start[:, None] - _FARTHEST, start[:, None] + _FARTHEST
    )
    met: list[tuple[float, float, Floats]] = []

    def at(theta: Floats) -> list[Kernel]:
        parts = zip(first, edges[:-1], edges[1:], strict=True)
        return [kernel.with_theta(theta[a:b]) for kernel, a, b in parts]

    def minus(theta: Floats) -> tuple[float, Floats]:
        moved = (theta - start) / _WIDTH
        try:
            made = at(theta)
            best, gradient = bound.at(made[0] if shared else made, likelihood)
        except (InfovecError, np.linalg.LinAlgError):
            return 1e3 + 2.0 * max((abs(v) for v, _, _ in met), default=0.0), np.zeros(theta.size)
        value = best.bound - 0.5 * float(moved @ moved)
        met.append((value, best.bound, theta.copy()))
        return -value, -np.concatenate(gradient.kernels) + moved / _WIDTH

    minimize(
        minus, start, jac=True, method="L-BFGS-B", bounds=limits,
        options={"maxiter": iterations, "maxfun": 2 * iterations, "gtol": tolerance, "ftol": 1e-2 * tolerance},
    )  # fmt: skip
    if not met:
        return first[0] if shared else first, -np.inf
    _, value, theta = max(met, key=lambda entry: entry[0])
    made = at(theta)
    return made[0] if shared else made, value
