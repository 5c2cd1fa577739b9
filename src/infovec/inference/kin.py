"""Rows left out together with their images: these are at other inputs, and say nearly the same."""

import numpy as np

from .._types import Floats, Rows
from ..numerics.cholesky import solve_lower

__all__ = ["leave_out_together"]

_NUMBERS = 1 << 22  # of projections at a time


def leave_out_together(
    K: Floats, prior_var: Floats, factors: tuple[Floats, Floats, Floats], sites: tuple[Floats, Floats], kin: Rows
) -> Floats:
    r"""Means and variances of latent values without the sites of all rows that are kin, shape (2, n).

    With the projections :math:`\gamma_G = V_G v` of some rows and their sites :math:`\Pi_G, b_G` taken out of the
    posterior :math:`N(\mu_G, S_G)` of these,

    .. math:: S_{\setminus G} = (I - S_G \Pi_G)^{-1} S_G, \qquad
              \mu_{\setminus G} = (I - S_G \Pi_G)^{-1} (\mu_G - S_G b_G), \qquad
              S_G = C C^T, \quad C = V_G Q^{-T}, \quad V_G = K_G L^{-T},

    and the variance that the active rows leave is added to the diagonal.

    Parameters
    ----------
    K : array of shape (n, d)
        Kernel between these rows and the active ones.
    prior_var : array of shape (n,)
    factors : L, Q and beta of the posterior
    sites : precisions and shifts, each of shape (n,)
    kin : array of int, shape (n,)
        The same number for rows that are left out together.
    """
    L, Q, beta = factors
    found = np.empty((2, len(kin)))
    order = np.argsort(kin, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(kin[order]) != 0))
    sizes = np.diff(np.append(starts, len(order)))
    for size in np.unique(sizes):
        groups = order[starts[sizes == size][:, None] + np.arange(size)]  # one in each row
        step = max(1, _NUMBERS // (int(size) * K.shape[1]))
        for part in (groups[k : k + step] for k in range(0, len(groups), step)):
            at = part.ravel()
            V = solve_lower(L, K[at].T)
            C = solve_lower(Q, V)
            left = np.maximum(prior_var[at] - np.einsum("ij,ij->j", V, V), 0.0)
            mean, C = (beta @ C).reshape(part.shape), C.T.reshape(*part.shape, -1)
            S = C @ C.transpose(0, 2, 1)
            precision, b = (site[at].reshape(part.shape) for site in sites)
            rest = np.eye(int(size)) - S * precision[:, None, :]
            right = np.concatenate([S, (mean - np.einsum("gij,gj->gi", S, b))[:, :, None]], axis=2)
            cavity = np.linalg.solve(rest, right)
            found[0, at] = cavity[:, :, -1].ravel()
            found[1, at] = np.maximum(np.einsum("gii->gi", cavity[:, :, :-1]).ravel(), 0.0) + left
    return found
