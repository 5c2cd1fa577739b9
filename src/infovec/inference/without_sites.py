"""What the factorised posterior says of training rows left out."""

import numpy as np

from .._types import Floats, Inputs, Rows
from ..numerics.cholesky import solve_lower
from ..numerics.groups import of_groups
from ..posterior import FactorisedPosterior
from ..shards.cavity import take_out

__all__ = ["MOST_ROWS", "some_rows", "without_folds", "without_own_site"]

MOST_ROWS = 3000  # that tell how certain predictions should be


def some_rows(priority: Floats, most: int = MOST_ROWS) -> Rows:
    """Return rows at random, in order, to calibrate by."""
    return np.sort(np.argsort(priority, kind="stable")[:most])


def without_own_site(
    posterior: FactorisedPosterior,
    active: Rows,
    X: Inputs,
    rows: Rows,
    group: Rows | None = None,
    folds: Rows | None = None,
) -> Floats:
    """Latent means and variances of some rows, shape (2, n): cavities of active ones, predictions of all others.

    Where active rows have the inputs of a row, or are of its fold, the sites of all of them are taken out.

    Parameters
    ----------
    posterior : FactorisedPosterior
    active : array of int
        Its rows, in order of inclusion.
    X : inputs of all training rows
    rows : array of int
    group : array of int, optional
        For all training rows, the same number for those of equal inputs.
    folds : array of int, optional
        For all training rows, the same number for those that are left out together.
    """
    if folds is not None:
        return without_folds(posterior, active, X, rows, folds)
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


def without_folds(posterior: FactorisedPosterior, active: Rows, X: Inputs, rows: Rows, folds: Rows) -> Floats:
    r"""Latent means and variances of some rows without the sites of the active rows of their folds, shape (2, n).

    With :math:`P = (K_I + \Pi^{-1})^{-1}`, the weights :math:`\alpha = P m` of the mean, and A the active of a fold,

    .. math:: \mu_{\setminus A} = k^T \bigl(\alpha - P_{\cdot A} P_{AA}^{-1} \alpha_A\bigr), \qquad
              \sigma^2_{\setminus A} = k(x, x) - k^T \bigl(P - P_{\cdot A} P_{AA}^{-1} P_{A \cdot}\bigr) k,

    in which what k has at A is multiplied by zero.

    Parameters
    ----------
    posterior, active, X, rows
        As for ``without_own_site``.
    folds : array of int
        For all training rows, the same number for those that are left out together.
    """
    found, told = np.empty((2, len(rows))), posterior.precision > 0.0
    T, kernel = posterior.reduction, posterior.kernel
    P, alpha, of_active = T.T @ T, posterior.weights, folds[active]
    for fold in np.unique(folds[rows]):
        here, A = np.flatnonzero(folds[rows] == fold), np.flatnonzero((of_active == fold) & told)
        some = kernel.in_double(X[rows[here]])
        K, prior = np.asarray(kernel(some, posterior.X), dtype=np.float64), kernel.diag(some)
        if not len(A):
            found[:, here] = K @ alpha, posterior.variance(K, prior)
            continue
        K[:, A] = 0.0
        R = np.linalg.cholesky(P[np.ix_(A, A)])
        H, M = solve_lower(R, P[A] @ K.T), T @ K.T
        var = prior - np.einsum("ij,ij->j", M, M) + np.einsum("ij,ij->j", H, H)
        found[:, here] = K @ alpha - solve_lower(R, alpha[A]) @ H, np.maximum(var, 0.0)
    return found
