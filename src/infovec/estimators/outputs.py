"""Several targets for each row: a machine for each, all of which see the same active rows."""

import time
from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Floats, Foreign, Inputs, Rows
from ..errors import ParameterError
from ..machines.cluster_plan import ClusterPlan
from ..machines.plan import Plan
from .base import InformativeVectorMachine
from .far import is_dask
from .warm import kept

__all__ = ["SeveralTargets", "for_each_target"]

_M = TypeVar("_M", bound=Callable[..., Foreign])
_LEARNING = 0.8  # of the time that there is, for parameters and for the rows that each target would choose


def for_each_target(axis: int | None) -> Callable[[_M], _M]:
    """Return a decorator of methods: with several targets the answers for each are stacked, or added up if None."""

    def decorated(method: _M) -> _M:
        @wraps(method)
        def asked(self: Foreign, *args: Foreign, **options: Foreign) -> Foreign:
            outputs = vars(self).get("outputs_")
            if outputs is None:
                return method(self, *args, **options)
            found = [method(one, *args, **options) for one in outputs]
            join = (lambda parts: sum(parts)) if axis is None else (lambda parts: np.stack(parts, axis=axis))
            return tuple(map(join, zip(*found, strict=True))) if isinstance(found[0], tuple) else join(found)

        return cast(_M, asked)

    return decorated


def _for_one_target(method: _M) -> _M:
    """Return a method that says, of a model of several targets, where it is to be called."""

    @wraps(method)
    def asked(self: Foreign, *args: Foreign, **options: Foreign) -> Foreign:
        outputs = vars(self).get("outputs_")
        if outputs is None:
            return method(self, *args, **options)
        name = method.__name__
        raise ParameterError(
            f"{name} is for a model of one target, and this one has {len(outputs)}: call outputs_[0].{name}(...) for "
            "the first of them"
        )

    return cast(_M, asked)


class SeveralTargets(InformativeVectorMachine):
    """Can be fitted to a y of shape (n_samples, n_targets)."""

    outputs_: list[Self]
    _shared: ClassVar[tuple[str, ...]] = (
        "outputs_", "active_", "active_vectors_", "n_samples_fit_", "fit_seconds_", "n_features_in_",
        "feature_names_in_", "tasks_", "table_",
    )  # fmt: skip
    """What a model of several targets has itself."""

    relevances = _for_one_target(InformativeVectorMachine.relevances)
    report = _for_one_target(InformativeVectorMachine.report)
    compress = _for_one_target(InformativeVectorMachine.compress)
    grow = _for_one_target(InformativeVectorMachine.grow)
    tell = _for_one_target(InformativeVectorMachine.tell)
    score_candidates = _for_one_target(InformativeVectorMachine.score_candidates)
    suggest = _for_one_target(InformativeVectorMachine.suggest)

    def __getattr__(self, name: str) -> Foreign:
        if name in type(self)._fitted and "outputs_" in vars(self):
            raise AttributeError(
                f"{name} is of one target, and this model has {len(self.outputs_)}: see outputs_[0].{name}, which is a "
                "model of the first target by itself"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | None = None,
        client: object = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        targets = _several(y)
        if targets is None:
            with kept(self):
                self.__dict__.pop("outputs_", None)
                return super().fit(X, y, sample_weight, checkpoint, client, groups)
        if checkpoint is not None or client is not None or self.warm_start or self.invariances is not None:
            raise ParameterError(
                f"y has {targets.shape[1]} columns, and checkpoint, client, warm_start and invariances are for one "
                "target: leave them out, or fit a model to each column"
            )
        with kept(self):
            start = time.perf_counter()
            for name in {*type(self)._fitted, "_rows", "_state", "_importances"}:
                self.__dict__.pop(name, None)
            self.outputs_ = _fitted(self, X, targets, {"sample_weight": sample_weight, "groups": groups})
            for name in self._shared[1:]:
                if name in vars(self.outputs_[0]):
                    setattr(self, name, getattr(self.outputs_[0], name))
            self.fit_seconds_ = time.perf_counter() - start
        return self

    fit.__doc__ = (InformativeVectorMachine.fit.__doc__ or "").replace(
        "array-like of shape (n_samples,)\n            Targets.",
        "array-like of shape (n_samples,) or (n_samples, n_targets)\n            Targets. Of several columns each has "
        "a model of its own in ``outputs_``;\n            they share their active rows.",
    )

    def plan(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        workers: int | None = None,
        groups: ArrayLike | None = None,
    ) -> Plan | ClusterPlan:
        targets = _several(y)
        plan = super().plan(X, y if targets is None else targets[:, 0], sample_weight, workers, groups)
        if targets is None or isinstance(plan, ClusterPlan):
            return plan
        times = targets.shape[1]
        fits = 2.0 * plan.seconds - plan.learning  # the second without learning
        return plan._replace(seconds=times * fits, learning=times * plan.learning)

    plan.__doc__ = InformativeVectorMachine.plan.__doc__

    @property
    def feature_importances_(self) -> Floats:
        if "outputs_" not in vars(self):
            return super().feature_importances_
        found: Floats = np.mean([one.feature_importances_ for one in self.outputs_], axis=0)
        return found

    def _read(self, X: object) -> Inputs:
        check_is_fitted(self)
        if "outputs_" in vars(self):
            raise ParameterError("this is for a model of one target: ask outputs_[0], or another of outputs_")
        return super()._read(X)

    def _testimony(self, X: Inputs) -> dict[str, Array]:
        if "outputs_" not in vars(self):
            return super()._testimony(X)
        told = [one._testimony(X) for one in self.outputs_]
        return {name: np.stack([one[name] for one in told], axis=-1) for name in told[0]}


def _several(y: Foreign) -> Array | None:
    """Return targets of which each row has several; None where it has one."""
    if is_dask(y) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        return None
    try:
        found = np.asarray(y)
    except ValueError:  # of different lengths, which is refused where it is read
        return None
    return found if found.ndim == 2 and found.shape[1] > 1 else None


def _fitted(model: SeveralTargets, X: object, targets: Array, options: dict[str, Foreign]) -> list[Foreign]:
    """Return a model for each target, with parameters of its own and active rows that all share.

    Each is fitted by itself first. The active rows are then the first ones of each, in turns; each infers with them.
    """
    k, settings = targets.shape[1], model.get_params(deep=False)
    seed = check_random_state(model.random_state).randint(2**31 - 1)
    times = [None if model.max_time is None else share * model.max_time / k for share in (_LEARNING, 1.0 - _LEARNING)]
    alone = [clone(model).set_params(random_state=seed, max_time=times[0]).fit(X, y, **options) for y in targets.T]
    active = in_turns([one.active_ for one in alone])
    found = []
    for one, y in zip(alone, targets.T, strict=True):
        same = {"kernel": one.kernel_, "likelihood": one.likelihood_, "learn": None}
        again = clone(model).set_params(**same, initial=active, n_active=len(active), refine=None)
        again.set_params(random_state=seed, max_time=times[1]).fit(X, y, **options)
        again.history_ |= {name: v for name, v in one.history_.items() if name in _OF_LEARNING}
        found.append(again.set_params(**settings))
    return found


_OF_LEARNING = ("criterion", "theta", "major", "learning_seconds")


def in_turns(chosen: list[Rows]) -> Rows:
    """Return as many rows as the longest list has, the first of each list, then the second of each, and so on."""
    wanted, found = max(map(len, chosen)), dict[int, None]()
    for place in range(wanted):
        for rows in chosen:
            if place < len(rows) and len(found) < wanted:
                found.setdefault(int(rows[place]))
    return np.fromiter(found, dtype=np.intp)
