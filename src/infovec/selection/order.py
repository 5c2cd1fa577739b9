"""Sites of rows in a given order: the papers' algorithm without the choice."""

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood, Site

__all__ = ["sites_in_order"]

_NOTHING = 1e-10  # precision of a site that says nothing, in units of the prior variance


def sites_in_order(kernel: Kernel, X: Inputs, y: Floats, likelihood: Likelihood) -> tuple[Floats, Floats]:
    """Precisions and means of the sites when the rows are included one after the other (NIPS03 algorithm 1).

    A row whose likelihood is not log-concave and has nothing to say at its turn gets a site of next to no precision.
    O(d^3), for d rows.
    """
    X = kernel.in_double(X)
    K = np.asarray(kernel(X), dtype=np.float64)
    d = len(K)
    M, beta = np.zeros((d, d)), np.zeros(d)
    precision, site_mean = np.empty(d), np.empty(d)
    for t in range(d):
        stub, at = M[:t, t], slice(t, t + 1)
        mean = np.atleast_1d(beta[:t] @ stub)
        var = np.atleast_1d(max(K[t, t] - stub @ stub, 1e-13 * K[t, t]))
        pi, b = _site(likelihood.take(np.array([t])), y[at], mean, var, K[t, t])
        root, corner = np.sqrt(pi), np.sqrt(1.0 + pi * var[0])  # SLH C.1
        M[t, t:] = (root / corner) * (K[t, t:] - stub @ M[:t, t:])
        beta[t] = (b - pi * mean[0]) / (root * corner)
        precision[t], site_mean[t] = pi, b / pi
    return precision, site_mean


def _site(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats, prior: float) -> tuple[float, float]:
    """Precision of the site, and precision times mean."""
    site: Site = likelihood.site(y, mean, var, likelihood.tilted(y, mean, var))
    pi, b = float(site.precision[0]), float(site.b[0])
    least = _NOTHING / prior
    return (pi, b) if pi > least else (least, least * float(mean[0]))
