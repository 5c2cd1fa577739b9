"""Estimators that are told more rows after they were fitted."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from .._types import Array, Floats, Foreign, Inputs, Rows
from ..active_learning import Assimilated, assimilate, functions, include, stacked
from ..errors import ParameterError
from ..inference import spreads
from ..likelihoods import Likelihood, weighted
from ..likelihoods.classes import ClassLikelihood
from ..machines.against_rest import AgainstRest
from ..machines.at_once import AtOnce
from ..machines.fit import begin
from ..machines.machine import Machine
from ..posterior import ClassPosterior, FactorisedPosterior, Posterior, SeparatePosterior
from ..runtime import work_within
from ..shards import FarInputs
from .asking import Asking
from .inputs import read_weight
from .limits import memory_limit, threads
from .warm import State, kept

__all__ = ["Remembered", "Telling", "remembered"]

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

    def with_more(self, X: Inputs, y: Array, weight: Floats | None) -> "Remembered":
        """Return these rows and others."""
        both = None
        if self.weight is not None or weight is not None:
            both = np.concatenate([_ones(self.weight, len(self.y)), _ones(weight, len(y))])
        return Remembered(stacked(self.X, X), np.concatenate([self.y, y]), both, self.before)

    @property
    def too_many(self) -> bool:
        """Whether they are more than are remembered."""
        return self.X.shape[0] * (self.X.shape[1] if self.X.ndim == 2 else 1) > MOST_NUMBERS


def remembered(rows: Foreign) -> Remembered | None:
    """Return the rows of a fit if they are few, copied: what the user does to them later is no matter."""
    X, y, weight = rows
    if isinstance(X, FarInputs) or (found := Remembered(X, y, weight)).too_many:
        return None
    return found._replace(X=X.copy(), y=y.copy(), weight=None if weight is None else weight.copy())


def _ones(weight: Floats | None, n: int) -> Floats:
    return np.ones(n) if weight is None else weight


class Telling(Asking):
    """Has ``tell`` and ``partial_fit``."""

    n_active: int | float | str
    _rows: Foreign

    def tell(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more rows, without starting over: the parameters of kernel and likelihood stay as they are.

        The model becomes what a fit to all rows with these parameters, and the active rows that it has then, would be.
        Active rows stay, and others join them while there is room, up to ``n_active``. To learn the parameters anew,
        ``fit`` to all rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            A class that the model does not know makes it fit to all rows again.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self

        Notes
        -----
        Rows are remembered for this, up to 4 million numbers of inputs, but neither pickled nor saved. What the model
        knows of earlier rows that it does not remember is the sum of their sites, which stays as it is: exact for
        Gaussian noise, and close to a fit otherwise. So it is with models from a file or a pickle, with rows that never
        were in memory, and when rows become too many; certainty of predictions (``likelihood_.spread``, ``power``) is
        then not chosen anew. With "factorised" rows become active one after the other, in the order told, while there
        is room, and later ones are refused; the active pairs of several coupled classes are selected anew.
        ``active_`` numbers the rows as if they had been appended to those of ``fit``.
        """
        check_is_fitted(self)
        inputs, targets = self._told(X, y)
        weight = read_weight(sample_weight, len(targets))
        with kept(self):
            start, seconds = time.perf_counter(), self.fit_seconds_
            known: Remembered | None = getattr(self, "_rows", None)
            if known is None or known.too_many:
                known = _forget(self, inputs, targets)
            rows = known.with_more(inputs, targets, weight)
            with threads(self.n_jobs), work_within(memory_limit(self.max_memory)):
                self._learn_of(rows, targets)
            self._rows, self.fit_seconds_ = rows, seconds + time.perf_counter() - start
        return self

    def partial_fit(self, X: object, y: object, classes: ArrayLike | None = None) -> Self:
        """Fit to a first batch of rows, or ``tell`` another one; memory stays bounded.

        Parameters
        ----------
        X, y
            As for ``tell``. The first batch is fitted, parameters are learned from it: it should be a fair sample.
        classes : array-like, optional
            All classes, in the first call; a class that does not occur in the first batch must be named.

        Returns
        -------
        self
        """
        if hasattr(self, "posterior_"):
            return self.tell(X, y)
        if classes is None or not is_classifier(self):
            return self.fit(X, y)
        with _with(self, _known_classes=np.unique(np.asarray(classes))):
            return self.fit(X, y)

    def _encoded(self, y: Array) -> tuple[Array, Rows]:
        """Return the classes, those known before or those of the labels, and the number of each label among them."""
        known = vars(self).get("_known_classes")
        if known is None:
            return np.unique(y, return_inverse=True)
        strange = ~np.isin(y, known)
        if strange.any():
            raise ParameterError(f"y has the label {y[np.argmax(strange)]}, which is not among classes")
        if len(np.unique(y)) == 1 and len(known) == 2:
            raise ParameterError(f"y has one class only, {y[0]}; the first rows must be of two classes at least")
        return known, np.searchsorted(known, y)

    def _told(self, X: object, y: object) -> tuple[Inputs, Array]:
        """Read rows, which have the columns that the model knows."""
        inputs, targets = self._read(X), column_or_1d(np.asarray(y))
        if not is_classifier(self):
            targets = targets.astype(np.float64)
        if targets.dtype.kind == "f":
            assert_all_finite(targets, input_name="y")
        if inputs.shape[0] != len(targets):
            raise ParameterError(f"X has {inputs.shape[0]} rows, y has {len(targets)}; give one target for each row")
        return inputs, targets

    def _learn_of(self, rows: Remembered, told: Array) -> None:
        new = np.setdiff1d(told, self.classes_) if is_classifier(self) else np.empty(0)
        if new.size and rows.before is not None:
            raise ParameterError(
                f"the model does not know class {new[0]}, nor does it remember the rows that it was fitted to: "
                "fit it to all rows"
            )
        if new.size:
            self.fit(rows.X, rows.y, rows.weight)
        elif rows.before is None:
            _refit(self, rows)
        else:
            _add(self, rows)


@contextmanager
def _with(estimator: Any, **values: object) -> Iterator[None]:
    """Let an estimator have other attributes for a while."""
    before = {name: vars(estimator)[name] for name in values if name in vars(estimator)}
    vars(estimator).update(values)
    try:
        yield
    finally:
        for name in values:
            vars(estimator).pop(name, None)
        vars(estimator).update(before)


def _refit(model: Any, rows: Remembered) -> None:
    """Fit to all rows with the parameters and the active rows that there are."""
    many, history, n = isinstance(model.kernel_, list), model.history_, len(rows.y)
    size, active, sites = _size(model, n), model.active_, model.site_precision_
    if size >= n and (sites.ndim == 2 or not isinstance(model.posterior_, FactorisedPosterior)):
        active = np.concatenate([active, np.setdiff1d(np.arange(n), active)])  # nothing is left to select
        sites = np.ones((n, *sites.shape[1:]))
    names = {k: vars(model)[k] for k in ("n_features_in_", "feature_names_in_") if k in vars(model)}
    classes = getattr(model, "classes_", None)
    fixed = {"kernel": model.kernel_[0] if many else model.kernel_, "likelihood": model.likelihood_,
             "initial": None, "n_active": size, "_known_classes": classes, "categories": classes}  # fmt: skip
    with _with(model, **fixed):
        machine = model._prepare(rows.X, rows.y, rows.weight)
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
        model._state = State(ended.selector, ended.machine, model.get_params(), "", True)


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


def _forget(model: Any, X: Inputs, y: Array) -> Remembered:
    """Remember no rows from now on but those that are told: the model as it is stands for all others."""
    return Remembered(X[:0], y[:0], None, {name: vars(model)[name] for name in _BEFORE})


def _add(model: Any, rows: Remembered) -> None:
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
    index = np.array([model.classes_.tolist().index(label) for label in y.tolist()], dtype=np.intp)
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
