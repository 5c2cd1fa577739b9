"""Whether single precision is enough to choose rows by."""

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..numerics.sharpness import rows_left

__all__ = ["sufficient_precision"]

_SHARPEST = 5.0  # prior variance times nu up to which single precision orders the rows as double does
_APART = 5e-4  # of that, by which the best tenth of the rows must differ
_SAMPLE, _FIRST, _LAST = 256, 8, 32  # rows to find that out, and between how many inclusions among them


def sufficient_precision(
    asked: str, X: Inputs, y: Floats, priority: Floats, kernel: Kernel, likelihood: Likelihood
) -> str:
    """Precision that the stubs need: the one asked for, or double where single would go by rounding.

    A few inclusions among a sample of the rows tell. Single precision is enough as long as the rows left are uncertain
    by a fair share of their prior variance, or by less than the noise, and are not all alike. Where length scales are
    long or noise is low, or length scales so short that no row knows of another, it would choose other rows.
    """
    if asked != "float32":
        return asked
    at = np.argpartition(priority, _SAMPLE)[:_SAMPLE] if len(y) > _SAMPLE else np.arange(len(y))
    X, y, likelihood = X[at], y[at], likelihood.take(at)
    X = kernel.in_double(X)
    prior_var = np.asarray(kernel.diag(X), dtype=np.float64)
    on_sample = kernel.on(X)

    def covariance(i: int) -> Floats:
        row = np.array(on_sample(X[i : i + 1])[0], dtype=np.float64)
        row[i] = prior_var[i]
        return row

    sharp = 0.0
    for t, left in enumerate(rows_left(covariance, prior_var, lambda *a: likelihood.tilted(y, *a), _LAST), 1):
        sharp, good = np.quantile(left.sharpness, 0.9), np.quantile(left.reduction, 0.9)
        if t > _FIRST and np.max(left.reduction) - good < _APART * sharp:
            return "float64"
    return "float64" if sharp > _SHARPEST else asked
