"""What the factorised posterior says of training rows left out."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..posterior import FactorisedPosterior

__all__ = ["MOST_ROWS", "some_rows", "without_own_site"]

MOST_ROWS = 3000  # that tell how certain predictions should be


def some_rows(priority: Floats) -> Rows:
    """Return rows at random, in order, to calibrate by."""
    return np.sort(np.argsort(priority, kind="stable")[:MOST_ROWS])


def without_own_site(posterior: FactorisedPosterior, active: Rows, X: Inputs, rows: Rows) -> Floats:
    """Latent means and variances of some rows, shape (2, n): cavities of active ones, predictions of all others.

    Parameters
    ----------
    posterior : FactorisedPosterior
    active : array of int
        Its rows, in order of inclusion.
    X : inputs of all training rows
    rows : array of int
    """
    inputs = X[rows]
    found = np.stack(posterior.predict(inputs if inputs.dtype == object else inputs.astype(np.float64)))
    _, here, which = np.intersect1d(rows, active, assume_unique=True, return_indices=True)
    cavity = posterior.active_marginals()
    found[:, here] = cavity.cavity_mean[which], cavity.cavity_var[which]
    return found
