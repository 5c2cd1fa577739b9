"""Margin bounds of Meir and Zhang on the error of the classifier that takes the vote of the posterior."""

from math import ceil, log, sqrt

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from .gibbs import pay

__all__ = ["margin_bound", "margin_bound_meir_zhang"]

_RATIO = 1.01  # c: of two neighbouring margins that are tried
_SMALLEST = 1e-3  # margin that is tried


def margin_bound_meir_zhang(
    margins: Floats, divergence: float, delta: float, log_choices: float = 0.0, ratio: float = _RATIO
) -> float:
    r"""Theorem 3.4, for two classes and a prior that is the same when all signs are changed.

    .. math:: \frac{1}{n} \sum_i \phi(y_i f_i / \kappa) + \frac{4 c}{\kappa} \sqrt{\frac{2 A}{n}}
              + \sqrt{\frac{\log \log_c(2 / \kappa)}{n}} + \sqrt{\frac{\log(2 / (p \delta))}{2 n}}

    is at least the error with probability 1 - delta, for all kappa in (0, 1] at once; the smallest is returned. A is
    D[Q || P] rounded up to a whole number j, and p = 1 / (j (j + 1)). The Thesis prints the third term without its
    root, and so less than can be proved: Koltchinskii and Panchenko (2002, theorem 2) have it.

    Parameters
    ----------
    margins : array of shape (n,)
        y_i f_i, where f is the mean vote: the probability of +1 less that of -1.
    divergence : float
    delta : float
    log_choices : float
    ratio : float
        c > 1.
    """
    margins, n = _read(margins)
    level, log_levels = _level(divergence)
    kappa = np.geomspace(1.0, _SMALLEST, 400)
    root = sqrt((log(2.0) + log_levels + pay(delta, log_choices)) / (2.0 * n))
    grid = np.sqrt(np.maximum(np.log(np.log(2.0 / kappa) / log(ratio)), 0.0) / n)
    return float(min(1.0, np.min(_loss(margins, kappa) + 4.0 * ratio / kappa * sqrt(2.0 * level / n) + grid) + root))


def margin_bound(
    margins: Floats, divergence: float, delta: float, log_choices: float = 0.0, ratio: float = _RATIO
) -> float:
    r"""The same for any prior, and with half of the complexity term: symmetrisation and contraction without modulus.

    .. math:: \frac{1}{n} \sum_i \phi(y_i f_i / \kappa) + \frac{2}{\kappa} \sqrt{\frac{2 A}{n}}
              + \sqrt{\frac{\log(1 / (p q \delta))}{2 n}}

    for kappa = c^-k with q = 1 / ((k + 1) (k + 2)), k = 0, 1, ...: bounded differences for each, and the union bound
    (Meir and Zhang 2003). The smallest is returned.
    """
    margins, n = _read(margins)
    level, log_levels = _level(divergence)
    k = np.arange(ceil(log(1.0 / _SMALLEST) / log(ratio)))
    kappa = ratio ** -k.astype(np.float64)
    root = np.sqrt((np.log((k + 1.0) * (k + 2.0)) + log_levels + pay(delta, log_choices)) / (2.0 * n))
    return float(min(1.0, np.min(_loss(margins, kappa) + 2.0 / kappa * sqrt(2.0 * level / n) + root)))


def _read(margins: Floats) -> tuple[Floats, int]:
    margins = np.asarray(margins, dtype=np.float64)
    if margins.ndim != 1 or not len(margins) or not np.all(np.abs(margins) <= 1.0):
        raise ParameterError("margins are numbers between -1 and 1, one for each row")
    return margins, len(margins)


def _level(divergence: float) -> tuple[float, float]:
    """Return the level A that the relative entropy belongs to, and log(1 / p) of it."""
    j = max(1, ceil(divergence))
    return float(j), log(j) + log(j + 1.0)


def _loss(margins: Floats, kappa: Floats) -> Floats:
    """Mean of phi(margin / kappa), for every kappa: one below zero, zero above kappa, linear between."""
    ordered = np.sort(margins)
    below, inside = np.searchsorted(ordered, 0.0, side="right"), np.searchsorted(ordered, kappa)
    total = np.concatenate([[0.0], np.cumsum(ordered)])
    return np.asarray((inside - (total[inside] - total[below]) / kappa) / len(margins))
