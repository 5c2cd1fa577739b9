"""Models that say the same of every row where another kernel would not: told to the user, with what to do about it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing

from .._types import Floats, Foreign
from ..errors import InfovecError
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Gaussian, Laplace, StudentT, Transformed, untransformed
from ..machines.defaults import centre_and_spread, column_spreads
from ..runtime import StopReason, outside
from .values import given_kernel

__all__ = ["is_asked_for", "warn_if_unexplained"]

_ROWS, _FEWEST = 1000, 40  # that are looked at, half of them to predict the others from
_ACTIVE = 100
_SCALED = 3.0  # times one or less: columns of such spreads are scaled already
_SOME = 0.3  # of what there is to explain in rows of the fit, which are known by heart; below it others are held back
_LITTLE = 0.1  # of what there is to explain, below which another kernel is tried; more than that must come of it,
_LESS = 0.25  # of which the one that was given explains less than this share
_TINY = 1e-2  # of the spread of the targets: functions that vary by less explain nothing
_LEARNED: tuple[dict[str, object], ...] = ({}, {"learn": "ep"})  # the default kernel, where the given one was not
_CUT_SHORT = tuple(map(str, (StopReason.INTERRUPTED, StopReason.CALLBACK, StopReason.TIME)))
_looking: ContextVar[bool] = ContextVar("looking", default=False)


def warn_if_unexplained(model: Foreign, X: Foreign, y: Foreign, sample_weight: ArrayLike | None = None) -> bool:
    """Warn where the kernel that was given, and learned, explains next to nothing and the default one more; say if so.

    Parameters
    ----------
    model : fitted estimator
    X, y
        What it was fitted to.
    sample_weight : array-like, optional
    """
    kernel = given_kernel(model.kernel)
    if _looking.get() or kernel is None or not kernel.numeric or not _can_be_taken(X, model):
        return False
    small = _smallness(model, kernel, X, y)
    if is_asked_for(model) and not small:
        return False
    n = X.shape[0]
    some = np.random.default_rng(n).permutation(n)[:_ROWS]
    try:
        with _alone():
            targets = np.asarray(_safe_indexing(y, some))
            if targets.ndim > 1 or _explained(model, _safe_indexing(X, some), targets, targets) > _SOME:
                return False
            known, others = np.array_split(some, 2)
            given = _of_others(model, {}, X, y, sample_weight, known, others)
            default = _of_others(model, {"kernel": None, **_LEARNED[bool(small)]}, X, y, sample_weight, known, others)
    except (InfovecError, ValueError, TypeError, np.linalg.LinAlgError):  # of a part of the rows there may be no model
        return False
    told = default > _LITTLE and given < min(_LITTLE, _LESS * default)
    if told:
        warnings.warn(
            f"the model says nearly the same of every row, and the default kernel does not: it explains "
            f"{default:.0%} of what there is to explain in rows held back, the kernel given {max(given, 0.0):.0%}. "
            f"{small or _unsuited(model, kernel)}",
            stacklevel=outside(),
        )
    return told


def _unsuited(model: Foreign, kernel: Kernel) -> str:
    return (
        f"No parameters of {kernel!r} were found that suit the rows. Leave kernel=None or name the form, such as "
        f"'rbf', for which units come from the data{_other(model)}"
    )


def _smallness(model: Foreign, kernel: Kernel, X: Foreign, y: Foreign) -> str:
    """Say of a kernel that was left as it is that its functions vary next to nothing beside the targets; else nothing.

    Function and targets are in one unit where noise is added.
    """
    noise, targets = model.likelihood_, np.asarray(y, dtype=object)
    if (
        model.learn is not None
        or not isinstance(untransformed(noise), Gaussian | Laplace | StudentT)
        or targets.ndim > 1
    ):
        return ""
    numbers = targets.astype(np.float64)
    spread = centre_and_spread(True, noise.transform.of(numbers) if isinstance(noise, Transformed) else numbers)[1]
    with _alone():
        some = model._read(_safe_indexing(X, np.linspace(0, X.shape[0] - 1, _FEWEST).astype(np.intp)))
    K = model.kernel_(some, some)
    varies = float(np.sqrt(max(0.0, np.mean(np.diagonal(K)) - np.mean(K))))
    if not varies < _TINY * spread:
        return ""
    scales = [f"kernel.{name.replace('__', '.')}" for name in kernel.get_params() if name.endswith("length_scale")]
    return (
        f"With learn=None the variance of a kernel is in the unit of the targets, squared: functions of {kernel!r} "
        f"vary by {varies:.2g}, and targets by {spread:.2g}. Give variances in that unit, or leave learn as it is; to "
        f"search over some parameters, learn=Learning(fixed={scales})"
    )


def _other(model: Foreign) -> str:
    """What else may help: nothing of units where the columns that the model sees are scaled already."""
    p = getattr(model, "n_features_in_", 1)
    columns = p > 1 and not hasattr(model, "table_")
    vectors = model.active_vectors_[0] if isinstance(model.active_vectors_, list) else model.active_vectors_
    spread = column_spreads(vectors)[0] if vectors.shape[0] > 1 else np.full(1, np.inf)
    scaled = bool(np.all((spread == 0.0) | ((spread < _SCALED) & (spread > 1.0 / _SCALED))))
    return f"; or learn one length scale for each column, kernel=RBF(np.ones({p})) + Bias()" * columns + (
        "" if scaled else "; or scale the columns with sklearn.preprocessing.StandardScaler"
    )


def is_asked_for(model: Foreign) -> bool:
    """Whether parameters were left or fixed as they are: who says so has their reasons, or searches over them."""
    return model.learn is None or (isinstance(model.learn, Learning) and bool(model.learn.fixed))


def _can_be_taken(X: Foreign, model: Foreign) -> bool:
    """Whether rows can be taken from what was given, and are enough."""
    in_memory = type(X).__module__.split(".")[0] in ("numpy", "pandas", "polars", "scipy")
    enough = len(getattr(X, "shape", ())) == 2 and X.shape[0] >= _FEWEST
    return in_memory and enough and model.stop_reason_ not in _CUT_SHORT


@contextmanager
def _alone() -> Iterator[None]:
    """Let models be fitted of which nothing is told, and which are not looked at in their turn."""
    token = _looking.set(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _looking.reset(token)


def _of_others(
    model: Foreign, changes: dict[str, object], X: Foreign, y: Foreign, sample_weight: ArrayLike | None,
    known: Floats, others: Floats,
) -> float:  # fmt: skip
    """Share that a model of some rows explains of others."""
    quiet = {"n_active": _ACTIVE, "verbose": 0, "callback": None, "warm_start": False, "initial": None,
             "invariances": None, "max_time": None, "random_state": 0}  # fmt: skip
    one = clone(model).set_params(**quiet, **changes)
    weight = None if sample_weight is None else np.asarray(sample_weight)[known]
    before = np.asarray(_safe_indexing(y, known))
    one.fit(_safe_indexing(X, known), _safe_indexing(y, known), sample_weight=weight)
    return _explained(one, _safe_indexing(X, others), np.asarray(_safe_indexing(y, others)), before)


def _explained(model: Foreign, X: Foreign, y: Floats, before: Floats) -> float:
    """Share of the loss of a constant, known from the targets before, that a model is spared.

    Of numbers the loss is the absolute error, beside that of the median; of classes it is the log loss, beside that of
    their frequencies.
    """
    if is_regressor(model):
        size = np.abs(y - np.median(before)).sum()
        return float(1.0 - np.abs(y - model.predict(X)).sum() / size) if size > 0.0 else 1.0
    classes, place = model.classes_, {label: k for k, label in enumerate(model.classes_.tolist())}
    at = np.array([place.get(label, -1) for label in y.tolist()])
    seen = at >= 0
    count = np.array([np.sum(before == label) for label in classes]) + 1.0
    constant = -np.log(count / count.sum())[at[seen]].sum()
    log_proba = cast(Floats, model.predict_log_proba(X))[seen, at[seen]]
    return float(1.0 + log_proba.sum() / constant) if constant > 0.0 else 1.0
