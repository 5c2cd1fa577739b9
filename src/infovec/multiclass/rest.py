"""One class against the rest: every class a probit of its own, and how their probabilities become one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from .._types import Floats, Rows
from ..numerics.normal import hazard, hazard_excess, log_ndtr
from .likelihood import ClassLikelihood
from .race import ClassMoments

__all__ = ["OneAgainstRest"]


@dataclass(frozen=True, eq=False, repr=False)
class OneAgainstRest(ClassLikelihood):
    r"""C independent probits, each of its class against all others (NIPS03 section 4).

    .. math:: P(y \mid f) = \Phi(f_y + p_y) \prod_{j \ne y} \Phi(-f_j - p_j)

    which is the probability that y is said yes to and all others no; its evidence is the sum of C binary ones. A
    prediction is that given that exactly one class is said yes to: the odds of the classes, normalised,

    .. math:: P(y) \propto \frac{q_y}{1 - q_y}, \qquad q_c = \Phi\Bigl(\frac{\mu_c + p_c}{\sqrt{1 + \sigma_c^2}}\Bigr).
    """

    couples: ClassVar[bool] = False

    def _signs(self, labels: Rows) -> Floats:
        return np.where(labels[:, None] == np.arange(self.n_classes), 1.0, -1.0)

    def log_prob(self, labels: Rows, f: Floats) -> Floats:
        return np.asarray(log_ndtr(self._signs(labels) * (f + self.bias)).sum(axis=1))

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        c = self._signs(labels) / np.sqrt(1.0 + var)
        u = c * (mean + self.bias)
        h = hazard(u)
        return ClassMoments(log_ndtr(u).sum(axis=1), c * h, c**2 * h * hazard_excess(u, h))

    def log_proba(self, mean: Floats, var: Floats) -> Floats:
        z = (mean + self.bias) / np.sqrt(1.0 + var)
        log_odds = log_ndtr(z) - log_ndtr(-z)
        return np.asarray(log_odds - logsumexp(log_odds, axis=1, keepdims=True))
