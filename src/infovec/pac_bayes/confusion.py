"""PAC-Bayesian theorem about all outcomes at once: where the confusion distribution of the Gibbs classifier lies."""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, logsumexp, xlogy

from .._types import Floats
from ..errors import ParameterError
from .bernoulli import beyond_log
from .gibbs import Interval, log_moment, pay

__all__ = ["Ball", "confusion_ball", "log_moment_of_outcomes", "log_moment_of_types"]


def log_moment_of_types(n: int, n_outcomes: int) -> float:
    """Logarithm of (n + 1)^(L - 1), the bound of Thesis 3.7 on the moment of L outcomes."""
    return (n_outcomes - 1) * log(n + 1.0)


def log_moment_of_outcomes(n: int, n_outcomes: int) -> float:
    r"""Logarithm of the moment :math:`\mathrm{E} \exp(n D[\hat{p} \| p])` of L outcomes, all of them possible.

    .. math:: C_L(n) = \sum_k \frac{n!}{k_1! \cdots k_L!} \prod_l \Bigl(\frac{k_l}{n}\Bigr)^{k_l}, \qquad
              C_{L+2}(n) = C_{L+1}(n) + \frac{n}{L} C_L(n)

    The sum is over all counts. It is the normaliser of the multinomial maximum likelihood; the recursion is that of
    Kontkanen and Myllymaki (2007). It takes the place of (n + 1)^(L - 1) in Thesis 3.7, and is much smaller.
    """
    before, last = 0.0, log_moment(n)
    if n_outcomes == 1:
        return before
    for k in range(1, n_outcomes - 1):
        before, last = last, float(np.logaddexp(last, log(n / k) + before))
    return last


@dataclass(frozen=True, eq=False)
class Ball:
    r"""The distributions that are possible given what was seen (Thesis 3.6).

    .. math:: \{p : D[\hat{p} \| p] \le \epsilon\}

    Parameters
    ----------
    centre : array of shape (L,)
        What was seen: a share for each outcome.
    radius : float
    slack : float
        How far the shares may be from the true ones, in total variation, because they are computed by quadrature.
    """

    centre: Floats
    radius: float
    slack: float = 0.0

    def __post_init__(self) -> None:
        centre = np.asarray(self.centre, dtype=np.float64).ravel()
        if not np.all(centre >= 0.0) or not abs(centre.sum() - 1.0) < 1e-9 or not self.radius >= 0.0:
            raise ParameterError("a ball needs shares that sum to one, and a radius of zero or more")
        object.__setattr__(self, "centre", centre / centre.sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ball) or (self.radius, self.slack) != (other.radius, other.slack):
            return False
        return np.array_equal(self.centre, other.centre)

    def __hash__(self) -> int:
        return hash((self.centre.tobytes(), self.radius, self.slack))

    def largest(self, c: Floats) -> float:
        r"""Largest value of c'p in the ball (Thesis B.1 for any c).

        .. math:: p_l = \frac{\lambda \hat{p}_l}{\rho - c_l}, \qquad
                  \sum_l \hat{p}_l \log(\rho - c_l) + \log \sum_l \frac{\hat{p}_l}{\rho - c_l} = \epsilon

        An outcome that was not seen gets what is left if it has the largest c. Shares that are wrong by a slack s
        lie in the ball of radius epsilon plus the entropy of a coin of share s around the true ones, up to s times the
        range of c.
        """
        c = np.asarray(c, dtype=np.float64).ravel()
        if c.shape != self.centre.shape or not np.all(np.isfinite(c)):
            raise ParameterError(f"c must be {len(self.centre)} finite numbers, one for each outcome")
        slack, spread = self.slack, float(c.max() - c.min())
        if slack >= 0.5:  # nothing is known
            return float(c.max())
        radius = self.radius + float(entr(slack) + entr(1.0 - slack))
        if spread == 0.0:
            return float(c[0])
        unit = (c - c.max()) / spread  # between -1 and 0
        return min(float(c.max()), float(c.max()) + spread * (_largest(self.centre, unit, radius) + slack))

    def smallest(self, c: Floats) -> float:
        """Smallest value of c'p in the ball."""
        return -self.largest(-np.asarray(c, dtype=np.float64))

    def interval(self, c: Floats) -> Interval:
        """Both ends of c'p; they hold together, and for all c at once."""
        return Interval(self.smallest(c), self.largest(c))

    def ratio(self, part: Floats, of: Floats) -> Interval:
        """Both ends of part'p / of'p, such as the share of a class that is taken for another (the question of B.1)."""
        part, of = (np.asarray(x, dtype=np.float64).ravel() for x in (part, of))
        if not np.all((part >= 0.0) & (part <= of)):
            raise ParameterError("a part must not be more than what it is of")
        return Interval(1.0 - self._largest_ratio(of - part, of), self._largest_ratio(part, of))

    def _largest_ratio(self, part: Floats, of: Floats) -> float:
        def excess(t: float) -> float:
            return self.largest(part - t * of)

        if excess(1.0) >= 0.0:  # all of it, or there may be nothing to be part of
            return 1.0
        return float(brentq(excess, 0.0, 1.0, xtol=1e-14)) if excess(0.0) > 0.0 else 0.0


def confusion_ball(
    shares: Floats, divergence: float, n: int, delta: float, log_choices: float = 0.0, slack: float = 0.0
) -> Ball:
    r"""Theorem 3.2: the ball in which the distribution of the outcomes of the Gibbs rule lies.

    .. math:: D[\hat{p} \| p] \le \frac{1}{n} \Bigl(D[Q \| P] + \log\frac{C_L(n)}{\delta}\Bigr)

    with probability 1 - delta for all Q at once; ``log_moment_of_outcomes`` is in place of (n + 1)^(L - 1).
    """
    shares = np.asarray(shares, dtype=np.float64)
    moment = log_moment_of_outcomes(n, shares.size)
    return Ball(shares, (divergence + moment + pay(delta, log_choices)) / n, slack)


def _largest(p: Floats, c: Floats, radius: float) -> float:
    """Return the largest c'q with D[p || q] at most the radius, for c of which the largest is zero."""
    seen = p > 1e-300  # a smaller one has no logarithm to be trusted
    p, c = p[seen], c[seen]

    def at(rho: float) -> tuple[float, Floats]:
        """Return D[p || q] and q, for the multiplier rho."""
        y, s = c / (c - rho), rho / (rho - c)  # y + s = 1, and q is p s divided by its sum
        z = (p @ y - y) / (p @ s) if rho > 1.0 else s / (p @ s) - 1.0  # q / p - 1
        return float(p @ beyond_log(z)), p * (1.0 + z)

    if c.max() < 0.0:  # zero belongs to an outcome that was not seen
        log_q = np.log(p) - np.log(-c)
        mass = float(logsumexp(log_q))
        value = float(np.sum(xlogy(p, -c))) + mass
        if value <= radius:
            return exp(value - radius) * float(np.exp(log_q - mass) @ c)
    if c.min() == c.max():
        return float(c[0])
    high = 0.0
    while at(exp(high))[0] > radius and high < 700.0:
        high += 4.0
    low = high - 4.0
    while at(exp(low))[0] < radius and low > -700.0:
        low -= 4.0
    if low <= -700.0 or high >= 700.0:
        return float(at(exp(low if low <= -700.0 else high))[1] @ c)
    rho = exp(brentq(lambda t: at(exp(t))[0] - radius, low, high, xtol=1e-15, rtol=1e-15, maxiter=500))
    return float(at(rho)[1] @ c)
