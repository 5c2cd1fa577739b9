"""Whether single precision is enough to infer with."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..shards import Basis, Beliefs, Group, WithSites, together

__all__ = ["SHARPEST", "SHARPEST_FOR_GRADIENTS", "sharp_sites", "too_sharp"]

SHARPEST = 1e3  # prior variance times site precision up to which rounding leaves variances to a few percent
SHARPEST_FOR_GRADIENTS = 300.0  # the same up to which the evidence and its gradient are good enough to climb by
_STRONGEST = 1e7  # pivot of I + V Pi V^T beside which single precision still sees the one of the prior,
_ADDED = 4096  # times the root of the sums of so many rows: rounding of sums that are added up in double cancels out
_SHARE = 0.1  # of the rows that may be sharper
_SAMPLE = 256  # rows to find out before there are sites


def sharp_sites(X: Inputs, y: Floats, priority: Floats, kernel: Kernel, likelihood: Likelihood) -> bool:
    r"""Whether sites that rows would have under the prior are too sharp for single precision, by a sample of rows.

    .. math:: (k(x, x) - \bar k) \, \pi, \qquad \pi = \frac{\nu}{1 - a \nu}, \qquad a = k(x, x)

    With Gaussian noise that is the ratio of signal to noise. What all rows have in common, their mean covariance, does
    not count: however large a bias may be, rounding of it does not tell rows apart.
    """
    at = np.argpartition(priority, _SAMPLE)[:_SAMPLE] if len(y) > _SAMPLE else np.arange(len(y))
    X, y, likelihood = X[at], y[at], likelihood.take(at)
    K = np.asarray(kernel(kernel.in_double(X)), dtype=np.float64)
    prior_var, zero = np.diagonal(K).copy(), np.zeros(len(y))
    site = likelihood.site(y, zero, prior_var, likelihood.tilted(y, zero, prior_var))
    sharp = (prior_var - np.mean(K)) * np.asarray(site.precision) > SHARPEST
    return bool(np.count_nonzero(sharp) > _SHARE * len(y))


def too_sharp(
    shards: Sequence[WithSites] | Group, basis: Basis, beliefs: Beliefs, dtype: str, sharpest: float = SHARPEST
) -> bool:
    r"""Whether the products of shards in single precision leave too little of what they have inferred.

    Rounding moves :math:`I + V \Pi V^T` by about its largest entry times 6e-8, less where many chunks of rows are added
    up in double precision, while the directions that the rows say nothing about have an eigenvalue of one; and it moves
    variances by about 1e-5 of those of the prior.
    """
    if dtype != "float32":
        return False
    pivots = np.sort(np.einsum("...ij,...ij->...i", beliefs.Q, beliefs.Q), axis=-1)
    strongest = np.max(pivots[..., -2:-1], initial=1.0)  # the first is mostly that of what rows have in common
    common = np.mean(np.sum(basis.L, axis=0) ** 2) / len(basis.L) if len(basis.L) else 0.0
    sharp, n = together(shards).reduce("sharpness", float(common), sharpest)
    return bool(strongest > _STRONGEST * np.sqrt(max(n / _ADDED, 1.0)) or sharp > _SHARE * n)
