"""Rows without label: which they are, a model with them, and whether it is better than one without."""

import time
import warnings
from dataclasses import replace
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets

from .._types import Array, Floats, Foreign, Inputs, Mask, Rows
from ..errors import ParameterError
from ..inference import LeftOut, best_spread, calibrated
from ..kernels import Kernel
from ..learning import Learning
from ..likelihoods import Discrete, NullCategory, Role
from ..likelihoods.classes import ClassLikelihood, NullAgainstRest, against_rest
from ..machines.classes import class_bias
from ..machines.defaults import CLASS_LIKELIHOODS, CLASS_VARIANCE, NULL_WIDTH, missing_share
from ..machines.fit import Course
from ..machines.sample import Sample
from ..runtime import outside
from .base import Read
from .class_weight import class_shift, rows_told
from .far import is_far
from .inputs import read, read_weight
from .kinds import APPROXIMATIONS
from .tasks import Grouped, folds_of, kernel_on
from .values import given_kernel

__all__ = ["compare", "held_in_learning", "read_some_labels", "sees_unlabelled", "without_label"]

_WIDTHS = (1.0, 2.5, 5.0)  # times the one that parameters are learned with
_FOLDS = 5
_MANY, _FEW = 10, 10  # folds for so few labels
_NAME = "null_category"

Likelihoods: TypeAlias = Foreign
"""A null category or one of its rivals, of one function or of many."""


def sees_unlabelled(likelihood: object) -> bool:
    """Whether a likelihood is for rows without label too."""
    return isinstance(likelihood, NullCategory | NullAgainstRest) or (
        isinstance(likelihood, str) and likelihood == _NAME
    )


def without_label(y: Foreign) -> tuple[Array, Mask]:
    """Return labels, those that are missing replaced by one of the others, and which are known.

    Missing are -1, NaN, None and pandas' NA.
    """
    given = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)  # NaN among texts is no text
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ParameterError(f"y must be one column of labels, got an array of shape {given.shape}")
    if given.dtype.kind in "OUST":
        listed = given.tolist()
        known = np.array([not _missing(label) for label in listed], dtype=bool)
        if known.any():
            first = listed[int(np.argmax(known))]
            given = np.array([label if here else first for label, here in zip(listed, known, strict=True)])
    else:
        known = ~np.isnan(given) & (given != -1) if given.dtype.kind == "f" else np.asarray(given != -1)
        given = np.where(known, given, given[int(np.argmax(known))]) if known.any() else given
    if not known.any():
        raise ParameterError(
            "no row has a label: with likelihood='null_category' -1, NaN, None and NA mark rows without; give some"
        )
    return given, known


def _missing(label: object) -> bool:
    if label is None or type(label).__name__ == "NAType":
        return True
    return isinstance(label, int | float) and not isinstance(label, bool) and (label == -1 or label != label)


def read_some_labels(model: Foreign, X: object, y: object, sample_weight: ArrayLike | None) -> Read:
    """Read inputs and labels, some of which are missing; set the classes of the model."""
    if model.invariances is not None:
        raise ParameterError("invariances are for rows with labels; leave them out with likelihood='null_category'")
    if is_far(X):
        raise ParameterError(
            "likelihood='null_category' is for inputs in memory; take a sample of the rows without label"
        )
    labels, known = without_label(y)
    inputs, labels = read(model, given_kernel(model.kernel), X, labels)
    check_classification_targets(labels)
    weight = read_weight(sample_weight, len(labels))
    counts = known if weight is None else known & (weight > 0.0)
    counts = counts & rows_told(model.class_weight, labels) if known.all() else counts & _told(model, labels, known)
    model.classes_ = np.unique(labels[counts])
    model.n_classes_ = len(model.classes_)
    if model.n_classes_ < 2:
        raise ParameterError(
            f"the rows with a label have one class only, {model.classes_.tolist()}; a classifier needs rows of two "
            "classes. With likelihood='null_category' a label of -1 is a missing one: give classes other names"
        )
    index = np.where(known, np.searchsorted(model.classes_, labels), -1)
    index[known & ~np.isin(labels, model.classes_)] = -2  # of a class that does not count
    folds = model.__dict__.pop("_folds", None)
    sample = Sample.of(inputs, index, weight, folds).told(index[index_rows(weight, len(index))] > -2)
    if APPROXIMATIONS[model.approximation].all_rows or model.n_classes_ > 2:
        sample = sample.merged(kernel_on(model, inputs), model.likelihood)
    sample = sample if model.learn is None else sample.counted()
    codes, has_label = sample.y.astype(np.intp), sample.y >= 0
    some = None if sample.weight is None else sample.weight[has_label]
    model.class_shift_ = class_shift(model.class_weight, model.classes_, codes[has_label], some)
    score = vars(model)["score"]
    if model.n_classes_ > 2:
        return Read(sample, codes, _of_many(model, codes, sample.weight, inputs), CLASS_VARIANCE, score)
    targets = against_rest(codes, 1)
    likelihood = model.likelihood
    if isinstance(likelihood, str):
        likelihood = cast(NullCategory, CLASS_LIKELIHOODS[_NAME](targets, sample.weight))
        likelihood = replace(likelihood, width=_width(given_kernel(model.kernel), inputs))
    if not isinstance(likelihood, NullCategory):
        raise ParameterError(f"likelihood={likelihood!r} is for more than two classes, y has two; give a NullCategory")
    return Read(sample, targets, likelihood, CLASS_VARIANCE, score)


def index_rows(weight: Floats | None, n: int) -> Rows:
    """Rows of positive weight."""
    return np.arange(n) if weight is None else np.flatnonzero(weight > 0.0)


def _told(model: Foreign, labels: Array, known: Mask) -> Mask:
    told = np.zeros(len(labels), dtype=bool)
    told[known] = rows_told(model.class_weight, labels[known])
    return told


def _width(kernel: Kernel | None, X: Inputs) -> float:
    """Width of the null category to begin with: a share of the prior standard deviation."""
    variance = CLASS_VARIANCE if kernel is None else float(np.mean(kernel.diag(X[:1000])))
    return NULL_WIDTH * float(np.sqrt(variance))


def _of_many(model: Foreign, codes: Rows, weight: Floats | None, X: Foreign) -> ClassLikelihood:
    if model.multi_class != "ovr" or not model.shared_kernel:
        raise ParameterError(
            "likelihood='null_category' with more than two classes is for multi_class='ovr' with one kernel "
            f"for all of them; got multi_class={model.multi_class!r}, shared_kernel={model.shared_kernel!r}"
        )
    given, known = model.likelihood, codes >= 0
    if isinstance(given, NullAgainstRest):
        if given.n_classes != model.n_classes_:
            raise ParameterError(f"likelihood={given!r} has {given.n_classes} biases, y {model.n_classes_} classes")
        return replace(given, weight=None)
    own = None if weight is None else weight[known]
    bias, missing = class_bias(codes[known], model.n_classes_, own), missing_share(known, weight)
    if isinstance(given, NullCategory):
        return NullAgainstRest(bias, width=given.width, missing=missing)
    return NullAgainstRest(bias, width=_width(given_kernel(model.kernel), X), missing=missing)


def held_in_learning(model: Foreign, learning: Learning | None) -> Learning | None:
    """Let nothing be learned by the evidence but length scales and the like.

    To the evidence every row without label is a cost that a narrow null category, or a function of large variance, does
    without; and where labels are few one class may have all the rest.
    """
    if learning is None or not isinstance(model.learn, str):
        return learning
    names = ["kernel.*variance"]
    kernel = given_kernel(model.kernel)
    if kernel is not None:
        pairs = zip(kernel.parameter_names, kernel.free_roles, strict=True)
        names = [f"kernel.{name}".partition("[")[0] for name, role in pairs if role is Role.VARIANCE]
    return replace(learning, fixed=(*learning.fixed, *dict.fromkeys(names), "likelihood.*"))


class _LeftOut(NamedTuple):
    """How labels are predicted by models that have not seen them, and with which likelihood best."""

    losses: Floats  # one for each label
    likelihood: Likelihoods

    @property
    def loss(self) -> float:
        """Mean log loss in nats."""
        return float(np.mean(self.losses))

    def beats(self, other: "_LeftOut", tried: int) -> bool:
        """Whether it is better for sure, although it is the best of so many that were tried on the same labels.

        Student's t of the paired differences has to exceed what one of them exceeds by chance in one case of forty.
        """
        gain = other.losses - self.losses
        n = len(gain)
        return bool(n > 1 and gain.mean() > stdtrit(n - 1, 1.0 - 0.025 / tried) * gain.std(ddof=1) / np.sqrt(n))


def compare(model: Foreign, X: Foreign, y: Foreign, sample_weight: ArrayLike | None, course: Course) -> None:
    """Choose the width of the null category by labels left out, and see whether rows without label help.

    If not, the model becomes that of the others; ``unlabelled_`` takes note of it.
    Every fold of the labels is hidden in turn, and predicted by a model with the parameters that were learned: the
    cavity of a row would not do, since what a label says has spread to the rows without.
    """
    labels, known = without_label(y)
    weight = np.ones(len(known)) if sample_weight is None else cast(Floats, read_weight(sample_weight, len(known)))
    known = known & np.isin(labels, model.classes_) & (weight > 0.0)
    rows = np.flatnonzero(~known & (weight > 0.0))
    if not len(rows):
        return
    hidden = _Hidden(model, X, labels, known, weight, course)
    without = hidden.fitted({"likelihood": "probit", "kernel": model.kernel, "learn": model.learn}, known, False)
    given: Likelihoods = model.likelihood_
    evidence = _evidence_of_labels(model, known, rows, weight)
    by_name = isinstance(model.likelihood, str)
    widths = [times * given.width for times in (_WIDTHS if by_name else (1.0,))]
    width = given.width
    if hidden.folds:
        tried = [hidden.left_out(model.kernel_, replace(_plain(given), width=w), True) for w in widths]
        best = min(tried, key=lambda one: one.loss)
        alone = hidden.left_out(without.kernel_, _plain(without.likelihood_), False)
        helps, losses = best.beats(alone, len(tried)), (best.loss, alone.loss)
        if helps and best.likelihood.width != given.width:
            again = hidden.fitted(
                {"likelihood": _plain(best.likelihood), "kernel": model.kernel_, "learn": None}, known, True
            )
            _take_over(model, again)
        model.likelihood_ = best.likelihood
        width = best.likelihood.width
    else:
        helps, losses = evidence > without.log_evidence_, (np.nan, np.nan)
    said = {"rows": len(rows), "helps": bool(helps), "width": float(width),
            "log_evidence": float(evidence), "supervised_log_evidence": float(without.log_evidence_),
            "loss": float(losses[0]), "supervised_loss": float(losses[1])}  # fmt: skip
    if not helps:
        _take_over(model, without)
        warnings.warn(
            f"the {len(rows)} rows without label do not help: labels left out have a loss of {losses[0]:.3g} nats with "
            f"them and {losses[1]:.3g} without. The model is that of the rows with a label; see unlabelled_",
            stacklevel=outside(),
        )
    model.unlabelled_ = said


class _Hidden:
    """Models that see some of the labels only."""

    def __init__(self, model: Foreign, X: Foreign, labels: Array, known: Mask, weight: Floats, course: Course) -> None:
        self.model, self.X, self.labels, self.known, self.weight = model, X, labels, known, weight
        index = np.searchsorted(model.classes_, labels[known])
        rng, here = np.random.default_rng(0), np.flatnonzero(known)
        k = min(len(here), _MANY if len(here) <= _FEW else _FOLDS)
        order = rng.permutation(len(here))
        order = order[np.argsort(index[order], kind="stable")]  # every fold has its share of each class
        fold = np.empty(len(here), dtype=np.intp)
        fold[order] = np.arange(len(here)) % k
        self.inputs = X
        if isinstance(X, Grouped) and not hasattr(model, "tasks_"):  # labels of a group are hidden together
            self.inputs, groups = X.X, folds_of(X.labels())
            if groups is not None:
                first, own = np.unique(groups[here], return_index=True, return_inverse=True)[1:]
                fold = fold[first][own.ravel()]
        some = [j for j in range(k) if np.any(fold == j) and len(np.unique(index[fold != j])) == len(model.classes_)]
        self.folds = [here[fold == j] for j in some] if np.bincount(index).min() > 1 else []
        fits = 2 + (len(_WIDTHS) + 1) * len(self.folds)
        left = course.end - time.perf_counter()
        self.seconds = None if not np.isfinite(left) else max(left / fits, 0.01)

    def fitted(self, params: dict[str, object], seen: Mask, unlabelled: bool) -> Foreign:
        """Return a model of the labels that are seen, with the rows that have none or without."""
        own = {"callback": None, "verbose": 0, "max_time": self.seconds, "warm_start": False}
        one = clone(self.model).set_params(**own, **params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not unlabelled:
                return one.fit(self.X, self.labels, np.where(seen, self.weight, 0.0))
            labels = self.labels.astype(object)
            labels[~seen] = None
            return one.fit(self.X, labels, None if np.all(self.weight == 1.0) else self.weight)

    def left_out(self, kernel: Kernel | list[Kernel], likelihood: Likelihoods, unlabelled: bool) -> _LeftOut:
        """Predict the labels of every fold without them."""
        rows, parts = np.concatenate(self.folds), list[Floats]()
        params = {"kernel": kernel, "likelihood": likelihood, "learn": None, "blur": False}
        for fold in self.folds:
            seen = self.known.copy()
            seen[fold] = False
            one = self.fitted(params, seen, unlabelled)
            parts.append(np.stack(one._latent(_safe_indexing(self.inputs, fold))))
        known, index = np.concatenate(parts, axis=1), np.searchsorted(self.model.classes_, self.labels[rows])
        if isinstance(likelihood, ClassLikelihood):
            found = calibrated(likelihood, [LeftOut(known, index, self.weight[rows])])
            return _LeftOut(-found.log_predictive(index, *known), found)
        y = 2.0 * index - 1.0
        found = likelihood.with_spread(best_spread(likelihood, y, known).share)
        return _LeftOut(-found.log_predictive(y, *known), found)


def _plain(likelihood: Likelihoods) -> Likelihoods:
    """Return a likelihood as inference has it, without what predictions were calibrated by."""
    if isinstance(likelihood, Discrete):
        return likelihood.with_spread(1.0)
    return replace(likelihood, power=1.0, spread=1.0)


def _evidence_of_labels(model: Foreign, known: Mask, rows: Rows, weight: Floats) -> float:
    """Log evidence without what it says of which labels are missing: to be compared with that of the labels alone."""
    likelihood: Likelihoods = model.likelihood_
    many = isinstance(likelihood, ClassLikelihood)
    missing = likelihood.missing if many else 0.5 * (likelihood.missing_negative + likelihood.missing_positive)
    functions = len(model.classes_) if many else 1
    said = weight[rows].sum() * np.log(missing) + weight[known].sum() * np.log1p(-missing)
    return float(model.log_evidence_ - functions * said)


def _take_over(model: Foreign, other: Foreign) -> None:
    """Let a model be what another one came to."""
    learned = {
        k: v for k, v in model.history_.items() if k in ("criterion", "theta", "form", "major", "learning_seconds")
    }
    fresh = {name: v for name, v in vars(other).items() if name.endswith("_") and not name.startswith("_")}
    model.__dict__.update(fresh)
    if other.learn is None:
        model.history_ = {**model.history_, **learned}
    model.__dict__.pop("_state", None)
