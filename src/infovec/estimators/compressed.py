"""Whether a classifier can be made again from its active rows alone, which is what compression bounds need."""

import numpy as np
from sklearn.base import clone

from .._types import Array, Inputs, Mask, Rows
from ..errors import ParameterError
from ..pac_bayes import Compressed, latent
from .discrete import DiscreteMachine

__all__ = ["compressed"]

_ROUNDING = 1e-2  # in posterior deviations: the fit may have been in single precision, the remake is in double


def compressed(model: DiscreteMachine, X: Inputs, labels: Array, wrong: Mask) -> Compressed | None:
    """Return how a classifier of two classes is made from its active rows, tried out; None if it is not.

    Exact greedy selection among the active rows finds the order in which they were included, since each had the best
    score among all rows when its turn came; only which was the first has to be said, where all tie. After selection in
    blocks the order itself has to be said, which costs more.

    Parameters
    ----------
    model : fitted classifier
        Of the factorised posterior, one function.
    X, labels : the rows of the fit
    wrong : array of bool
        Rows for which the vote is wrong.
    """
    active = np.asarray(model.active_)
    if len(np.unique(active)) < len(active) or len(active) >= X.shape[0]:
        return None
    errors = int(np.sum(np.delete(wrong, active)))
    unknown_size = model.n_active != len(active)  # then any size might have come out, and the order is not told
    if unknown_size:
        return None
    if _agrees(model, X, labels, np.sort(active), int(np.searchsorted(np.sort(active), active[0]))):
        return Compressed(len(active), errors, len(active) - 1)
    return Compressed(len(active), errors, 0) if _agrees(model, X, labels, active, None) else None


def _agrees(model: DiscreteMachine, X: Inputs, labels: Array, rows: Rows, first: int | None) -> bool:
    """Whether a model of these rows alone, included greedily after the first or in their order, is the same."""
    initial = np.arange(len(rows)) if first is None else np.array([first])
    try:
        other = clone(model).set_params(
            kernel=model.kernel_, likelihood=model.likelihood_, learn=None, n_active=len(rows), initial=initial,
            block_size=1, selection="all", dtype="float64", warm_start=False, callback=None, max_time=None,
        ).fit(X[rows], labels[rows])  # fmt: skip
    except ParameterError:  # of rows of one class there is no model
        return False
    mean, var = latent(model.posterior_, X)
    again, _ = latent(other.posterior_, X)
    bias = float(getattr(model.likelihood_, "bias", 0.0))
    signs = (mean + bias > 0.0) == (again + bias > 0.0)
    return bool(np.all(signs) and np.all(np.abs(again - mean) <= _ROUNDING * np.sqrt(np.maximum(var, 1e-300))))
