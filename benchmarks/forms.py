"""Every form of every estimator, found in the tables that the estimators themselves choose from.

A form is a model that a user can ask for: an estimator, a posterior, a likelihood or a coupling of classes, and how it
learns. What joins those tables joins the benchmarks and tests of limits by itself.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.estimators.kinds import APPROXIMATIONS, MULTI_CLASS
from infovec.machines.defaults import CLASS_LIKELIHOODS, REAL_LIKELIHOODS

__all__ = ["Form", "forms", "problem"]


class Form(NamedTuple):
    """An estimator with its settings, and the kind of targets it is for."""

    name: str
    make: Any  # of further settings, the estimator
    targets: str  # "two", "many", "ordered", "real" or "counts"


def forms() -> Iterator[Form]:
    """Return all of them: estimators x posteriors x couplings of classes x likelihoods x learning on and off."""
    for posterior in APPROXIMATIONS:
        for learn in (None, "ep"):
            common = {"approximation": posterior, "learn": learn}
            end = f"{posterior}-{'learned' if learn else 'fixed'}"
            for name in CLASS_LIKELIHOODS:
                yield Form(f"{name}-{end}", partial(IVMClassifier, likelihood=name, **common), "two")
            for name in MULTI_CLASS:
                yield Form(f"many-{name}-{end}", partial(IVMClassifier, multi_class=name, **common), "many")
            yield Form(f"ordinal-{end}", partial(IVMOrdinalClassifier, **common), "ordered")
            for name, make in REAL_LIKELIHOODS.items():
                targets = "counts" if make(np.ones(2), None).counts else "real"
                yield Form(f"{name}-{end}", partial(IVMRegressor, likelihood=name, **common), targets)


def problem(targets: str, n: int, n_columns: int = 8, n_classes: int = 5, seed: int = 0) -> tuple[Any, Any]:
    """Return inputs and targets of a kind, of a smooth function with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2 % n_columns] + 0.3 * rng.normal(size=n)
    if targets == "real":
        return X, f
    if targets == "counts":
        return X, rng.poisson(np.exp(0.5 * f)).astype(float)
    parts = 2 if targets == "two" else n_classes
    return X, np.searchsorted(np.quantile(f, np.linspace(0.0, 1.0, parts + 1)[1:-1]), f)
