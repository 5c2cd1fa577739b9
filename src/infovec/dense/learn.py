"""Kernels for dense models: by the gradient of a criterion, on all rows or as many as there is time for."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from .._types import Floats, Inputs, Mask, Rows
from ..errors import NotPositiveDefinite
from ..kernels import Kernel
from ..learning import (
    FEWEST_COLUMNS,
    ClassKernels,
    Climbed,
    CoupledEvidence,
    Curvature,
    LearnedRows,
    Learning,
    Model,
    ProjectedEvidence,
    Step,
    VariationalBound,
    alike,
    best_of_starts,
    elsewhere,
    optimise,
    second_look,
    separable,
    separate,
    starts,
    value_at,
)
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from .fits import Kernels, mode_of, of_all, signs
from .laplace_fit import laplace_adjoint

__all__ = [
    "ONLY_KERNELS",
    "DenseBound",
    "LaplaceCriterion",
    "Learned",
    "MakeCriterion",
    "bound_criterion",
    "climb",
    "columns_in_turn",
    "ep_criterion",
]

_STAGES = ((300, 40), (1000, 25))  # rows at most, and iterations
_NEAR, _FAR = 0.7, 30.0  # length scales of columns that count and of others, in standard deviations of theirs
_LOOKED = 600  # rows up to which length scales that have grown get a second look; with more they are seldom wrong
_MOST_COLUMNS = 50  # that are tried one after the other
_BOUND_TOLERANCE, _SITE_TOLERANCE = 1e-3, 1e-2  # the criterion is exact to their squares

ONLY_KERNELS = Learning(fixed=["likelihood.*"])
"""What is learned: the likelihood stays as it is."""


class Criterion(Protocol):
    """What is maximised."""

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion plus log prior, and the gradient in the steps of the model."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Criterion plus log prior, and the mean log loss of rows left out."""


MakeCriterion: TypeAlias = Callable[[Inputs, Rows, Discrete | ClassLikelihood], Criterion]


class Learned(NamedTuple):
    """A kernel, or one for each class, and the way there."""

    kernel: Kernels
    steps: list[Step]


def bound_criterion(X: Inputs, labels: Rows, likelihood: Discrete | ClassLikelihood) -> Criterion:
    """The variational bound."""
    return DenseBound(X, labels, np.arange(len(labels)), tolerance=_BOUND_TOLERANCE)


def ep_criterion(X: Inputs, labels: Rows, likelihood: Discrete | ClassLikelihood) -> Criterion:
    """The evidence of expectation propagation."""
    rows = np.arange(len(labels))
    told = isinstance(X, np.ndarray) and X.dtype != object  # whether equal rows are easily told
    group = np.unique(X, axis=0, return_inverse=True)[1].ravel() if told else None
    if isinstance(likelihood, ClassLikelihood):
        return CoupledEvidence(LearnedRows(rows, X, labels, group, blur=False), rows, _SITE_TOLERANCE)
    return ProjectedEvidence(LearnedRows(rows, X, signs(labels), group, blur=False), rows, _SITE_TOLERANCE)


def _loss(X: Inputs, labels: Rows, model: Model) -> float:
    """Mean log loss of rows left out, by expectation propagation with the same kernel, which knows its cavities."""
    likelihood = cast(Discrete | ClassLikelihood, model.likelihood)
    return ep_criterion(X, labels, likelihood).left_out(model)[1]


class DenseBound(VariationalBound):
    """The bound with all rows active."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Bound plus log prior, and mean log loss of rows left out."""
        return self(model)[0], _loss(self.X, self.labels, model)


class LaplaceCriterion:
    """Evidence of Laplace's approximation and its gradient; modes go on from that of the last evaluation."""

    def __init__(self, X: Inputs, labels: Rows, likelihood: Discrete | ClassLikelihood) -> None:
        self.X, self.labels, self._start = X, labels, cast(Floats | None, None)

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Log evidence plus log prior, and the gradient in the steps of the model."""
        kernels = _kernels(model)
        likelihood = cast(Discrete | ClassLikelihood, model.likelihood)
        K = of_all(kernels, self.X)
        found, noise, matrix = mode_of(K, self.labels, likelihood, self._start)
        self._start = found.weights
        share = 1.0 if matrix is K else 0.5
        adjoint = share * laplace_adjoint(noise, found, matrix, self.labels)
        each = [(kernels, adjoint)] if isinstance(kernels, Kernel) else list(zip(kernels, adjoint, strict=True))
        gradient = np.concatenate([kernel.vjp(kernel.in_double(self.X), None, G) for kernel, G in each])
        prior, prior_gradient = model.log_prior()
        whole = np.concatenate([gradient, np.zeros(model.likelihood.theta.size)])  # which stays as it is
        return found.log_evidence + prior, model.pull(whole) + prior_gradient

    def left_out(self, model: Model) -> tuple[float, float]:
        """Log evidence plus log prior, and mean log loss of rows left out."""
        return self(model)[0], _loss(self.X, self.labels, model)


def columns_in_turn(objective: Criterion, model: Model, X: Inputs) -> tuple[Model, float] | None:
    """Return a start at which those columns alone count that explain something, and the criterion there.

    Columns are ordered by what each explains alone, and taken up in turn while the criterion rises. Where few of many
    columns matter, and these together, no start at which all of them count the same need lead there.
    """
    p = int(model.scales.sum())
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and 2 <= X.shape[1] == p <= _MOST_COLUMNS):
        return None
    begun = model.start[np.isin(model.group, np.flatnonzero(model.scales))]
    if len(begun) != p:
        return None
    spread = np.log(np.maximum(X.std(axis=0), 1e-12)) - begun
    low, high = model.bounds[model.scales].T
    near, far = (np.clip(spread + np.log(factor), low, high) for factor in (_NEAR, _FAR))

    def at(counts: Mask) -> Model:
        theta = model.theta.copy()
        theta[model.scales] = np.where(counts, near, far)
        return model.with_theta(theta)

    def value(counts: Mask) -> float:
        try:
            return objective(at(counts))[0]
        except NotPositiveDefinite:
            return -np.inf

    chosen = np.zeros(p, dtype=bool)
    best, alone = value(chosen), np.array([value(own) for own in np.eye(p, dtype=bool)])
    for j in np.argsort(-alone):
        tried = chosen | (np.arange(p) == j)
        found = value(tried)
        if found > best:
            best, chosen = found, tried
    return at(chosen), best


def climb(
    criterion: MakeCriterion,
    X: Inputs,
    labels: Rows,
    kernel: Kernels,
    likelihood: Discrete | ClassLikelihood,
    order: Rows,
    *,
    tied: bool = False,
    watch: Callable[[Step], bool] | None = None,
    suited: Sequence[Kernel] = (),
) -> Learned:
    """Maximise a criterion over the parameters of the kernel: on some hundred rows first, then on up to a thousand.

    Parameters
    ----------
    criterion : callable
        From some rows and a likelihood to what is maximised.
    X, labels
        Training rows.
    kernel : Kernel or tuple of Kernel
        To start from; of several, one for each class, there is no other start.
    likelihood : Discrete or ClassLikelihood
        It stays as it is.
    order : array of int
        All rows, shuffled: the first of them are learned on.
    tied : bool
        Whether length scales of columns move together, unless the criterion asks for a length scale for each.
    watch : callable, optional
        Told of every evaluation; a true answer ends it.
    suited : sequence of Kernel
        Of the form of the one kernel, at which it begins as well.
    """
    start = kernel if isinstance(kernel, Kernel) else cast(Kernel, ClassKernels(kernel))
    given, steps = Model.begin(start, cast(Likelihood, likelihood), tied, ONLY_KERNELS), list[Step]()
    model, curvature, before, tried = given, Curvature(), 1, False
    for number, (most, iterations) in enumerate(_STAGES):
        if number and len(order) <= _STAGES[number - 1][0]:
            break
        rows = np.sort(order[:most])
        objective = criterion(X[rows], labels[rows], likelihood)
        if number == 0 and isinstance(kernel, Kernel):
            found = _begin(objective, model, X[rows], iterations, watch, suited)
        else:
            found = optimise(objective, model, iterations, watch, curvature=curvature.times(len(rows) / before))
        model, before = found.model, len(rows)
        steps += found.steps
        if not tried and X.ndim == 2 and separable(model, len(rows), X.shape[1]):
            tried, level = True, max((step.criterion for step in found.steps), default=-np.inf)
            share = len(rows) / min(len(order), _STAGES[-1][0])
            apart, more = separate(objective, model, X.shape[1], len(rows), level, share, watch)
            steps += more
            if apart is not None:
                model, _, curvature = apart
        looks = len(rows) == len(order) <= _LOOKED and X.shape[1] <= FEWEST_COLUMNS  # of more they were switched off
        if looks and model.size > given.size:
            again = optimise(objective, second_look(model), iterations, watch)
            steps += again.steps
            model = max((model, again.model), key=lambda one: value_at(objective, one))
    kept = model.size > given.size
    return Learned(_kernels(model), alike(steps, given, kept) if tied and X.ndim == 2 else steps)


def _begin(
    objective: Criterion,
    given: Model,
    X: Inputs,
    iterations: int,
    watch: Callable[[Step], bool] | None,
    suited: Sequence[Kernel],
) -> Climbed[Model]:
    """Maximise from several starts."""
    many = int(np.sum(given.scales)) > 1
    begun = starts(objective, given, many, elsewhere(given, suited))
    found = best_of_starts(objective, begun, iterations, watch, again=many)
    reached = max((step.criterion for step in found.steps), default=-np.inf)
    other = columns_in_turn(objective, given, X) if many else None
    if other is None or other[1] <= reached:
        return found
    further = optimise(objective, other[0], iterations, watch)
    return further._replace(steps=[*found.steps, *further.steps])


def _kernels(model: Model) -> Kernels:
    """One kernel of all classes, or one for each."""
    kernel: object = model.kernel
    return kernel.kernels if isinstance(kernel, ClassKernels) else model.kernel
