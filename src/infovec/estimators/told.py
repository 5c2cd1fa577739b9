"""What becomes of a fitted model when it is told more rows: all of them fitted again, or on top of those before."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from .._types import Array, Floats, Foreign, Inputs, Rows
from ..active_learning import Assimilated, assimilate, functions, include, stacked
from ..errors import ParameterError
from ..inference import spreads
from ..likelihoods import Likelihood, weighted
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.ranks import ranked
from ..machines.against_rest import AgainstRest
from ..machines.at_once import AtOnce
from ..machines.fit import begin
from ..machines.machine import Machine
from ..posterior import ClassPosterior, FactorisedPosterior, Posterior, SeparatePosterior
from ..shards import FarInputs
from .fitted import as_given
from .tasks import grouped
from .warm import State

__all__ = ["Remembered", "add", "changed", "forget", "refit", "remembered"]

MOST_NUMBERS = 1 << 22
"""Of the inputs of rows that are remembered, 32 MB of them."""
_AUTO_MOST = 4000  # active rows where their number is left to the data
_BEFORE = ("posterior_", "active_", "active_vectors_", "site_precision_", "site_mean_", "log_evidence_", "history_",
           "n_samples_fit_")  # fmt: skip


class Remembered(NamedTuple):
    """Rows whose sites can still change, as the user has them."""

    X: Inputs
    y: Array
    weight: Floats | None
    before: dict[str, Any] | None = None  # the model without them; None if they are all rows there were
    folds: Rows | None = None  # the same number for rows that are left out together

    def with_more(self, X: Inputs, y: Array, weight: Floats | None) -> "Remembered":
        """Return these rows and others."""
        both = None
        if self.weight is not None or weight is not None:
            both = np.concatenate([_ones(self.weight, len(self.y)), _ones(weight, len(y))])
        folds = self.folds
        if folds is not None:  # told rows are left out one at a time
            folds = np.append(folds, folds.max(initial=-1) + 1 + np.arange(len(y)))
        return Remembered(stacked(self.X, X), np.concatenate([self.y, y]), both, self.before, folds)

    @property
    def too_many(self) -> bool:
        """Whether they are more than are remembered."""
        return self.X.shape[0] * (self.X.shape[1] if self.X.ndim == 2 else 1) > MOST_NUMBERS


def remembered(rows: Foreign) -> Remembered | None:
    """Return the rows of a fit if they are few, copied: what the user does to them later is no matter."""
    X, y, weight, folds = rows
    if isinstance(X, FarInputs) or (found := Remembered(X, y, weight, None, folds)).too_many:
        return None
    return found._replace(X=X.copy(), y=y.copy(), weight=None if weight is None else weight.copy())


def _ones(weight: Floats | None, n: int) -> Floats:
    return np.ones(n) if weight is None else weight


@contextmanager
def changed(estimator: Any, **values: object) -> Iterator[None]:
    """Let an estimator have other attributes for a while."""
    before = {name: vars(estimator)[name] for name in values if name in vars(estimator)}
    vars(estimator).update(values)
    try:
        yield
    finally:
        for name in values:
            vars(estimator).pop(name, None)
        vars(estimator).update(before)


def refit(model: Any, rows: Remembered) -> None:
    """Fit to all rows with the parameters and the active rows that there are."""
    many, history, n = isinstance(model.kernel_, list), model.history_, len(rows.y)
    size, active, sites = _size(model, n), model.active_, model.site_precision_
    if size >= n and (sites.ndim == 2 or not isinstance(model.posterior_, FactorisedPosterior)):
        active = np.concatenate([active, np.setdiff1d(np.arange(n), active)])  # nothing is left to select
        sites = np.ones((n, *sites.shape[1:]))
    names = {k: vars(model)[k] for k in ("n_features_in_", "feature_names_in_") if k in vars(model)}
    classes = ranked(model)
    fixed = {"kernel": model.kernel_[0] if many else model.kernel_, "likelihood": model.likelihood_,
             "initial": None, "n_active": size, "_known_classes": classes, "categories": classes}  # fmt: skip
    with changed(model, **fixed):
        machine = model._prepare(grouped(as_given(model, rows.X), rows.folds), rows.y, rows.weight)
    vars(model).update(names)
    machine = _with_active(machine, active, sites)
    if isinstance(machine, AgainstRest) and many:
        machine = replace(machine, kernels=tuple(model.kernel_))
    ended = begin(machine, model._course(), None, False)
    model._store(ended)
    model.n_samples_fit_ = n
    learned = ("criterion", "theta", "major", "learning_seconds")
    model.history_ |= {key: history[key] for key in learned if key in history}
    model.__dict__.pop("_state", None)
    if model.warm_start:
        model._state = State(ended.selector, ended.machine, model.get_params(deep=False), "", True)


def _size(model: Any, n: int) -> int:
    """How many of n rows may be active, of each class where each has its own."""
    posterior = model.posterior_
    if isinstance(posterior, SeparatePosterior):
        known = max(part.X.shape[0] for part in posterior.parts) if model.multi_class == "ovr" else 0
    else:
        known = posterior.X.shape[0]
    if isinstance(model.n_active, str):
        return min(n, _AUTO_MOST) if known == model.n_samples_fit_ else known
    wanted = model.n_active if isinstance(model.n_active, int | np.integer) else round(model.n_active * n)
    return max(min(int(wanted), n), known, 1)


def _with_active(machine: Machine, active: Rows, sites: Floats) -> Machine:
    """Return a machine whose active rows stay; those of coupled pairs are selected anew."""
    if isinstance(machine, AtOnce):
        return machine
    find, wanted = machine.data.given.find, machine.work.wanted
    if isinstance(machine, AgainstRest):
        return replace(machine, initials=tuple(find(active[own != 0.0])[:wanted] for own in sites.T))
    return replace(machine, work=replace(machine.work, initial=find(active)[:wanted]))


def forget(model: Any, X: Inputs, y: Array) -> Remembered:
    """Remember no rows from now on but those that are told: the model as it is stands for all others."""
    return Remembered(X[:0], y[:0], None, {name: vars(model)[name] for name in _BEFORE})


def add(model: Any, rows: Remembered) -> None:
    """Give sites to told rows on top of a model that knows the others by their sum."""
    assert rows.before is not None
    before, likelihood = rows.before, model.likelihood_.for_new_rows()
    posterior: Posterior = before["posterior_"]
    parts: Any = functions(posterior)
    y = _encode(model, rows.y)
    if rows.weight is not None:
        many = isinstance(likelihood, ClassLikelihood)
        likelihood = likelihood.weigh(rows.weight) if many else weighted(likelihood, rows.weight)
    likelihood.check_targets(y)
    n, X = before["n_samples_fit_"] + len(y), model.posterior_.kernel.in_double(rows.X)
    vars(model).update(before)
    size = _size(model, n)
    if isinstance(parts[0], FactorisedPosterior):
        room = size - max(len(part.beta) for part in parts)
        if room < len(y):
            raise ParameterError(
                f"the factorised posterior knows active rows only, and there is room for {max(room, 0)} of "
                f"{len(y)} told ones: set_params(n_active=...) to more, or fit with approximation='projected'"
            )
        found = include(parts, likelihood, X, y, room)
    else:
        one = isinstance(likelihood, Likelihood)
        calibrated = model.learn is not None and one and spreads(model.likelihood_)
        blur = one and not calibrated if isinstance(model.blur, str) else bool(model.blur)
        found = assimilate(parts, likelihood, X, y, blur, [max(size - len(part.beta), 0) for part in parts])
    _store(model, posterior, found, rows, X, n)


def _encode(model: Any, y: Array) -> Floats:
    """Targets as the likelihood has them."""
    if not is_classifier(model):
        return y.astype(np.float64)
    place = {label: k for k, label in enumerate(ranked(model).tolist())}
    index = np.array([place[label] for label in y.tolist()], dtype=np.intp)
    two = len(model.classes_) == 2 and np.array_equal(model.likelihood_.labels, [-1.0, 1.0])
    return (
        2.0 * index - 1.0 if two else index if isinstance(model.likelihood_, ClassLikelihood) else index.astype(float)
    )


def _store(model: Any, posterior: Posterior, found: Assimilated, rows: Remembered, X: Inputs, n: int) -> None:
    """Keep what came of it."""
    new = np.unique(np.concatenate(found.chosen))
    if isinstance(posterior, ClassPosterior):
        first: Any = found.parts[0]
        Q, beta = (np.stack([getattr(part, name) for part in found.parts]) for name in ("Q", "beta"))
        model.posterior_ = replace(posterior, X=first.X, L=first.L, Q=Q, beta=beta)
    elif isinstance(posterior, SeparatePosterior):
        model.posterior_ = replace(posterior, X=stacked(posterior.X, X[new]), parts=tuple(found.parts))
    else:
        model.posterior_ = found.parts[0]
    order = found.chosen[0] if not isinstance(posterior, SeparatePosterior) else new
    precision, b = found.precision[order], found.b[order]
    if isinstance(posterior, SeparatePosterior):  # a row has a site where it is active
        active = np.stack([np.isin(order, chosen) for chosen in found.chosen], axis=1)
        precision, b = np.where(active, precision, 0.0), np.where(active, b, 0.0)
    mean = b / np.where(precision == 0.0, 1.0, precision)
    if model.site_precision_.ndim == 1:
        precision, mean = precision[:, 0], mean[:, 0]
    model.site_precision_ = np.concatenate([model.site_precision_, precision])
    model.site_mean_ = np.concatenate([model.site_mean_, mean])
    model.active_ = np.concatenate([model.active_, model.n_samples_fit_ + order])
    vectors = rows.X[order]
    model.active_vectors_ = stacked(
        model.active_vectors_, vectors if vectors.dtype == object else vectors.astype(float)
    )
    last = model.history_["seconds"][-1:] if len(model.history_["seconds"]) else np.zeros(1)
    more = {"row": model.active_, "score": np.append(model.history_["score"], np.full(len(order), np.nan)),
            "seconds": np.append(model.history_["seconds"], np.repeat(last, len(order)))}  # fmt: skip
    model.history_ = model.history_ | more
    model.log_evidence_ += found.log_evidence
    model.n_samples_fit_ = n
