"""Which rows may be included, and in which order."""

import numpy as np

from .._types import Floats, Mask
from ..likelihoods import Likelihood
from ..scores import Score

__all__ = ["break_ties", "open_scores"]

_MIN_PRECISION = 1e-8  # of a site, in units of the prior precision of its row (SLH algorithm 1, epsilon)
_TIE = 1e-10  # scores that agree to this fraction are ties
_NOTHING = 1e-290  # what breaks ties between scores of zero: less than any score, and a number with all its digits


def open_scores(
    score: Score,
    likelihood: Likelihood,
    y: Floats,
    mean: Floats,
    var: Floats,
    prior_var: Floats,
    taken: Mask,
    min_var: float,
) -> Floats:
    """Score of every row; -inf where a row must not be included.

    Left out are rows already included, rows whose variance is rounding (below ``min_var`` of the prior), and
    rows whose site would be too flat: precision below 1e-8 of the prior precision, or negative (a likelihood
    that is not log-concave); and rows without a finite score.
    """
    log_z, g, nu = likelihood.tilted(y, mean, np.maximum(var, min_var * prior_var))
    precision = nu / np.maximum(1.0 - var * nu, 1e-15)  # as in ``Likelihood.site``
    open_ = ~taken & (var > min_var * prior_var) & (precision * prior_var > _MIN_PRECISION)
    value = score(log_z, g, nu, mean, var)
    return np.where(open_ & np.isfinite(value), value, -np.inf)


def break_ties(value: Floats, priority: Floats) -> Floats:
    """Scores with ties broken by ``priority``, each on the scale of its own score: so those of any rows compare."""
    known = np.where(np.isfinite(value), value, 0.0)
    return value + np.maximum(_TIE * np.abs(known), _NOTHING) * priority
