"""Labels that are not given where that would cost too much."""

from numbers import Real

import numpy as np

from .._types import Array, Floats
from ..errors import ParameterError

__all__ = ["best_labels"]


def best_labels(classes: Array, log_proba: Floats, reject: float | None) -> Array:
    r"""Return the most probable labels; None where the rule of Chow (1970) has none given.

    .. math:: \text{reject} \iff 1 - \max_c p(c \mid x) > \text{cost}

    Parameters
    ----------
    classes : array of shape (C,)
    log_proba : array of shape (n, C)
    reject : float, optional
        Cost of giving no label, where a wrong one costs one and a right one nothing.
    """
    best = np.argmax(log_proba, axis=1)
    labels: Array = classes[best]
    if reject is None:
        return labels
    if not isinstance(reject, Real) or isinstance(reject, bool) or not 0.0 <= float(reject) <= 1.0:
        raise ParameterError(f"reject must be a cost between 0 and 1, that of a wrong label, got {reject!r}")
    p = np.exp(log_proba)
    rows = np.arange(len(p))
    top = p[rows, best]
    p[rows, best] = 0.0
    risk = np.where(top > 0.5, p.sum(axis=1), 1.0 - top)  # without cancellation
    answer = np.empty(len(labels), dtype=object)
    answer[:] = labels.tolist()
    answer[risk > float(reject)] = None
    return answer
