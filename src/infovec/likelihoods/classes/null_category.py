"""One class against the rest, where the class of some rows is not known."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._types import Floats, Rows
from ...errors import ParameterError
from ...numerics.normal import log_ndtr
from ..base import Discrete
from ..null_category import NullCategory
from ..weighted import WeightedDiscrete
from .against_rest import OneAgainstRest, against_rest
from .winner import ClassMoments

__all__ = ["NullAgainstRest"]


@dataclass(frozen=True, eq=False, repr=False)
class NullAgainstRest(OneAgainstRest):
    r"""C independent null categories, each between a class and all others; a row without label is -1.

    .. math:: P(y \mid f) = \Phi(f_y + p_y - \tfrac{w}{2}) \prod_{j \ne y} \Phi(-f_j - p_j - \tfrac{w}{2})

    A prediction is that exactly one class is said yes to, and no function is in its null category.

    Parameters
    ----------
    bias, power, spread, weight
        As for OneAgainstRest.
    width : float
        w of all of them.
    missing : float
        Probability that a label is missing.
    """

    width: float = 1.0
    missing: float = 0.5
    spare: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("width", np.inf), ("missing", 1.0)):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0.0 < value < most):
                wanted = "positive and finite" if name == "width" else "strictly between 0 and 1"
                raise ParameterError(f"NullAgainstRest: {name} must be {wanted}, got {value!r}")

    def of_class(self, c: int) -> Discrete:
        one = NullCategory(float(self.bias[c]), self.width, self.missing, self.missing)
        return one if self.weight is None else WeightedDiscrete(one, self.weight)

    def log_prob(self, labels: Rows, f: Floats) -> Floats:
        each = [self.of_class(c).log_prob(against_rest(labels, c), f[:, c]) for c in range(self.n_classes)]
        return np.sum(each, axis=0)

    def tilted(self, labels: Rows, mean: Floats, var: Floats) -> ClassMoments:
        each = [self.of_class(c).tilted(against_rest(labels, c), mean[:, c], var[:, c]) for c in range(self.n_classes)]
        log_z, g, nu = (np.stack(part, axis=1) for part in zip(*each, strict=True))
        return ClassMoments(log_z.sum(axis=1), g, nu)

    def log_weights(self, mean: Floats, var: Floats) -> Floats:
        """Log odds of every class, the null category conditioned away."""
        s = 1.0 / np.sqrt(1.0 + var)
        z, half = s * (mean + self.bias), 0.5 * s * self.width
        return np.asarray(log_ndtr(z - half) - log_ndtr(-z - half))
