"""What the Gibbs classifier says of a row: the probability that a draw of the latent functions decides for a class."""

from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import dawsn, log_ndtr, ndtr

from .._types import Floats
from ..runtime import at_once

__all__ = ["Votes", "votes_of_classes", "votes_of_ordered", "votes_of_two"]

_REACH = 7.0  # deviations; what is beyond has a probability of 1.3e-12
_STEPS = 5.0  # in the smallest deviation of a row: an error of about exp(-2 pi 5)
_MOST = 20_000  # nodes of a row, beyond which its steps are longer and its error is larger
_FINEST = 1e-9  # deviation in units of the means, below which rounding is felt and nothing is claimed
_BYTES = 64 * 2**20


class Votes(NamedTuple):
    """Probabilities of the classes for every row, and how far they may be from the true ones."""

    probability: Floats  # (n, C)
    error: Floats  # (n,): of each class of the row


def votes_of_two(mean: Floats, var: Floats) -> Votes:
    r"""Probability that one function, its bias included, is negative or positive (Thesis 3.20).

    .. math:: P(f > 0) = \Phi(\mu / \sigma)

    A function that is certain to be zero is no vote for either.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(mean == 0.0, 0.0, mean / np.sqrt(var))
    return Votes(np.column_stack([ndtr(-r), ndtr(r)]), np.zeros(len(mean)))


def votes_of_ordered(mean: Floats, var: Floats, cuts: Floats) -> Votes:
    r"""Probability that one function lies between two cut points.

    .. math:: P(c_y < f \le c_{y+1}) = \Phi\Bigl(\frac{c_{y+1} - \mu}{\sigma}\Bigr)
              - \Phi\Bigl(\frac{c_y - \mu}{\sigma}\Bigr)
    """
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(ends == mean[:, None], 0.0, (ends - mean[:, None]) / np.sqrt(var)[:, None])
    lower, upper = z[:, :-1], z[:, 1:]
    far = lower > 0.0  # where the upper tails do not cancel
    return Votes(np.where(far, ndtr(-lower) - ndtr(-upper), ndtr(upper) - ndtr(lower)), np.zeros(len(mean)))


def votes_of_classes(mean: Floats, var: Floats) -> Votes:
    r"""Probability that the function of a class, its bias included, is the largest of independent ones.

    .. math:: P(c) = \int N(t \mid \mu_c, \sigma_c^2) \prod_{j \ne c} \Phi\Bigl(\frac{t - \mu_j}{\sigma_j}\Bigr) dt

    by the trapezoidal rule with steps h, which for a function that is analytic in the strip of width a about the real
    line is wrong by no more than

    .. math:: \frac{2 M}{e^{2 \pi a / h} - 1}, \qquad
              M = e^{a^2 / 2 \sigma_c^2} \prod_{j \ne c} \Bigl(1 + \phi(0) \int_0^{a / \sigma_j} e^{s^2 / 2} ds\Bigr)

    (Trefethen and Weideman 2014, theorem 5.1), since Phi of a complex number is no further from the real one than
    that. What is cut off at either end is added. A bound, not an estimate: ``error`` has it for every row.

    Parameters
    ----------
    mean, var : array of shape (n, C)
    """
    size = _FINEST * np.abs(mean).max(axis=1, keepdims=True) + 1e-150
    sd = np.maximum(np.sqrt(var), size)
    low, high = np.max(mean - _REACH * sd, axis=1), np.max(mean + _REACH * sd, axis=1)
    least = sd.min(axis=1)
    nodes = np.ceil(np.minimum(_STEPS * (high - low) / least, _MOST)).astype(np.intp) + 2
    probability = np.empty(mean.shape)
    order = np.argsort(nodes, kind="stable")
    start = 0
    while start < len(order):  # rows that need about as many nodes, in blocks of bounded memory
        rows = order[start : start + max(1, at_once(_BYTES, 1.0) // (32 * mean.shape[1] * int(nodes[order[start]])))]
        rows = rows[nodes[rows] <= 2 * nodes[rows[0]]]
        nodes[rows] = nodes[rows].max()
        probability[rows] = _trapezoids(mean[rows], sd[rows], low[rows], high[rows], int(nodes[rows[0]]))
        start += len(rows)
    error = np.where(np.any(np.sqrt(var) <= size, axis=1), 1.0, _error(sd, (high - low) / (nodes - 1)))
    return Votes(probability, error)


def _trapezoids(mean: Floats, sd: Floats, low: Floats, high: Floats, nodes: int) -> Floats:
    t = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, nodes)
    z = (t[:, None, :] - mean[:, :, None]) / sd[:, :, None]
    log_phi = log_ndtr(z)
    log_weight = log_phi.sum(axis=1)[:, None, :] - log_phi - 0.5 * z**2
    step = ((high - low) / (nodes - 1))[:, None]
    return np.asarray(np.exp(log_weight).sum(axis=2) * step / (sqrt(2.0 * pi) * sd))


def _error(sd: Floats, step: Floats) -> Floats:
    """Return the smallest bound on the error over some widths of the strip, and what is beyond both ends."""
    found = np.ones(len(sd))
    for width in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
        a = width * sd.min(axis=1, keepdims=True)
        s = a / sd
        growth = 1.0 + sqrt(1.0 / pi) * np.exp(0.5 * s**2) * dawsn(s / sqrt(2.0))  # dawsn has the integral
        log_m = np.log(growth).sum(axis=1) + 0.5 * width**2
        with np.errstate(over="ignore"):
            found = np.minimum(found, 2.0 * np.exp(log_m) / np.expm1(2.0 * pi * a[:, 0] / step))
    return np.minimum(1.0, found + 2.0 * ndtr(-_REACH))
