"""A number that says how certain predictions are, from a few labels that were predicted: averaged, not fitted."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from .._types import Floats, Rows

__all__ = ["POWER", "SPREAD", "Belief", "equivalent"]

_STEP = 0.125  # between the logarithms that are averaged over
_SHARP = 0.1  # deviation of the logarithm below which its most probable value will do; the sum is exact to 1e-5 there
_REACH = 12.0  # deviations of the logarithm from its mode beyond which there is nothing
_NIL = 1e-8  # share of the average that is left out


class Belief(NamedTuple):
    """What is believed of the logarithm of a positive number beforehand: normal, between two ends."""

    mean: float
    std: float
    low: float
    high: float

    def log_density(self, log: float) -> float:
        """Up to a constant."""
        return -0.5 * ((log - self.mean) / self.std) ** 2


SPREAD = Belief(3.0, 2.0, float(np.log(1e-3)), float(np.log(100.0)))
"""Of the share of the latent variances that counts. Parameters that were learned from few rows are themselves
uncertain; averaged over all that they may be, predictions are as if the variances were several times as large."""

POWER = Belief(-1.0, 1.0, -float(np.log(10.0)), float(np.log(10.0)))
"""Of the power of probabilities, for the same reason less than one before rows say otherwise."""


def equivalent(log_proba: Callable[[float], Floats], own: Rows, weight: Floats, belief: Belief) -> float:
    r"""Return the number with which predictions are nearest to those averaged over all that it may be.

    .. math:: \min_t \; -\sum_i w_i \sum_c \bar p_{ic} \log p_{ic}(t), \qquad
              \bar p_{ic} = \sum_k \pi_k \, p_{ic}(t_k), \qquad
              \pi_k \propto N(\log t_k \mid m, v^2) \prod_i p_{i c_i}(t_k)^{w_i}

    Few rows that are all predicted right ask for certainty without end, so that the most probable number is far bolder
    than they justify. The average remembers the numbers with which they are predicted right too, but less surely. Where
    the rows say what the number is the two are the same, and the most probable one is taken.

    Parameters
    ----------
    log_proba : callable
        Returns the log probability of every class, shape (n, C), given the number.
    own : array of int, shape (n,)
        The classes that the rows have.
    weight : array of shape (n,)
    belief : Belief
    """
    at, ends = (np.arange(len(own)), own), (belief.low, belief.high)

    def surprise(log: float) -> float:
        return -float(weight @ log_proba(float(np.exp(log)))[at]) - belief.log_density(log)

    mode = float(minimize_scalar(surprise, bounds=ends, method="bounded", options={"xatol": 1e-3}).x)
    bend = surprise(mode + _STEP) - 2.0 * surprise(mode) + surprise(mode - _STEP)
    if bend * _SHARP**2 > _STEP**2:
        return float(np.exp(mode))
    near = _REACH * _STEP / np.sqrt(max(bend, 1e-300))
    logs = np.linspace(*ends, 1 + int(np.ceil((belief.high - belief.low) / _STEP)))
    logs = logs[np.abs(logs - mode) <= near + _STEP]
    share = -np.array([surprise(log) for log in logs])
    share = np.exp(share - share.max())
    kept = [(s, float(np.exp(log))) for s, log in zip(share / share.sum(), logs, strict=True) if s > _NIL]
    average = sum(s * np.exp(log_proba(number)) for s, number in kept)
    wanted = weight[:, None] * average

    def distance(log: float) -> float:
        return -float(np.sum(wanted * log_proba(float(np.exp(log)))))

    return float(np.exp(minimize_scalar(distance, bounds=ends, method="bounded", options={"xatol": 1e-3}).x))
