"""One class against the rest: every class a probit of its own, and how their probabilities become one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._types import Floats, Rows
from ...numerics.normal import hazard, hazard_excess, log_ndtr
from ..base import Discrete
from ..one_of_many import OneOfMany
from ..probit import Probit
from ..weighted import WeightedDiscrete
from .base import ClassLikelihood
from .winner import ClassMoments

__all__ = ["OneAgainstRest", "against_rest"]


def against_rest(labels: Rows, c: int) -> Floats:
    """Return +1 for rows of a class, -1 for those of others, 0 for rows without label, which are -1."""
    return np.where(labels == c, 1.0, np.where(labels < 0, 0.0, -1.0))


@dataclass(frozen=True, eq=False, repr=False)
class OneAgainstRest(ClassLikelihood):
    r"""C independent probits, each of its class against all others (NIPS03 section 4).

    .. math:: P(y \mid f) = \Phi(f_y + p_y) \prod_{j \ne y} \Phi(-f_j - p_j)

    which is the probability that y is said yes to and all others no; its evidence is the sum of C binary ones. A
    prediction is that given that exactly one class is said yes to: the odds of the classes, normalised,

    .. math:: P(y) \propto \frac{q_y}{1 - q_y}, \qquad q_c = \Phi\Bigl(\frac{\mu_c + p_c}{\sqrt{1 + \sigma_c^2}}\Bigr).

    Where labels may be wrong each of the C probits knows of it (``OneOfMany``), and the prediction is that of the class
    which is the right one, some of whose labels are then wrong.
    """

    spreads: ClassVar[bool] = True

    def _signs(self, labels: Rows) -> Floats:
        return np.where(labels[:, None] == np.arange(self.n_classes), 1.0, -1.0)

    def log_prob(self, labels: Rows, f: Floats) -> Floats:
        if self.lapse:
            each = zip(self._each(), self._signs(labels).T, f.T, strict=True)
            return np.sum([one.log_prob(sign, values) for one, sign, values in each], axis=0)
        log_prob = np.asarray(log_ndtr(self._signs(labels) * (f + self.bias)).sum(axis=1))
        return log_prob if self.weight is None else self.weight * log_prob

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        if self.weight is not None or self.lapse:
            return self._one_by_one(self._signs(labels), mean, var)
        c = self._signs(labels) / np.sqrt(1.0 + var)
        u = c * (mean + self.bias)
        h = hazard(u)
        return ClassMoments(log_ndtr(u).sum(axis=1), c * h, c**2 * h * hazard_excess(u, h))

    def _one_by_one(self, signs: Floats, mean: Floats, var: Floats) -> ClassMoments:
        """Moments of every probit, to the power of the weights if there are some."""
        classes = [one.tilted(signs[:, c], mean[:, c], var[:, c]) for c, one in enumerate(self._each())]
        log_z, g, nu = (np.stack(part, axis=1) for part in zip(*classes, strict=True))
        return ClassMoments(log_z.sum(axis=1), g, nu)

    def _each(self) -> list[Discrete]:
        return [self.of_class(c) for c in range(self.n_classes)]

    def d_log_z(self, labels: Rows, mean: Floats, var: Floats, tilted: ClassMoments) -> Floats:
        """Gradient of log Z in theta: every class has a bias of its own, and all have the same lapse."""
        if not self.lapse:
            return super().d_log_z(labels, mean, var, tilted)
        signs = self._signs(labels)
        lapse = [one.d_log_z(signs[:, c], mean[:, c], var[:, c])[-1] for c, one in enumerate(self._each())]
        return np.stack([*tilted.g.T, np.sum(lapse, axis=0)])

    def of_class(self, c: int) -> Discrete:
        """Return the likelihood of one class against the rest, with the weights of the rows."""
        bias = float(self.bias[c])
        probit = OneOfMany(bias, lapse=self.lapse, classes=self.n_classes) if self.lapse else Probit(bias)
        return probit if self.weight is None else WeightedDiscrete(probit, self.weight)

    def log_weights(self, mean: Floats, var: Floats) -> Floats:
        z = (mean + self.bias) / np.sqrt(1.0 + var)
        return np.asarray(log_ndtr(z) - log_ndtr(-z))
