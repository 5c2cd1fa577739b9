"""Fitted attributes: what each must be, by itself and beside the others."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ..._types import Array
from ...errors import ModelFileError
from ...likelihoods import Discrete, Likelihood
from ...likelihoods.classes import ClassLikelihood
from ...numerics.residuals import LEVELS
from ...persistence.values import array, array_of_floats, flag, must, number, refuse, text, whole
from ...posterior import ModePosterior, SeparateAuxiliaryPosterior, SeparatePosterior
from ...tables import TableSchema
from .history import check_diagnostics, check_history
from .posterior import check_kernel, check_posterior, near_inputs, same_inputs, same_kernel

__all__ = ["FITTED", "OPTIONAL", "About", "Check"]

_MOST_CLASSES = 10_000


class About(NamedTuple):
    """The estimator that a field belongs to, and all fields."""

    estimator: type
    fitted: dict[str, Any]

    @property
    def n_classes(self) -> int:
        """Classes; zero for numbers."""
        return len(self.fitted["classes_"]) if "classes_" in self.fitted else 0

    @property
    def ordered(self) -> bool:
        """Whether the classes have an order, and one function for all."""
        return "categories_" in self.fitted

    @property
    def n_functions(self) -> int:
        """Latent functions: one for each class where there are more than two without an order."""
        return self.n_classes if self.n_classes > 2 and not self.ordered else 1

    @property
    def n_active(self) -> int:
        """Active rows."""
        return int(self.fitted["posterior_"].X.shape[0])


Check = Callable[[object, str, About], object]


def _classes(value: object, where: str, about: About) -> None:
    labels: Array = array(value, where, "biufUSO", (None,))
    must(2 <= len(labels) <= _MOST_CLASSES, where, f"from 2 to {_MOST_CLASSES} labels", labels)
    listed = labels.tolist()
    plain = all(isinstance(label, str | bytes | bool | int | float) and label == label for label in listed)
    must(plain, where, "texts or numbers", labels)
    if len(set(listed)) != len(listed):
        raise ModelFileError(f"{where} must be different labels, and has one of them twice")
    must(len({type(label) for label in listed}) == 1, where, "labels of one type", labels)
    if sorted(listed) != listed:
        raise ModelFileError(f"{where} must be in ascending order")


def _categories(value: object, where: str, about: About) -> None:
    labels, classes = array(value, where, "biufUSO", (about.n_classes,)), about.fitted["classes_"]
    same = labels.dtype == classes.dtype and sorted(labels.tolist()) == classes.tolist()
    must(same, where, "the labels of classes_ from lowest to highest", labels)


def _n_classes(value: object, where: str, about: About) -> None:
    must(whole(value, where) == about.n_classes, where, f"{about.n_classes}, as there are classes_", value)


def _posterior(value: object, where: str, about: About) -> None:
    check_posterior(value, where, about.n_functions)


def _kernel(value: object, where: str, about: About) -> None:
    """The kernel of the posterior, or a list of those of its parts."""
    posterior = about.fitted["posterior_"]
    if isinstance(posterior, SeparatePosterior):
        own = [part.kernel for part in posterior.parts]
    elif isinstance(posterior, SeparateAuxiliaryPosterior | ModePosterior):
        own = list(posterior.kernels)
    else:
        own = []
    given = value if isinstance(value, list) else [value] * max(1, len(own))
    must(given is not value or len(given) == len(own) > 0, where, "a kernel, or one for each class", value)
    kernels = [check_kernel(kernel, where) for kernel in given]
    matching = zip([*kernels, kernels[0]], [*(own or [posterior.kernel]), posterior.kernel], strict=True)
    if not all(same_kernel(one, other) for one, other in matching):
        raise ModelFileError(f"{where} must be the kernel of posterior_, and is another one")


def _active_vectors(value: object, where: str, about: About) -> None:
    posterior = about.fitted["posterior_"]
    if not near_inputs(value, posterior.X, posterior.kernel):
        raise ModelFileError(f"{where} must be the inputs of posterior_, and are others")


def _class_shift(value: object, where: str, about: About) -> None:
    shift = array_of_floats(value, where, (about.n_classes,), finite=False)
    good = bool(np.all(shift < np.inf)) and bool(np.any(shift > -np.inf))  # which no NaN is
    must(good, where, "logarithms of weights, some of them positive", value)


def _residuals(value: object, where: str, about: About) -> None:
    quantiles = array_of_floats(value, where, (len(LEVELS),))
    must(bool(np.all(np.diff(quantiles) >= 0.0)), where, "in ascending order", value)


def _n_features(value: object, where: str, about: About) -> None:
    X = about.fitted["posterior_"].X
    must(X.ndim == 2, where, "left out, since inputs are no rows of numbers", value)
    table = about.fitted.get("table_")
    p = len(table.columns) if isinstance(table, TableSchema) else X.shape[1] - ("tasks_" in about.fitted)
    must(whole(value, where) == p, where, f"{p}, as there are columns in active_vectors_", value)


def _table(value: object, where: str, about: About) -> None:
    must(isinstance(value, TableSchema), where, "a TableSchema", value)
    assert isinstance(value, TableSchema)
    X = about.fitted["posterior_"].X
    must(isinstance(X, np.ndarray) and X.ndim == 2, where, "left out, since inputs are no rows of numbers", value)
    p = X.shape[1] - ("tasks_" in about.fitted)  # which are one more column
    if value.width != p:
        raise ModelFileError(f"{where} makes rows of {value.width} numbers, and the model takes {p}")


def _tasks(value: object, where: str, about: About) -> None:
    labels = array(value, where, "biufUS", (None,)).tolist()
    must(len(labels) >= 1 and all(label == label for label in labels), where, "labels", value)
    if sorted(set(labels)) != labels:
        raise ModelFileError(f"{where} must be different labels in ascending order")


def _feature_names(value: object, where: str, about: About) -> None:
    must("n_features_in_" in about.fitted, where, "left out, since inputs are no rows of numbers", value)
    names = array(value, where, "O", (about.fitted["n_features_in_"],)).tolist()
    must(all(isinstance(name, str) for name in names), where, "texts", value)


def _active(value: object, where: str, about: About) -> None:
    """Row numbers; those of one row that counts several times are the same, and so are then its inputs."""
    n = about.fitted["n_samples_fit_"]
    rows = array(value, where, "i", (about.n_active,))
    if np.any((rows < 0) | (rows >= n)):
        raise ModelFileError(
            f"{where} must be row numbers from 0 to {n - 1}, and has {int(rows.min())} to {rows.max()}"
        )
    virtual = np.asarray(about.fitted.get("virtual_", False))  # images have the numbers of the rows that they are of
    own = np.flatnonzero(~virtual) if virtual.dtype == bool and virtual.shape == rows.shape else np.arange(len(rows))
    first, index = np.unique(rows[own], return_index=True, return_inverse=True)[1:]
    moved = about.fitted.get("moved_", False) is True  # to places of their own, in each class that a row is active in
    again = np.flatnonzero(first[index] != np.arange(len(own))) if not moved else np.empty(0, dtype=np.intp)
    X = about.fitted["posterior_"].X
    if again.size and not same_inputs(X[own[again]], X[own[first[index[again]]]]):
        raise ModelFileError(f"{where} must be different row numbers, and has {int(rows[own[again[0]]])} twice")


def _virtual(value: object, where: str, about: About) -> None:
    array(value, where, "b", (about.n_active,))


def _sites(value: object, where: str, about: About) -> None:
    many = (about.n_functions,) if about.n_functions > 1 else ()
    array_of_floats(value, where, (about.n_active, *many), finite=False)


def _likelihood(value: object, where: str, about: About) -> None:
    C = about.n_classes
    if about.n_functions > 1:
        fits = isinstance(value, ClassLikelihood) and value.n_classes == C
        must(fits, where, f"a likelihood of {C} classes", value)
    elif C:
        fits = isinstance(value, Discrete) and len(value.labels) == C
        must(fits, where, f"a likelihood of {C} {'ordered ' if about.ordered else ''}classes", value)
    else:
        fits = isinstance(value, Likelihood) and not isinstance(value, Discrete)
        must(fits, where, "a likelihood of numbers", value)
        must(np.size(getattr(value, "variance", 1.0)) > 0, where, "a likelihood with a variance", value)


def _history(value: object, where: str, about: About) -> None:
    check_history(value, where, about.fitted.get("active_"))


def _diagnostics(value: object, where: str, about: About) -> None:
    """Numbers and arrays of draws, where there were any."""
    kernel = about.fitted["kernel_"]
    check_diagnostics(value, where, (kernel[0] if isinstance(kernel, list) else kernel).theta.size)


def _unlabelled(value: object, where: str, about: About) -> None:
    names = ("rows", "helps", "width", "log_evidence", "supervised_log_evidence", "loss", "supervised_loss")
    if not isinstance(value, dict) or set(value) != set(names):
        refuse(where, f"a dict of {', '.join(names)}", value)
    whole(value["rows"], where, 1)
    flag(value["helps"], where)
    for name in names[2:]:
        number(value[name], where, finite=False)


FITTED: Final[dict[str, Check]] = {
    "n_samples_fit_": lambda value, where, about: whole(value, where, 1),
    "fit_seconds_": lambda value, where, about: number(value, where, 0.0),
    "log_evidence_": lambda value, where, about: number(value, where, finite=False),
    "converged_": lambda value, where, about: flag(value, where),
    "stop_reason_": lambda value, where, about: text(value, where),
    "dtype_": lambda value, where, about: must(value in ("float32", "float64"), where, "float32 or float64", value),
    "classes_": _classes,
    "categories_": _categories,
    "n_classes_": _n_classes,
    "class_shift_": _class_shift,
    "residual_quantiles_": _residuals,
    "posterior_": _posterior,
    "kernel_": _kernel,
    "likelihood_": _likelihood,
    "active_vectors_": _active_vectors,
    "tasks_": _tasks,
    "table_": _table,
    "n_features_in_": _n_features,
    "feature_names_in_": _feature_names,
    "active_": _active,
    "site_precision_": _sites,
    "site_mean_": _sites,
    "history_": _history,
    "diagnostics_": _diagnostics,
    "virtual_": _virtual,
    "unlabelled_": _unlabelled,
    "outputs_": lambda value, where, about: refuse(where, "left out of a model of one target", value),
    "moved_": lambda value, where, about: flag(value, where),
}
"""The check of every fitted attribute, by name; it may look at those before it."""

OPTIONAL: Final = frozenset(
    {"outputs_", "n_features_in_", "feature_names_in_", "table_", "tasks_", "unlabelled_", "virtual_", "moved_"}
)
"""Attributes that not every fitted estimator has."""
