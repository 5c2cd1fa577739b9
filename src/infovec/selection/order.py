"""Sites of rows in a given order: the papers' algorithm without the choice."""

import numpy as np

from .._types import Floats, Inputs
from ..kernels import Kernel
from ..likelihoods import Likelihood, Site
from .inclusion import PoolStubs

__all__ = ["sites_in_order"]

_ROUNDING = 1e-13  # share of the prior variance below which a variance is rounding
_NOTHING = 1e-10  # precision of a site that says nothing, in units of the prior variance


def sites_in_order(kernel: Kernel, X: Inputs, y: Floats, likelihood: Likelihood) -> tuple[Floats, Floats]:
    """Precisions and means of the sites when the rows are included one after the other (NIPS03 algorithm 1).

    A row whose likelihood is not log-concave and has nothing to say at its turn gets a site of next to no precision.
    O(d^3), for d rows.
    """
    X = kernel.in_double(X)
    K = np.asarray(kernel(X), dtype=np.float64)
    d = len(K)
    pool = PoolStubs(K.__getitem__, np.empty((0, d)), np.zeros(d), np.diagonal(K).copy(), d)
    precision, site_mean = np.empty(d), np.empty(d)
    for t in range(d):
        pool.var[t] = max(pool.var[t], _ROUNDING * K[t, t])
        at = slice(t, t + 1)
        pi, b = _site(likelihood.take(np.array([t])), y[at], pool.mean[at], pool.var[at], K[t, t])
        pool.include(t, pi, b)
        precision[t], site_mean[t] = pi, b / pi
    return precision, site_mean


def _site(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats, prior: float) -> tuple[float, float]:
    """Precision of the site, and precision times mean."""
    site: Site = likelihood.site(y, mean, var, likelihood.tilted(y, mean, var))
    pi, b = float(site.precision[0]), float(site.b[0])
    least = _NOTHING / prior
    return (pi, b) if pi > least else (least, least * float(mean[0]))
