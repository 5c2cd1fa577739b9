"""Kernels for dense models: by the gradient of a criterion, on all rows or as many as there is time for."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

import numpy as np

from .._types import Floats, Inputs, Rows
from ..kernels import Kernel
from ..learning import CoupledEvidence, LearnedRows, Learning, Model, ProjectedEvidence, Step, VariationalBound
from ..learning import find_scale, optimise, refine_scales
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from .fits import signs

__all__ = ["CRITERIA", "Learned", "climb"]

_STAGES = ((300, 40), (1000, 25))  # rows at most, and iterations
_BOUND_TOLERANCE, _SITE_TOLERANCE = 1e-3, 1e-2  # the criterion is exact to their squares
_SHORTER = 1.4  # factor between length scales that are tried by rows left out
_TELLING = 50  # rows at least for that


class Criterion(Protocol):
    """What is maximised, and how well rows left out are predicted."""

    def __call__(self, model: Model) -> tuple[float, Floats]:
        """Criterion plus log prior, and the gradient in the steps of the model."""

    def left_out(self, model: Model) -> tuple[float, float]:
        """Criterion plus log prior, and mean log loss of rows left out."""


Maker = Callable[[Inputs, Rows, Discrete | ClassLikelihood], Criterion]


class Learned(NamedTuple):
    """A kernel, and the way to it."""

    kernel: Kernel
    steps: list[Step]


def _bound(X: Inputs, labels: Rows, likelihood: Discrete | ClassLikelihood) -> Criterion:
    return VariationalBound(X, labels, np.arange(len(labels)), tolerance=_BOUND_TOLERANCE)


def _ep(X: Inputs, labels: Rows, likelihood: Discrete | ClassLikelihood) -> Criterion:
    rows = np.arange(len(labels))
    if isinstance(likelihood, ClassLikelihood):
        return CoupledEvidence(LearnedRows(rows, X, labels, blur=False), rows, _SITE_TOLERANCE)
    return ProjectedEvidence(LearnedRows(rows, X, signs(labels), blur=False), rows, _SITE_TOLERANCE)


CRITERIA: dict[str, Maker] = {"bound": _bound, "ep": _ep}
"""Criteria by their names, made for some rows."""


def climb(
    criterion: str,
    X: Inputs,
    labels: Rows,
    kernel: Kernel,
    likelihood: Discrete | ClassLikelihood,
    order: Rows,
    *,
    tied: bool = False,
    refined: bool = False,
    watch: Callable[[Step], bool] | None = None,
) -> Learned:
    """Maximise a criterion over the parameters of the kernel: on some hundred rows first, then on up to a thousand.

    Parameters
    ----------
    criterion : {"bound", "ep", "laplace"}
    X, labels
        Training rows.
    kernel : Kernel
        To start from.
    likelihood : Discrete or ClassLikelihood
        It stays as it is.
    order : array of int
        All rows, shuffled: the first of them are learned on.
    tied : bool
        Whether length scales of columns move together.
    refined : bool
        Whether all length scales are then moved to where rows left out are predicted best, which is where functions are
        less smooth than the criterion would have them.
    watch : callable, optional
        Told of every evaluation; a true answer ends it.
    """
    fixed = Learning(fixed=["likelihood.*"])
    model, steps = Model.begin(kernel, cast(Likelihood, likelihood), tied, fixed), list[Step]()
    for number, (most, iterations) in enumerate(_STAGES):
        if number and len(order) <= _STAGES[number - 1][0]:
            break
        rows = np.sort(order[:most])
        objective = CRITERIA[criterion](X[rows], labels[rows], likelihood)
        model = find_scale(objective, model) if number == 0 else model
        model, more, _ = optimise(objective, model, iterations, watch)
        steps += more
    if refined and len(rows) >= _TELLING and model.size:
        model = refine_scales(objective, model, _SHORTER, watch or (lambda step: False))
    return Learned(model.kernel, steps)
