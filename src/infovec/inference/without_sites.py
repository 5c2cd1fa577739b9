"""What the factorised posterior says of training rows left out."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..numerics.groups import of_groups
from ..posterior import FactorisedPosterior
from ..shards.cavity import take_out

__all__ = ["MOST_ROWS", "some_rows", "without_own_site"]

MOST_ROWS = 3000  # that tell how certain predictions should be


def some_rows(priority: Floats, most: int = MOST_ROWS) -> Rows:
    """Return rows at random, in order, to calibrate by."""
    return np.sort(np.argsort(priority, kind="stable")[:most])


def without_own_site(
    posterior: FactorisedPosterior, active: Rows, X: Inputs, rows: Rows, group: Rows | None = None
) -> Floats:
    """Latent means and variances of some rows, shape (2, n): cavities of active ones, predictions of all others.

    Where active rows have the inputs of a row, the sites of all of them are taken out.

    Parameters
    ----------
    posterior : FactorisedPosterior
    active : array of int
        Its rows, in order of inclusion.
    X : inputs of all training rows
    rows : array of int
    group : array of int, optional
        For all training rows, the same number for those of equal inputs.
    """
    inputs = X[rows]
    found = np.stack(posterior.predict(inputs if inputs.dtype == object else inputs.astype(np.float64)))
    _, here, which = np.intersect1d(rows, active, assume_unique=True, return_indices=True)
    cavity = posterior.active_marginals()
    found[:, here] = cavity.cavity_mean[which], cavity.cavity_var[which]
    if group is None:
        return found
    precision, b = np.zeros(X.shape[0]), np.zeros(X.shape[0])
    precision[active], b[active] = posterior.precision, posterior.precision * posterior.site_mean
    total, shift = of_groups(precision, group)[rows], of_groups(b, group)[rows]
    others = np.flatnonzero(total != precision[rows])
    mean, var = posterior.predict(inputs[others].astype(np.float64))
    without = take_out(mean, var, total[others], shift[others], "float64")
    found[:, others] = without.cavity_mean, without.cavity_var
    return found
