"""Whether single precision is enough to choose rows by."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood, Tilted
from .inclusion import PoolStubs

__all__ = ["rows_left", "sufficient_precision"]

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
    for t, (sharpness, reduction) in enumerate(
        rows_left(covariance, prior_var, partial(likelihood.tilted, y), _LAST), 1
    ):
        sharp, good = np.quantile(sharpness, 0.9), np.quantile(reduction, 0.9)
        if t > _FIRST and np.max(reduction) - good < _APART * sharp:
            return "float64"
    return "float64" if sharp > _SHARPEST else asked


def rows_left(
    covariance: Callable[[int], Floats], prior_var: Floats, tilted: Callable[[Floats, Floats], Tilted], steps: int
) -> Iterator[tuple[Floats, Floats]]:
    r"""Include the rows that explain most, and yield how sharp the others are, and how much each would reduce entropy.

    .. math:: i = \arg\max_j a_j \nu_j, \qquad s_j = k(x_j, x_j) \, \nu_j, \qquad r_j = -\tfrac12 \log(1 - a_j \nu_j)

    Rounding to a precision eps moves a variance a by about eps k(x, x), and so r by about eps s. With Gaussian noise s
    is the prior variance over the predictive variance of the target.
    """
    n = len(prior_var)
    pool = PoolStubs(covariance, np.empty((0, n)), np.zeros(n), np.array(prior_var), min(steps, n - 1))
    taken = np.zeros(n, dtype=bool)
    _, g, nu = tilted(pool.mean, pool.var)
    for _ in range(len(pool.R)):
        explained = np.where(taken, -np.inf, pool.var * nu)
        i = int(np.argmax(explained))
        if not explained[i] > 0.0:
            break
        rest = max(1.0 - explained[i], 1e-15)
        pool.include(i, nu[i] / rest, (g[i] + pool.mean[i] * nu[i]) / rest)  # SLH eq. 7
        taken[i] = True
        _, g, nu = tilted(pool.mean, pool.var)
        reduction = -0.5 * np.log1p(-np.minimum(pool.var * nu, 1.0 - 1e-15))
        yield (prior_var * nu)[~taken], reduction[~taken]
