"""What is maximised: the evidence of the projected posterior for a given active set, plus the log prior."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import NamedTuple, Self, TypeVar, cast

import numpy as np

from .._types import Floats, Inputs, Message, Rows
from ..errors import NotConverged
from ..inference import (
    LOST,
    SHARPEST_FOR_GRADIENTS,
    Inference,
    LeftOut,
    best_spread,
    calibrated,
    coupled_gradient,
    evidence_gradient,
    infer,
    infer_coupled,
    left_out,
    left_out_by_folds,
    left_out_in_turn,
    left_out_loss,
    left_out_of_classes,
    make_basis,
    through,
    too_sharp,
)
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..shards import HERE, Basis, Beliefs, FarInputs, Group, Places, share, together
from .model import Model

__all__ = ["CoupledEvidence", "LearnedRows", "ProjectedEvidence"]

_MOST_SWEEPS = 50
_EXACT = 1e-3  # tolerance from which on rows at rest are taken to stay there
_ROUGH = 1e-2  # tolerance of the sites where rows are left out
_TELLING = 1000  # rows of groups that tell how well such are predicted
_FAR = 0.5  # share of the evidence

S = TypeVar("S")


class LearnedRows(NamedTuple):
    """Rows that parameters are learned from, and how they are worked with.

    Parameters
    ----------
    rows : array of int
        Numbers of these rows in the training set, ascending.
    X, y : their inputs and targets
    group : array of int, optional
        The same number for rows of equal inputs, which are left out together.
    dtype : {"float32", "float64"}
    blur : bool
    exact : callable, optional
        Returns the inputs in double precision, which is gone on in where single precision is not enough.
    places : Places
        What makes the shards that rows are cut into.
    kept : int, optional
        Numbers of the projections to keep; all of them unless given.
    folds : array of int, optional
        The same number for rows that are left out together, whatever their inputs; None where each is left out alone.
    """

    rows: Rows
    X: Inputs
    y: Floats
    group: Rows | None = None
    dtype: str = "float64"
    blur: bool = True
    exact: Callable[[], Inputs] | None = None
    places: Places = HERE
    kept: int | None = None
    folds: Rows | None = None

    @property
    def far(self) -> bool:
        """Whether they are not in the memory of this process: then these are all rows that there are."""
        return isinstance(self.X, FarInputs)

    def shards(self, made: Callable[..., S], kernel: Kernel, likelihood: Likelihood | ClassLikelihood) -> list[S]:
        """Return the rows as shards, which are made where these are."""
        return [made(*part, kernel, likelihood, self.dtype, self.blur, kept) for *part, kept in self._cut()]

    def _cut(self) -> Iterator[tuple[Rows, Inputs, Floats, int | None]]:
        """Rows, inputs and targets of each shard, and how many numbers of its projections it keeps."""
        n = len(self.y)
        for part in self.places.divided(self.X, self.rows, selecting=False):
            rows, y = self.rows[part], self.y[part]
            near = self.X if len(y) == n or isinstance(self.X, FarInputs) else self.X[part]
            X = near.for_shard(rows) if isinstance(near, FarInputs) else near
            yield rows, X, y, None if self.kept is None else share(self.kept, len(y), n)

    def some(self, at: Rows) -> "LearnedRows":
        """Return some of the rows, which are in memory, by their positions."""
        exact = self.exact
        group, folds = (None if same is None else same[at] for same in (self.group, self.folds))
        return self._replace(
            rows=self.rows[at], X=self.X[at], y=self.y[at], group=group, folds=folds,
            exact=None if exact is None else lambda: exact()[at], kept=None,
        )  # fmt: skip

    def left_out(self, shards: Group, kernel: Kernel, basis: Basis, beliefs: Beliefs) -> Floats:
        """What is known of each row without those that are left out with it, of one function or of every class."""
        if self.folds is None:
            one = beliefs.Q.ndim == 2
            return left_out(shards, beliefs, self.group) if one else left_out_of_classes(shards, self.group)
        look = through(kernel, self.rows, self.X, basis)
        return left_out_by_folds(shards, beliefs, look, self.rows, self.folds)

    def raised(self) -> "LearnedRows":
        """Return the same in double precision."""
        if isinstance(self.X, FarInputs):  # they stay where they are, in twice the memory
            kept = None if self.kept is None else self.kept // 2
            return self._replace(dtype="float64", X=self.X.astype(np.float64), kept=kept)
        if self.X.dtype == object:
            return self._replace(dtype="float64")
        return self._replace(dtype="float64", X=self.exact() if self.exact else self.X.astype(np.float64))


class ProjectedEvidence:
    """Value and gradient at any parameters; inference goes on from the sites of the last evaluation.

    Parameters
    ----------
    given : LearnedRows
    active : array of int
        Positions among these rows.
    tolerance : float
        Of the sites: the evidence is exact to its square, the gradient to itself.
    """

    def __init__(self, given: LearnedRows, active: Rows, tolerance: float = 1e-3) -> None:
        self.given, self.active, self.tolerance = given, active, tolerance
        self._sites: tuple[Floats, Floats] | None = None
        self._there: Group | None = None  # shards of rows that are far, which have their sites themselves

    @property
    def dtype(self) -> str:
        """Precision of the products."""
        return self.given.dtype

    def go_on_from(self, other: "ProjectedEvidence") -> None:
        """Begin with the sites that rows had in another objective; those that are far begin without."""
        if other._sites is None or self.given.far:
            return
        at = np.minimum(np.searchsorted(other.given.rows, self.given.rows), len(other.given.rows) - 1)
        known = other.given.rows[at] == self.given.rows
        precision, b = (np.where(known, part[at].T, 0.0).T for part in other._sites)
        self._sites = precision, b

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        shards, basis, found = self.settle(model.kernel, model.likelihood)
        gradient = np.concatenate(evidence_gradient(shards, basis, model.kernel, model.likelihood, found))
        prior, prior_gradient = model.log_prior()
        return found.log_evidence + prior, model.pull(gradient) + prior_gradient

    def value(self, model: Model) -> float:
        """Log evidence plus log prior."""
        return self.settle(model.kernel, model.likelihood)[2].log_evidence + model.log_prior()[0]

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out with the spread that suits them best."""
        shards, basis, found = self.settle(model.kernel, model.likelihood, _ROUGH)
        known, at = self.without_folds(model.kernel, model.likelihood, shards, basis, found)
        loss = best_spread(model.likelihood.take(self.given.rows[at]), self.given.y[at], known).loss
        return found.log_evidence + model.log_prior()[0], loss

    @property
    def X(self) -> Inputs:
        """Inputs of the rows."""
        return self.given.X

    def of_columns(self, columns: Rows) -> Self:
        """Return the same of some of the columns, which are in memory; inference goes on from the same sites."""
        own, given, exact = copy(self), self.given, self.given.exact
        own.given = given._replace(X=given.X[:, columns], exact=None if exact is None else lambda: exact()[:, columns])
        return own

    def residuals(self, model: Model) -> Floats:
        r"""Return what every row asks of its latent value beyond the posterior mean, :math:`b_i - \pi_i \mu_i`.

        With Gaussian noise it is the residual over the noise variance. A further term of the function, phi, raises the
        evidence by half the square of the sum of these times phi for every unit of its prior variance, less what is
        the same for all phi of one size.
        """
        shards, _, found = self.settle(model.kernel, model.likelihood, _ROUGH)
        parts = shards.map("marginals", found.beliefs, None)
        return np.concatenate([part.b - part.precision * part.mean for part in parts])

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Leave out single rows for a while, where it would be groups."""
        folds, self.given = self.given.folds, self.given._replace(folds=None)
        try:
            yield
        finally:
            self.given = self.given._replace(folds=folds)

    def without_folds(
        self, kernel: Kernel, likelihood: Likelihood, shards: Group, basis: Basis, found: Inference
    ) -> tuple[Floats, Rows]:
        """What is known of rows without those that are left out with them, and of which; other sites settle again."""
        given = self.given
        known = given.left_out(shards, kernel, basis, found.beliefs)
        if given.folds is None or all(traits.conjugate for traits in shards.map("traits")):
            return known, np.arange(len(given.rows))

        def again(rest: Rows, sites: tuple[Floats, Floats]) -> Inference:
            part = given.some(rest)
            others = together(part.shards(part.places.to_infer, kernel, likelihood))
            others.broadcast("project", basis)
            others.broadcast("resume", part.rows, *sites)
            return infer(others, tolerance=_ROUGH, max_sweeps=_MOST_SWEEPS, thorough=False)

        look = through(kernel, given.rows, given.X, basis)
        at = left_out_in_turn(again, shards, known, look, given.rows, given.folds, _TELLING)
        return known[:, at], at

    def _projected(
        self, made: Callable[..., Message], kernel: Kernel, likelihood: Likelihood | ClassLikelihood
    ) -> tuple[Group, Basis]:
        """Return shards with their active set, and the sites of the last evaluation."""
        given = self.given
        basis = self._basis(kernel)
        if self._there is not None:
            self._there.broadcast("renew", kernel, likelihood.theta, basis)
            return self._there, basis
        shards = together(given.shards(made, kernel, likelihood))
        shards.broadcast("project", basis)
        if given.far:
            self._there = shards
        elif self._sites is not None:
            shards.broadcast("resume", given.rows, *self._sites)
        return shards, basis

    def _basis(self, kernel: Kernel) -> Basis:
        """Return the active set."""
        return make_basis(kernel, self.given.rows[self.active], self.given.X[self.active], self.dtype)

    def _keep(self, shards: Group) -> None:
        """Remember the sites."""
        if self._there is not None:
            shards.broadcast("keep")
            return
        precision, b = np.sum(shards.map("latent_sites", self.given.rows), axis=0)
        self._sites = precision, b

    def forget(self) -> None:
        """Let the next evaluation begin without sites."""
        self._sites = None

    def _raise(self) -> None:
        """Go on in double precision."""
        self.release()
        self.given = self.given.raised()

    def release(self) -> None:
        """Give back what shards elsewhere have."""
        if self._there is not None:
            self._there.release()
        self._there = None

    def settle(
        self, kernel: Kernel, likelihood: Likelihood, tolerance: float = 0.0, lost: float = LOST
    ) -> tuple[Group, Basis, Inference]:
        """Run inference from the sites of the last evaluation; raise NotConverged where it leads nowhere."""
        shards, basis = self._projected(self.given.places.to_infer, kernel, likelihood)
        tolerance = max(self.tolerance, tolerance)
        found = infer(shards, tolerance=tolerance, max_sweeps=_MOST_SWEEPS, thorough=tolerance < _EXACT)
        if too_sharp(shards, basis, found.beliefs, self.dtype, SHARPEST_FOR_GRADIENTS):
            self._raise()
            return self.settle(kernel, likelihood, tolerance, lost)
        if not (found.converged or found.sweeps[-1].change <= lost):
            raise NotConverged("the sites do not settle at these parameters")
        if found.converged:
            self._keep(shards)
        return shards, basis, found


class CoupledEvidence(ProjectedEvidence):
    """The same for many classes; ``y`` holds their labels.

    Inference goes on from the sites of the last evaluation that was not far worse than the best.
    """

    _highest = -np.inf

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        shards, basis, found = self._infer(model)
        likelihood = cast(ClassLikelihood, model.likelihood)
        gradient = np.concatenate(coupled_gradient(shards, basis, model.kernel, likelihood, found))
        prior, prior_gradient = model.log_prior()
        return found.log_evidence + prior, model.pull(gradient) + prior_gradient

    def _infer(self, model: Model) -> tuple[Group, Basis, Inference]:
        kernel, likelihood = model.kernel, cast(ClassLikelihood, model.likelihood)
        shards, basis = self._projected(self.given.places.to_infer_classes, kernel, likelihood)
        found = infer_coupled(shards, tolerance=self.tolerance, max_sweeps=_MOST_SWEEPS)
        if too_sharp(shards, basis, found.beliefs, self.dtype, SHARPEST_FOR_GRADIENTS):
            self._raise()
            return self._infer(model)
        self._highest = max(self._highest, found.log_evidence)
        if (
            likelihood.lapse
        ):  # each time from nothing: sites that believed a label lead to others than those that did not
            self.forget()
        elif found.converged and found.log_evidence > self._highest - _FAR * abs(self._highest):
            self._keep(shards)
        return shards, basis, found

    def value(self, model: Model) -> float:
        """Log evidence plus log prior."""
        return self._infer(model)[2].log_evidence + model.log_prior()[0]

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out with the power that suits them best."""
        shards, basis, found = self._infer(model)
        likelihood = cast(ClassLikelihood, model.likelihood)
        weight = likelihood.take(self.given.rows).weight
        known = self.given.left_out(shards, model.kernel, basis, found.beliefs)
        rows = LeftOut(known, self.given.y.astype(np.intp), weight)
        return found.log_evidence + model.log_prior()[0], left_out_loss(calibrated(likelihood, [rows]), [rows])
