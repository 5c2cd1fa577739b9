"""The transform of real targets that a user asks for, or that the data ask for."""

from typing import Final, cast

import numpy as np

from .._types import Floats, Foreign
from ..errors import ParameterError
from ..kernels import Kernel
from ..likelihoods import Discrete, Gaussian, Laplace, Likelihood, StudentT, Transformed, plain
from ..machines.defaults import REAL_LIKELIHOODS, default_kernel, named
from ..machines.sample import Sample
from ..machines.targets import LEAST, Trial, power_of, some_rows, transform_for
from ..numerics.monotone import Log, Monotone
from .settings import check_choice
from .tasks import codes_of, gaps_of, kernel_on
from .values import form_of, given_kernel

__all__ = ["TARGETS", "transform_of"]

TARGETS: Final = ("auto", "identity", "log", "yeo-johnson")
_HEAVY = 0.5  # power where noise has heavy tails: targets that have a mean whatever is learned


def transform_of(model: Foreign, sample: Sample) -> tuple[Monotone | None, str | Likelihood]:
    """Return the transform of the targets, if there is one, and the likelihood of what they then are."""
    check_choice("target", model.target, TARGETS)
    given: str | Likelihood = model.likelihood
    some = named(REAL_LIKELIHOODS, given, np.zeros(1))
    if isinstance(some, Discrete):
        raise ParameterError(
            f"{type(some).__name__} is a likelihood for classes; use IVMClassifier or IVMOrdinalClassifier"
        )
    if isinstance(given, Transformed):
        _check_positive(given.transform, sample)
        return given.transform, given.likelihood
    if model.target == "identity":
        return None, given
    if model.target == "auto":
        asked = given == "gaussian" and given_kernel(model.kernel) is None and model.learn is not None
        positive = bool(Log().admits(sample.y).all())
        return (transform_for(_trial(model, sample), positive) if asked else None), given
    if not isinstance(plain(some), Gaussian | Laplace | StudentT):
        raise ParameterError(
            f"target={model.target!r} transforms targets with noise that is added, 'gaussian', 'laplace' or 'student_t'"
            f", and {type(some).__name__} is another one; leave target='identity'"
        )
    if plain(some) is not some:
        raise ParameterError(
            f"target={model.target!r} takes weights as sample_weight; give the likelihood without them, and "
            "fit(..., sample_weight=...)"
        )
    if model.target == "log":
        _check_positive(Log(), sample)
        return Log(), given
    return power_of(_trial(model, sample), LEAST if isinstance(some, Gaussian) else _HEAVY), given


def _check_positive(transform: Monotone, sample: Sample) -> None:
    """Refuse targets without a transform, by their row in what was given."""
    good = transform.admits(sample.y)
    if not good.all():
        row = int(np.argmin(good))
        raise ParameterError(
            f"targets must be positive to have a logarithm, and row {sample.rows[row]} has {float(sample.y[row]):g}; "
            "use target='yeo-johnson', which takes any number, or 'identity'"
        )


def _trial(model: Foreign, sample: Sample) -> Trial:
    """Return a small dense model of some rows, with the kernel that was given or one of the default form."""
    at = some_rows(len(sample.y))
    X, weight = sample.X[at], None if sample.weight is None else sample.weight[at]
    y: Floats = np.asarray(sample.y[at], dtype=np.float64)
    folds = None if sample.folds is None else sample.folds[at]
    if given_kernel(model.kernel) is not None:
        return Trial.of(X, y, weight, cast(Kernel, kernel_on(model, X)), scaled=False, folds=folds)
    kernel = default_kernel(X, 1.0, weight, form_of(model.kernel), codes_of(model), gaps_of(model))
    return Trial.of(X, y, weight, kernel, scaled=True, folds=folds)
