"""Estimators that are made smaller after they were fitted, for a faster model without the training rows."""

from typing import NamedTuple, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Inputs, Rows
from ..active_learning import stacked
from ..errors import ParameterError
from ..learning import Distillation, MovingInputs, evidence_of, optimise
from ..machines.moving import moving_unit
from ..posterior import ClassPosterior, FactorisedPosterior, Posterior, ProjectedPosterior, SeparatePosterior
from ..runtime import work_within
from .fitted import Fitted
from .limits import memory_limit, threads
from .settings import active_size

__all__ = ["Compressing"]

_ITERATIONS, _TOLERANCE = 500, 1e-5


class _Smaller(NamedTuple):
    """Functions on fewer active inputs that they share, and what was seen on the way there."""

    parts: list[ProjectedPosterior]
    known: float  # minus the relative entropy to the larger posterior
    criterion: Floats  # the same at every step
    moved: bool


class Compressing(Fitted):
    """Has ``compress``."""

    n_active: int | float | str
    max_memory: float | str | None
    n_jobs: int | None
    site_precision_: Floats
    site_mean_: Floats
    log_evidence_: float

    def compress(self, n_active: int | float) -> Self:
        """Return a smaller model that predicts nearly the same, and faster.

        Its active inputs start at the first of those here and move until the posterior that they can carry is as near
        to the one here as it can be, in relative entropy. Training rows are not needed; parameters stay as they are.

        Parameters
        ----------
        n_active : int or float
            Active inputs of the new model, of each class where each has its own; or their share of those here.

        Returns
        -------
        model : estimator of the same class
            Fitted; this one stays as it is. ``active_`` says which rows its active inputs come from, and
            ``log_evidence_`` is lower by the relative entropy, in nats: what the smaller model does not know.

        Notes
        -----
        With kernels of objects, and for columns that are categories, active inputs stay where they are: the first of
        them are kept.

        Examples
        --------
        >>> from infovec import IVMRegressor
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> y = np.sin(X[:, 0]) * X[:, 1]
        >>> model = IVMRegressor(n_active=100, random_state=0).fit(X, y)
        >>> small = model.compress(30)
        >>> small.active_vectors_.shape
        (30, 2)
        >>> bool(np.max(np.abs(small.predict(X) - model.predict(X))) < 0.1)
        True
        """
        check_is_fitted(self)
        posterior, share = self.posterior_, active_size(n_active)
        if share is None:
            raise ParameterError("compress needs the number of active inputs that are to stay, or their share")
        with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
            apart = posterior.parts if isinstance(posterior, SeparatePosterior) else (posterior,)
            found = [_smaller(one, share) for one in apart]
        return _with_posterior(self, posterior, found)


def _smaller(posterior: Posterior, share: int | float) -> _Smaller:
    """Return a posterior of one function, or of several on the same inputs, on fewer of them."""
    d, kernel = posterior.X.shape[0], posterior.kernel
    m = min(share, d) if isinstance(share, int) else max(1, round(share * d))
    parts = list(posterior.parts) if isinstance(posterior, ClassPosterior) else [posterior]
    known = [evidence_of(cast(ProjectedPosterior | FactorisedPosterior, part)) for part in parts]
    X: Inputs = kernel.in_double(posterior.X)
    objective = Distillation(kernel, X, known[0][0], [evidence for _, evidence in known])
    unit = moving_unit(X, kernel)
    if unit is None or m == d:
        return _Smaller(objective.posteriors(X[:m]), objective.value(X[:m]), np.empty(0), False)
    found, steps, _ = optimise(objective, MovingInputs.begin(X[:m], unit), _ITERATIONS, None, _TOLERANCE)
    criterion = np.array([step.criterion for step in steps])
    return _Smaller(objective.posteriors(found.inputs), objective.value(found.inputs), criterion, True)


def _with_posterior(model: Compressing, before: Posterior, found: list[_Smaller]) -> Compressing:
    """Return a copy of a model with other active inputs, one lot for each class that has its own."""
    small = clone(model)
    names = [name for name in type(model)._fitted if name in vars(model)]
    vars(small).update({name: vars(model)[name] for name in names})
    sizes = [one.parts[0].X.shape[0] for one in found]
    small.n_active = max(sizes)
    small.posterior_ = _together(before, found)
    at, of = _origin(model, sizes)
    precision, mean = model.site_precision_[at], model.site_mean_[at]
    if isinstance(before, SeparatePosterior):
        own = np.arange(len(found)) == of[:, None]
        precision, mean = np.where(own, precision, 0.0), np.where(own, mean, 0.0)
    small.site_precision_, small.site_mean_ = precision, mean
    small.active_, small.active_vectors_ = model.active_[at], small.posterior_.X
    if "virtual_" in vars(model):
        small.virtual_ = model.virtual_[at]
    small.moved_ = getattr(model, "moved_", False) or any(one.moved for one in found)
    small.log_evidence_ = model.log_evidence_ + sum(one.known for one in found)
    rows = {name: model.history_[name][at] for name in ("row", "score", "seconds")}
    small.history_ = {**model.history_, **rows, "move_criterion": np.concatenate([one.criterion for one in found])}
    return small


def _together(before: Posterior, found: list[_Smaller]) -> Posterior:
    """Return the posterior of all functions."""
    if isinstance(before, SeparatePosterior):
        parts = [one.parts[0] for one in found]
        turns = _turns([part.X.shape[0] for part in parts])
        rows = [parts[c].X[t : t + 1] for c, t in turns]
        return SeparatePosterior(before.kernel, stacked(*rows), tuple(parts))
    parts = found[0].parts
    if not isinstance(before, ClassPosterior):
        return parts[0]
    Q, beta = (np.stack([getattr(part, name) for part in parts]) for name in ("Q", "beta"))
    return ClassPosterior(before.kernel, parts[0].X, parts[0].L, Q, beta)


def _turns(sizes: list[int]) -> list[tuple[int, int]]:
    """Active inputs of all classes in turns: number of the class, and position there."""
    return [(c, t) for t in range(max(sizes)) for c, size in enumerate(sizes) if t < size]


def _origin(model: Compressing, sizes: list[int]) -> tuple[Rows, Rows]:
    """Return which of the active rows each new active input comes from, and its class, where classes have their own."""
    if not isinstance(model.posterior_, SeparatePosterior):
        return np.arange(sizes[0]), np.zeros(sizes[0], dtype=np.intp)
    own = [np.flatnonzero(sites) for sites in model.site_precision_.T]
    turns = _turns(sizes)
    return np.array([own[c][t] for c, t in turns]), np.array([c for c, _ in turns])
