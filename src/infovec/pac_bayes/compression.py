"""Bounds for classifiers that can be made again from a few of their training rows."""

from math import lgamma, log

from ..errors import ParameterError
from .bernoulli import binomial_upper, relative_entropy_upper
from .gibbs import pay

__all__ = ["compression", "compression_by_tail", "log_arrangements"]


def log_arrangements(n: int, d: int, unordered: int) -> float:
    r"""Logarithm of the number of ways to take d of n rows, in an order that does not matter for the last l.

    .. math:: \binom{n}{d} \frac{d!}{l!}

    Theorem B.2 prints (d - l)! for d! / l!. Both are the same where the order always matters or never does; between,
    the printed number is too small.
    """
    if not 0 <= unordered <= d <= n:
        raise ParameterError(f"{d} rows of {n}, {unordered} of them in any order, cannot be taken")
    return lgamma(n + 1.0) - lgamma(n - d + 1.0) - lgamma(unordered + 1.0)


def compression(errors: int, n: int, d: int, delta: float, unordered: int, log_choices: float = 0.0) -> float:
    r"""Theorem B.2: error of a classifier that d of its n training rows determine, from those among the others.

    .. math:: D\Bigl[\frac{k}{n - d} \Big\| e\Bigr] \le \frac{1}{n - d} \Bigl(
              \log \binom{n}{d} \frac{d!}{l!} + \log\frac{n - d + 1}{\delta}\Bigr)

    Parameters
    ----------
    errors : int
        k: how many of the other rows are wrong.
    n, d : int
        d must be known before the rows are.
    delta : float
    unordered : int
        l: how many of the d rows, the last ones, can be permuted.
    log_choices : float
    """
    left = _others(n, d)
    rho = (log_arrangements(n, d, unordered) + log(left + 1.0) + pay(delta, log_choices)) / left
    return relative_entropy_upper(errors / left, rho)


def compression_by_tail(errors: int, n: int, d: int, delta: float, unordered: int, log_choices: float = 0.0) -> float:
    """The same by the tail of the binomial distribution itself; never larger (Langford 2005, theorem 6.1)."""
    return binomial_upper(errors, _others(n, d), -log_arrangements(n, d, unordered) - pay(delta, log_choices))


def _others(n: int, d: int) -> int:
    if not 1 <= d < n:
        raise ParameterError(f"a classifier made of {d} of {n} rows has no others to be judged by")
    return n - d
