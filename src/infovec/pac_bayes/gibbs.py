"""PAC-Bayesian theorems about the Gibbs classifier: the numbers that they are made of."""

from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from ..errors import ParameterError
from .bernoulli import relative_entropy_lower, relative_entropy_upper

__all__ = [
    "Interval",
    "bayes_upper",
    "bounded_loss",
    "check_delta",
    "gibbs",
    "gibbs_maurer",
    "hoeffding_loss",
    "log_moment",
    "log_moment_maurer",
    "pay",
]

_EXACT = 1_000_000  # rows up to which the moment is summed


class Interval(NamedTuple):
    """What lies between both ends with probability 1 - delta."""

    lower: float
    upper: float


def check_delta(delta: float) -> float:
    """Return a probability to be wrong, checked."""
    if not (isinstance(delta, int | float | np.floating) and 0.0 < delta < 1.0):
        raise ParameterError(f"delta is the probability that the bound fails, between 0 and 1; got {delta!r}")
    return float(delta)


def pay(delta: float, log_choices: float) -> float:
    """Return log(1 / delta) where something was chosen among so many candidates, listed before the rows were seen.

    By the union bound each of them has a share of delta (Thesis 3.3.1). The logarithm of their number is taken.
    """
    if not log_choices >= 0.0:
        raise ParameterError(f"there is at least one candidate; got {exp(log_choices):g}")
    return log_choices - log(check_delta(delta))


def gibbs(error: float, divergence: float, n: int, delta: float, log_choices: float = 0.0) -> Interval:
    r"""Theorem 3.1: the error of the Gibbs classifier on new rows, from that on n independent rows.

    .. math:: D[\hat{e} \| e] \le \frac{1}{n} \Bigl(D[Q \| P] + \log\frac{n + 1}{\delta}\Bigr)

    with probability 1 - delta for all Q at once. P must not depend on the rows; both ends hold together.

    Parameters
    ----------
    error : float
        Mean over the rows of the probability to be wrong.
    divergence : float
        Relative entropy D[Q || P] of posterior to prior, in nats.
    n : int
    delta : float
    log_choices : float
        Logarithm of the number of priors that P was chosen among by the same rows.
    """
    return _ends(error, (_finite(divergence) + log(n + 1.0) + pay(delta, log_choices)) / _rows(n))


def gibbs_maurer(error: float, divergence: float, n: int, delta: float, log_choices: float = 0.0) -> Interval:
    r"""Theorem 3.1 with the exact moment in place of n + 1, about the root of n (Maurer 2004). Never wider.

    .. math:: D[\hat{e} \| e] \le \frac{1}{n} \Bigl(D[Q \| P] + \log\frac{C_2(n)}{\delta}\Bigr)

    It holds for every loss between 0 and 1, errors of any number of classes among them.
    """
    return _ends(error, (_finite(divergence) + log_moment(n) + pay(delta, log_choices)) / _rows(n))


def log_moment(n: int) -> float:
    r"""Logarithm of the largest moment :math:`\mathrm{E} \exp(n D[\hat{p} \| p])` of a coin thrown n times.

    .. math:: C_2(n) = \sum_{k=0}^n \binom{n}{k} \Bigl(\frac{k}{n}\Bigr)^k \Bigl(1 - \frac{k}{n}\Bigr)^{n-k}

    which is the moment whatever p is, if not 0 or 1; at most 2 sqrt(n) from 8 rows on (Maurer 2004), which is taken
    where there are more than a million.
    """
    n = _rows(n)
    if n > _EXACT:
        return log_moment_maurer(n)
    k = np.arange(n + 1.0)
    log_choose = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return float(logsumexp(log_choose + xlogy(k, k / n) + xlogy(n - k, 1.0 - k / n)))


def log_moment_maurer(n: int) -> float:
    """Logarithm of 2 sqrt(n), the bound of Maurer (2004) on the same moment; from 8 rows on."""
    if _rows(n) < 8:
        raise ParameterError(f"2 sqrt(n) bounds the moment from 8 rows on, not for {n}; log_moment is exact")
    return log(2.0) + 0.5 * log(n)


def bounded_loss(loss: float, divergence: float, n: int, delta: float, log_choices: float = 0.0) -> Interval:
    r"""Theorem 3.3 with Chernoff's inequality: the mean of any loss between 0 and 1 under the Gibbs rule.

    .. math:: D[\hat{l} \| l] \le \frac{1}{n - 1} \Bigl(D[Q \| P] + \log\frac{2 n + 1}{\delta}\Bigr)
    """
    return _ends(loss, _radius_3_3(divergence, n, delta, log_choices))


def hoeffding_loss(loss: float, divergence: float, n: int, delta: float, log_choices: float = 0.0) -> Interval:
    r"""Theorem 3.3 with Hoeffding's inequality, the form of McAllester (1999); wider than Chernoff's.

    .. math:: 2 (\hat{l} - l)^2 \le \frac{1}{n - 1} \Bigl(D[Q \| P] + \log\frac{2 n + 1}{\delta}\Bigr)
    """
    step = sqrt(0.5 * _radius_3_3(divergence, n, delta, log_choices))
    return Interval(max(0.0, loss - step), min(1.0, loss + step))


def bayes_upper(gibbs_upper: float) -> float:
    """Twice the bound of the Gibbs classifier holds for the classifier that takes its vote (Thesis 3.2.5).

    Where the vote is wrong at least half of the draws are, for any number of classes. Of two classes and a Gaussian
    posterior the vote is the sign of the mean.
    """
    return min(1.0, 2.0 * gibbs_upper)


def _radius_3_3(divergence: float, n: int, delta: float, log_choices: float) -> float:
    if n < 2:
        raise ParameterError(f"theorem 3.3 needs two rows or more, got {n}")
    return (_finite(divergence) + log(2.0 * n + 1.0) + pay(delta, log_choices)) / (n - 1)


def _ends(error: float, epsilon: float) -> Interval:
    return Interval(relative_entropy_lower(error, epsilon), relative_entropy_upper(error, epsilon))


def _rows(n: int) -> int:
    if n < 1:
        raise ParameterError("no rows, no bound: there must be one row at least")
    return n


def _finite(divergence: float) -> float:
    if not 0.0 <= divergence < inf:
        raise ParameterError(
            f"the relative entropy of posterior to prior must be finite and not negative: {divergence}"
        )
    return divergence
