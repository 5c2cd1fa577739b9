"""One of many classes by the cumulative Gaussian, where labels may be wrong."""

from dataclasses import dataclass, field

import numpy as np

from .._types import Floats
from ..errors import ParameterError
from .probit import Probit

__all__ = ["OneOfMany"]


@dataclass(frozen=True, eq=False, repr=False)
class OneOfMany(Probit):
    r"""Whether a row is of one of C classes, y = +1, or not, y = -1; a wrong label is any of the others.

    .. math:: P(+1 \mid f) = \frac{\epsilon}{C - 1} + k \Phi\bigl(\lambda (f + b)\bigr), \qquad
              P(-1 \mid f) = \epsilon + k \Phi\bigl(-\lambda (f + b)\bigr), \qquad k = 1 - \frac{C \epsilon}{C - 1}

    A row of the class has the label of another with probability epsilon, but one of another class has that of this
    one C - 1 times as seldom.

    Parameters
    ----------
    bias, slope, lapse
        As for Probit.
    classes : int
        C.
    """

    classes: int = field(default=2, kw_only=True)

    def __post_init__(self) -> None:
        if not (isinstance(self.classes, int) and self.classes >= 2):
            raise ParameterError(f"OneOfMany: classes must be a whole number from 2, got {self.classes!r}")
        super().__post_init__()

    @property
    def n_labels(self) -> int:
        return self.classes

    def constant(self, y: Floats) -> Floats:
        return np.where(np.asarray(y) > 0.0, self.shares[0], self.lapse)

    def in_noise(self) -> tuple["OneOfMany", float, float, float]:
        return OneOfMany(lapse=self.lapse, classes=self.classes), self.slope, -self.bias, 0.0
