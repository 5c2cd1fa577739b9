"""What is maximised: the evidence of the projected posterior for a given active set, plus the log prior."""

from collections.abc import Callable
from typing import cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..errors import NotConverged
from ..inference import (
    LOST,
    SHARPEST_FOR_GRADIENTS,
    Inference,
    best_spread,
    calibrated,
    coupled_gradient,
    evidence_gradient,
    infer,
    infer_coupled,
    left_out,
    left_out_loss,
    make_basis,
    too_sharp,
)
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..shards import Basis, CoupledShard, ProjectedShard
from .model import Model

__all__ = ["CoupledEvidence", "ProjectedEvidence"]

_MOST_SWEEPS = 50
_FAR = 0.5  # share of the evidence


class ProjectedEvidence:
    """Value and gradient at any parameters; inference goes on from the sites of the last evaluation.

    Parameters
    ----------
    rows : array of int
        Numbers of these rows in the training set, ascending.
    X, y : their inputs and targets
    active : array of int
        Positions among them.
    dtype : {"float32", "float64"}
    blur : bool
    tolerance : float
        Of the sites: the evidence is exact to its square, the gradient to itself.
    group : array of int, optional
        The same number for rows of equal inputs, which are left out together.
    exact : callable, optional
        Returns the inputs in double precision, which is gone on in where single precision is not enough.
    """

    def __init__(
        self,
        rows: Rows,
        X: Inputs,
        y: Floats,
        active: Rows,
        dtype: str,
        blur: bool,
        tolerance: float = 1e-3,
        group: Rows | None = None,
        exact: Callable[[], Inputs] | None = None,
    ) -> None:
        self.rows, self.X, self.y, self.active, self.dtype, self.blur = rows, X, y, active, dtype, blur
        self.tolerance, self.group, self.exact = tolerance, group, exact
        self._sites: tuple[Floats, Floats] | None = None

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        shard, basis, found = self.settle(model.kernel, model.likelihood)
        gradient = np.concatenate(evidence_gradient([shard], basis, model.kernel, model.likelihood, found))
        prior, prior_gradient = model.log_prior()
        return found.log_evidence + prior, model.pull(gradient) + prior_gradient

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out with the spread that suits them best."""
        shard, _, found = self.settle(model.kernel, model.likelihood)
        loss = best_spread(shard.likelihood, self.y, left_out([shard], found.beliefs, self.group)).loss
        return found.log_evidence + model.log_prior()[0], loss

    def settle(self, kernel: Kernel, likelihood: Likelihood) -> tuple[ProjectedShard, Basis, Inference]:
        """Run inference from the sites of the last evaluation; raise NotConverged where it leads nowhere."""
        shard = ProjectedShard(self.rows, self.X, self.y, kernel, likelihood, self.dtype, self.blur)
        basis = make_basis(kernel, self.rows[self.active], self.X[self.active], self.dtype)
        shard.project(basis)
        if self._sites is not None:
            shard.precision[:], shard.b[:] = self._sites
        found = infer([shard], tolerance=self.tolerance, max_sweeps=_MOST_SWEEPS)
        if too_sharp(shard, found.beliefs, SHARPEST_FOR_GRADIENTS):
            self._raise_precision()
            return self.settle(kernel, likelihood)
        if not (found.converged or found.sweeps[-1].change <= LOST):
            raise NotConverged("the sites do not settle at these parameters")
        if found.converged:
            self._sites = shard.precision, shard.b
        return shard, basis, found

    def _raise_precision(self) -> None:
        """Go on in double precision."""
        self.dtype = "float64"
        if self.X.dtype != object:
            self.X = self.exact() if self.exact else self.X.astype(np.float64)


class CoupledEvidence(ProjectedEvidence):
    """The same for many classes; ``y`` holds their labels.

    Inference goes on from the sites of the last evaluation that was not far worse than the best.
    """

    _highest = -np.inf

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        shard, basis, found = self._infer(model)
        likelihood = cast(ClassLikelihood, model.likelihood)
        gradient = np.concatenate(coupled_gradient([shard], basis, model.kernel, likelihood, found))
        prior, prior_gradient = model.log_prior()
        return found.log_evidence + prior, model.pull(gradient) + prior_gradient

    def _infer(self, model: Model) -> tuple[CoupledShard, Basis, Inference]:
        kernel, likelihood = model.kernel, cast(ClassLikelihood, model.likelihood)
        shard = CoupledShard(self.rows, self.X, self.y, kernel, likelihood, self.dtype, self.blur, group=self.group)
        basis = make_basis(kernel, self.rows[self.active], self.X[self.active], self.dtype)
        shard.project(basis)
        if self._sites is not None:
            shard.precision[:], shard.b[:] = self._sites
        found = infer_coupled([shard], tolerance=self.tolerance, max_sweeps=_MOST_SWEEPS)
        if too_sharp(shard, found.beliefs, SHARPEST_FOR_GRADIENTS):
            self._raise_precision()
            return self._infer(model)
        self._highest = max(self._highest, found.log_evidence)
        if found.converged and found.log_evidence > self._highest - _FAR * abs(self._highest):
            self._sites = shard.precision, shard.b
        return shard, basis, found

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out with the power that suits them best."""
        shard, _, found = self._infer(model)
        likelihood = cast(ClassLikelihood, model.likelihood)
        return found.log_evidence + model.log_prior()[0], left_out_loss(calibrated(likelihood, [shard]), [shard])
