"""What the factorised posterior says of training rows left out."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..posterior import FactorisedPosterior

__all__ = ["MOST_ROWS", "some_rows", "without_kin", "without_own_site"]

MOST_ROWS = 3000  # that tell how certain predictions should be
_TOGETHER = 1000  # rows whose kernel with the active ones is kept at once


def some_rows(priority: Floats, most: int = MOST_ROWS) -> Rows:
    """Return rows at random, in order, to calibrate by."""
    return np.sort(np.argsort(priority, kind="stable")[:most])


def without_own_site(
    posterior: FactorisedPosterior, active: Rows, X: Inputs, rows: Rows, kin: Rows | None = None
) -> Floats:
    """Latent means and variances of some rows, shape (2, n): cavities of active ones, predictions of all others.

    Where active rows have the inputs of a row, or are its images, the sites of all of them are taken out.

    Parameters
    ----------
    posterior : FactorisedPosterior
    active : array of int
        Its rows, in order of inclusion.
    X : inputs of all training rows
    rows : array of int
    kin : array of int, optional
        For all training rows, the same number for those of equal inputs, and for a row and its images.
    """
    inputs = X[rows]
    found = np.stack(posterior.predict(inputs if inputs.dtype == object else inputs.astype(np.float64)))
    _, here, which = np.intersect1d(rows, active, assume_unique=True, return_indices=True)
    cavity = posterior.active_marginals()
    found[:, here] = cavity.cavity_mean[which], cavity.cavity_var[which]
    if kin is None:
        return found
    own, of_kin = np.isin(rows, active), np.bincount(kin[active], minlength=int(kin.max()) + 1)
    others = np.flatnonzero(of_kin[kin[rows]] > own)
    found[:, others] = without_kin(posterior, inputs[others], kin[rows[others]], kin[active])
    return found


def without_kin(posterior: FactorisedPosterior, X: Inputs, kin: Rows, kin_of_active: Rows) -> Floats:
    r"""Latent means and variances of rows without the sites of all active rows J that are kin to them, shape (2, n).

    With :math:`P = (K_I + \Pi^{-1})^{-1} = T^T T`, of which the mean has the weights :math:`w = P m`, and
    :math:`q = P k(x)`,

    .. math:: \mu_{\setminus J} = \mu - q_J^T P_{JJ}^{-1} w_J, \qquad
              \sigma_{\setminus J}^2 = \sigma^2 + q_J^T P_{JJ}^{-1} q_J .

    Parameters
    ----------
    posterior : FactorisedPosterior
    X : inputs of the rows
    kin, kin_of_active : array of int
        The same number for rows that are left out together.
    """
    T, w, X = posterior.reduction, posterior.weights, posterior.kernel.in_double(X)
    found = np.empty((2, len(kin)))
    order = np.argsort(kin_of_active, kind="stable")
    first, last = (np.searchsorted(kin_of_active[order], kin, side) for side in ("left", "right"))
    for start in range(0, len(kin), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        mean, var = posterior.predict(X[part])
        Q = T.T @ (T @ np.asarray(posterior.kernel(posterior.X, X[part]), dtype=np.float64))
        for i, (a, b) in enumerate(zip(first[part], last[part], strict=True)):
            J = order[a:b]
            here, q = T[:, J], Q[J, i]
            away = np.linalg.solve(here.T @ here, np.column_stack([w[J], q]))
            found[:, start + i] = mean[i] - q @ away[:, 0], var[i] + q @ away[:, 1]
    return found
