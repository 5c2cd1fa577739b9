"""From options to an estimator."""

from dataclasses import replace
from typing import Any

import click
import numpy as np
from scipy import sparse

from .._types import Floats, Inputs
from ..errors import ParameterError
from ..estimators import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from ..kernels import MLP, Bias, Categorical, Kernel, Linear, On, Product, Scaled, Sum
from ..kernels import named as named_kernel
from ..kernels.named import of_scaled, of_variance
from ..machines.defaults import (
    CLASS_VARIANCE,
    ORDINAL_VARIANCE,
    REAL_LIKELIHOODS,
    column_spreads,
    latent_variance,
    length_scales,
    named,
)
from ..numerics.outliers import usual_reach
from ..tables import Encoded
from .targets import Target

__all__ = ["build", "check_pieces", "is_chosen", "starting_kernel"]

_LIKELIHOODS = {"classify": ("probit", "logit"), "regress": tuple(REAL_LIKELIHOODS), "ordinal": ("ordinal",)}


def check_pieces(options: dict[str, Any]) -> None:
    """Raise before anything is read where there is no such kernel, or no such likelihood for the task if it is said."""
    if not is_chosen(options):
        try:
            named_kernel(options["kernel"])
        except ParameterError as error:
            raise click.UsageError(f"--kernel: {error}") from error
    tasks = [options["task"]] if options["task"] else list(_LIKELIHOODS)
    known = [name for task in tasks for name in _LIKELIHOODS[task]]
    if options["likelihood"] and options["likelihood"] not in known:
        where = f" for --task {options['task']}" if options["task"] else ""
        raise click.UsageError(
            f"--likelihood {options['likelihood']}: there is none such{where}; choose {', '.join(known)}"
        )


def build(X: Inputs, target: Target, options: dict[str, Any]) -> Any:
    """Return an estimator that is ready to be fitted.

    Parameters
    ----------
    X : array or CSR matrix
    target : Target
    options : dict
        Those of the command ``fit``.
    """
    task = target.task
    likelihood = options["likelihood"] or _LIKELIHOODS[task][0]
    if likelihood not in _LIKELIHOODS[task]:
        raise ParameterError(
            f"--likelihood {likelihood} is not for --task {task}; choose {', '.join(_LIKELIHOODS[task])}"
        )
    transform = options["transform"]
    if transform != "identity" and (task != "regress" or options["ard"]):
        raise ParameterError(
            f"--transform {transform} is for numbers (--task regress), with a kernel by name and without --ard"
        )
    chosen = is_chosen(options)
    kernel: Kernel | str | None = None
    name = "rbf" if chosen else options["kernel"]
    if options["ard"] or (_is_linear(name) and isinstance(X, Encoded) and len(X.schema.codes)):
        kernel = starting_kernel(name, options["ard"], X, _variance(target, likelihood))
    elif not chosen:
        kernel = name
    own = isinstance(kernel, Kernel) and not kernel.shift_invariant  # which does not let columns be centred
    common = {
        "kernel": kernel, "likelihood": likelihood, "n_active": _at_most(options["active"], len(target.y)),
        "approximation": options["approximation"], "max_memory": options["memory"], "max_time": options["seconds"],
        "n_jobs": options["threads"], "random_state": options["seed"], "dtype": "float64" if own else "float32",
    }  # fmt: skip
    if task == "regress":
        return IVMRegressor(target=transform, **common)
    if task == "ordinal":
        return IVMOrdinalClassifier(categories=target.categories, **common)
    return IVMClassifier(**common)


def is_chosen(options: dict[str, Any]) -> bool:
    """Whether the form of the kernel is chosen from the data."""
    return bool(options["kernel"].strip().lower() == "auto")


def _at_most(active: Any, n: int) -> Any:
    return min(active, n) if isinstance(active, int) else active


def _variance(target: Target, likelihood: str) -> float:
    if target.task == "regress":
        return latent_variance(named(REAL_LIKELIHOODS, likelihood, target.y), target.y)
    return CLASS_VARIANCE if target.task == "classify" else ORDINAL_VARIANCE


def starting_kernel(name: str, ard: bool, X: Inputs, variance: float) -> Kernel:
    """Return a kernel to start learning from, with one length scale or relevance for each column if asked for.

    Parameters
    ----------
    name : str
        As ``infovec.kernels.named`` takes it, such as "rbf + linear".
    ard : bool
    X : array or CSR matrix
    variance : float
        Of the function before anything is known of it.
    """
    if isinstance(X, Encoded) and len(X.schema.codes):
        return _of_mixed(name, ard, X, variance)
    X = X.matrix if isinstance(X, Encoded) else X
    p, form = X.shape[1], named_kernel(name)
    scale: float | Floats = length_scales(*column_spreads(X))
    scale = np.array(np.broadcast_to(scale, (p,))) if ard else scale
    return of_variance(of_scaled(_with_relevances(form, p) if ard else form, _centre(X, form), scale), variance)


def _is_linear(name: str) -> bool:
    return name.strip().lower() == "linear"


def _centre(X: Inputs, form: Kernel) -> float | Floats:
    """Return where the origin is for a form that sees it: in the middle of dense columns."""
    return 0.0 if form.shift_invariant or sparse.issparse(X) else usual_reach(X)[0]


def _of_mixed(name: str, ard: bool, X: Encoded, variance: float) -> Kernel:
    """Return the same for rows with categories: both kinds of columns must be alike, but for a linear function."""
    codes, width = X.schema.codes, X.schema.width
    numbers = np.setdiff1d(np.arange(width), codes)
    relevance = np.full(len(codes), 1.0 / width) if ard else 1.0 / width
    if not len(numbers):
        return On(Categorical(relevance, variance), tuple(codes)) + Bias(0.1 * variance)
    matrix = X.matrix[:, numbers]
    if _is_linear(name):
        spread = np.where((found := column_spreads(matrix)[0]) > 0.0, found, 1.0)
        weights = On(Linear(variance / width, spread**-2.0), tuple(numbers))
        return weights + On(Categorical(relevance, variance), tuple(codes)) + Bias(0.1 * variance)
    scale = length_scales(*column_spreads(matrix)) * np.sqrt(width / len(numbers))
    scale = np.array(np.broadcast_to(scale, (len(numbers),))) if ard else scale
    form = named_kernel(name)
    origin = _centre(matrix, form)
    form = of_variance(of_scaled(_with_relevances(form, len(numbers)) if ard else form, origin, scale), variance)
    return On(form, tuple(numbers)) * On(Categorical(relevance), tuple(codes)) + Bias(0.1 * variance)


def _with_relevances(kernel: Kernel, p: int) -> Kernel:
    """Return a kernel whose dot products have a relevance for each column."""
    if isinstance(kernel, Sum | Product):
        return replace(kernel, left=_with_relevances(kernel.left, p), right=_with_relevances(kernel.right, p))
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=_with_relevances(kernel.kernel, p))
    if isinstance(kernel, Linear):
        return replace(kernel, relevance=np.ones(p))
    return replace(kernel, relevance=np.ones(p)) if isinstance(kernel, MLP) else kernel
