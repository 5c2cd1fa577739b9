"""Relative entropy of two coins, its inverse at both ends, and the tail of the binomial distribution."""

from collections.abc import Callable
from math import exp, expm1, inf, isfinite, lgamma, log, log1p

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainccinv, gammaln, logsumexp

from .._types import Floats
from ..errors import ParameterError

__all__ = ["beyond_log", "binomial_upper", "relative_entropy", "relative_entropy_lower", "relative_entropy_upper"]

_SERIES = 0.3  # largest argument of x - log(1 + x) by its series
_TERMS = 14  # of which: the last one is below 1e-17 of the sum
_SMALLEST = 1e-300  # probability that is told from zero
_UNDERFLOW = -600.0  # log delta below which the tail itself is no floating point number


def relative_entropy(q: float, p: float) -> float:
    r"""Relative entropy of two Bernoulli distributions (Thesis 3.1), without cancellation where they are close.

    .. math:: D[q \| p] = q \log\frac{q}{p} + (1 - q) \log\frac{1 - q}{1 - p}
    """
    q, p = _share(q, "q"), _share(p, "p")
    return _distance(q, 1.0 - q, p - q, 1.0 - p) if p >= q else _distance(1.0 - q, q, q - p, p)


def relative_entropy_upper(q: float, epsilon: float) -> float:
    r"""Largest p with :math:`D[q \| p] \le \epsilon` (Thesis 3.1)."""
    q = _share(q, "q")
    step, left = _solve(q, 1.0 - q, _radius(epsilon))
    return min(1.0, q + step) if step <= left else 1.0 - left


def relative_entropy_lower(q: float, epsilon: float) -> float:
    r"""Smallest p with :math:`D[q \| p] \le \epsilon` (Thesis 3.1)."""
    q = _share(q, "q")
    step, left = _solve(1.0 - q, q, _radius(epsilon))
    return max(0.0, q - step) if step <= left else left


def binomial_upper(k: int, m: int, log_delta: float) -> float:
    r"""Largest p with which k or fewer of m independent trials succeed with a probability of at least delta.

    .. math:: \sum_{j \le k} \binom{m}{j} p^j (1 - p)^{m - j} = \delta

    If k of m rows that nothing was chosen by are wrong, the error is at most this with probability 1 - delta (Clopper
    and Pearson 1934; Langford 2005). The logarithm of delta is taken, since bounds by compression need tiny ones.
    """
    if not 0 <= k <= m or m < 1:
        raise ParameterError(f"{k} of {m} rows cannot be wrong")
    if not log_delta < 0.0:
        raise ParameterError(f"the logarithm of delta must be negative, got {log_delta!r}")
    if k == m:
        return 1.0
    if k == 0:
        return -expm1(log_delta / m)
    if log_delta > _UNDERFLOW:
        return float(betainccinv(k + 1, m - k, exp(log_delta)))
    j = np.arange(k + 1)
    log_choose = lgamma(m + 1) - gammaln(j + 1) - gammaln(m - j + 1)

    def excess(log_left: float) -> float:
        return float(logsumexp(log_choose + j * log(-expm1(log_left)) + (m - j) * log_left)) - log_delta

    _, chernoff = _solve(k / m, 1.0 - k / m, -1.01 * log_delta / m)  # a bound, where the tail is below delta
    if chernoff < 1e-20:  # what is left of one is below its rounding
        return 1.0
    return -expm1(brentq(excess, log(chernoff), log1p(-k / m), xtol=1e-15, rtol=1e-14))


def _share(value: float, name: str) -> float:
    if not 0.0 <= value <= 1.0:
        raise ParameterError(f"{name} is a probability, and cannot be {value!r}")
    return float(value)


def _radius(epsilon: float) -> float:
    if not epsilon >= 0.0:
        raise ParameterError(f"epsilon cannot be {epsilon!r}: it is a relative entropy, zero or more")
    return float(epsilon)


def beyond_log(x: Floats | float) -> Floats:
    """Return x - log(1 + x), by a series where the two are close; x is -1 at least."""
    x = np.asarray(x, dtype=np.float64)
    near = np.abs(x) <= _SERIES
    s = np.where(near, x, 0.0)
    s = s / (2.0 + s)
    square, tail = s * s, np.zeros_like(s)
    for k in range(_TERMS, 0, -1):  # log(1 + x) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
        tail = tail * square + 1.0 / (2 * k + 1)
    with np.errstate(divide="ignore"):
        return np.where(near, x * s - 2.0 * s * square * tail, x - np.log1p(x))


def _distance(a: float, b: float, step: float, left: float) -> float:
    """Relative entropy of (a, b) to (a + step, left), by whichever of step and left is the small one."""
    if step <= 0.0:
        return 0.0
    if left == 0.0:
        return inf if b > 0.0 else 0.0
    if a == 0.0:
        return -log(left) if left < 0.5 else -log1p(-step)
    return _divergence(a, b, step) if step <= 0.5 * b else _divergence_left(a, b, left)


def _divergence(a: float, b: float, step: float) -> float:
    """Relative entropy of (a, b) to (a + step, b - step), where the terms that are linear in the step cancel."""
    if step <= 0.0:
        return 0.0
    if b == 0.0:
        return inf
    ratio = step / a
    near = a * float(beyond_log(ratio)) if isfinite(ratio) else step - a * (log(a + step) - log(a))
    return near + b * float(beyond_log(max(-step / b, -1.0)))


def _divergence_left(a: float, b: float, left: float) -> float:
    """Return the same where little is left of b: its relative entropy to (1 - left, left)."""
    step = b - left
    return b * (log(b) - log(left)) - a * (log1p(step / a) if isfinite(step / a) else log(a + step) - log(a))


def _solve(a: float, b: float, epsilon: float) -> tuple[float, float]:
    """Return the step from (a, b) to (a + step, b - step) at relative entropy epsilon, and b - step, both accurate."""
    if epsilon == 0.0:
        return 0.0, b
    if b < _SMALLEST:
        return b, 0.0
    if a == 0.0:
        return -expm1(-epsilon), exp(-epsilon)
    if _divergence(a, b, 0.5 * b) >= epsilon:
        step = exp(_root(lambda t: log(_divergence(a, b, exp(t)) or 5e-324) - log(epsilon), log(0.5 * b)))
        return step, b - step
    left = exp(_root(lambda t: epsilon - _divergence_left(a, b, exp(t)), log(0.5 * b)))
    return b - left, left


def _root(function: Callable[[float], float], high: float) -> float:
    """Return where a function of a logarithm is zero; it is positive at ``high`` and ascends, if not for long."""
    below, width = high - 1.0, 1.0
    while function(below) > 0.0 and below > -744.0:
        width *= 2.0
        below = max(high - width, -744.0)
    if function(below) >= 0.0:  # what is smaller is no number but zero
        return -inf
    return float(brentq(function, below, high, xtol=1e-300, rtol=1e-15, maxiter=500))
