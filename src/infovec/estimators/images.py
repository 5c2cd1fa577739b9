"""Virtual informative vectors: images of the active rows under what does not change their targets (SLH 5, 6.5)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._types import Floats, Foreign, Inputs, Mask, Rows
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Discrete, Likelihood
from ..likelihoods.classes import ClassLikelihood
from ..machines.against_rest import AgainstRest
from ..machines.data import Families
from ..machines.fit import Course, begin
from ..machines.machine import Machine
from ..shards import FarInputs
from .warm import State

__all__ = ["Invariances", "fit_with_images"]

Function: TypeAlias = Callable[[Foreign], Foreign]
Invariances: TypeAlias = Function | Sequence[Function] | None
"""A function from rows to transformed rows, or several."""

_LEARNED = ("criterion", "theta", "major", "learning_seconds")


def fit_with_images(model: Foreign, X: object, y: object, sample_weight: ArrayLike | None, course: Course) -> None:
    """Let the images of the active rows enter, with their targets, and select and infer again; so often as asked.

    Parameters stay as they were learned. A row and its images count as one observation, in the evidence and where
    rows are left out to tell how certain predictions are.
    """
    functions = _functions(model.invariances)
    if not isinstance(model.rounds, int | np.integer) or model.rounds < 1:
        raise ParameterError(f"rounds must be a whole number from 1, got {model.rounds!r}")
    learned = {name: v for name, v in model.history_.items() if name in _LEARNED}
    settings, state = model.get_params(deep=False), getattr(model, "_state", None)
    for _ in range(model.rounds):
        ended = begin(_machine(model, X, y, sample_weight, functions), course.run_on(), None, False)
        model._store(ended)
        model.history_ |= learned
    if state is not None:
        model._state = State(ended.selector, ended.machine, settings, state.data, ended.cut_short)


def _functions(invariances: Foreign) -> list[Function]:
    given = list(invariances) if isinstance(invariances, Sequence) else [invariances]
    if not given or not all(callable(function) for function in given):
        raise ParameterError(
            "invariances must be a function from rows to transformed rows, or a list of them, such as "
            f"infovec.invariances.Shifts((28, 28)); got {invariances!r}"
        )
    return given


def _machine(
    model: Foreign, X: object, y: object, sample_weight: ArrayLike | None, functions: list[Function]
) -> Machine:
    """Return the machine of all rows and the images of those that are active, with what was learned."""
    kernel, likelihood = model.kernel_, _plain(model.likelihood_)
    sources, vectors = model.active_, model.active_vectors_
    read = model._read_targets(X, y, sample_weight)
    sample = read.sample
    if isinstance(sample.X, FarInputs):
        raise ParameterError("invariances are for inputs in memory; take a sample of the rows")
    at = sample.place[sources]
    images, place = _images(functions, vectors, at, sample.X)
    targets = np.append(read.targets, read.targets[place])
    sample = sample.with_images(images, place)
    kernels = kernel if isinstance(kernel, list) else [kernel]
    inside = list[Kernel]()
    for one in kernels:
        unit, one_inside = sample.unit.kernel(one)
        sample = replace(sample, unit=unit)
        inside.append(one_inside)
    if isinstance(likelihood, Likelihood) and not isinstance(likelihood, Discrete):
        unit, likelihood = sample.unit.likelihood(likelihood)
        sample = replace(sample, unit=unit)
    likelihood = sample.weigh(likelihood, targets)
    machine = model._machine(read._replace(sample=sample, targets=targets, likelihood=likelihood), inside[0])
    if machine.n_functions > 1 and not isinstance(machine, AgainstRest):
        raise ParameterError("invariances with more than two classes are for multi_class='ovr'")
    if not machine.all_rows:
        own = _own_images(model.site_precision_, len(images), machine.data.n)
        families = Families(sample.rows, own, sample.folds)
        machine = replace(machine, data=replace(machine.data, families=families))
    return replace(machine, kernels=tuple(inside)) if isinstance(machine, AgainstRest) and machine.kernels else machine


def _own_images(sites: Floats, m: int, n: int) -> Mask:
    """Return which of n rows, the last m images, may become active: for each class images of its own active rows only.

    Sites of the active rows, shape (d,) or (d, C), are zero where a row is not active for a class. An image of such a
    row says as little of the class as the row does.
    """
    eligible = np.ones((n, *sites.shape[1:]), dtype=bool)
    eligible[n - m :] = np.tile(sites > 0.0, (m // len(sites), *(1,) * (sites.ndim - 1)))
    return eligible


def _images(functions: list[Function], vectors: Inputs, at: Rows, X: Inputs) -> tuple[Inputs, Rows]:
    """Images of some rows, and the place of the row that each comes from."""
    parts, places = list[Inputs](), list[Rows]()
    for function in functions:
        made = function(vectors.copy())
        several = [made] if sparse.issparse(made) or np.ndim(made) == 2 else list(made)
        for one in several:
            if one.shape != vectors.shape:
                raise ParameterError(
                    f"an invariance returned rows of shape {one.shape} for rows of shape {vectors.shape}; it must "
                    "return one image of each row, or an array of several such"
                )
            parts.append(one)
            places.append(at)
    if sparse.issparse(X):
        return sparse.vstack([sparse.csr_matrix(one) for one in parts], format="csr").astype(X.dtype), np.concatenate(
            places
        )
    images = np.concatenate([one.toarray() if sparse.issparse(one) else one for one in parts]).astype(X.dtype)
    if images.dtype.kind == "f" and not np.all(np.isfinite(images)):
        raise ParameterError("an invariance returned numbers that are not finite")
    return images, np.concatenate(places)


def _plain(likelihood: Foreign) -> Foreign:
    """Return a likelihood as inference has it, without what predictions were calibrated by."""
    likelihood = likelihood.for_new_rows()
    if isinstance(likelihood, Discrete):
        return likelihood.with_spread(1.0)
    if isinstance(likelihood, ClassLikelihood):
        return replace(likelihood, power=1.0, spread=1.0)
    return likelihood
