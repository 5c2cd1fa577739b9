"""What the variational posterior says of a training row without its own auxiliary variables."""

from collections.abc import Sequence

import numpy as np

from ..._types import Floats, Rows
from ...numerics.groups import of_groups
from .maximum import Optimum
from .projection import Projection

__all__ = ["left_out"]

_LEAST_SHARE = 1e-10


def left_out(projections: Sequence[Projection], best: Optimum, group: Rows | None = None) -> Floats:
    r"""Means and variances of the latent values of every row without the sites at its inputs, shape (2, n, C).

    The auxiliary variables are sites of precision w at their expectations, :math:`\tilde y = m + g`; with
    :math:`r = |R_i|^2` the posterior variance of the projection, and sums over the rows j of the same inputs,

    .. math:: \sigma^2_\setminus = \frac{r}{1 - r \sum w_j} + k_{ii} - |V_i|^2, \qquad
              \mu_\setminus = \frac{m - r \sum w_j \tilde y_j}{1 - r \sum w_j}
              = m - \frac{r}{1 - r \sum w_j} \sum w_j g_j.
    """
    found = np.empty((2, *best.mean.shape))
    for p in projections:
        r = np.concatenate([np.einsum("ij,ij->i", R, R) for _, R in p.features.chunks()]).astype(np.float64)
        cavity_var = r / np.maximum(1.0 - r * of_groups(p.weight, group), _LEAST_SHARE)
        force = of_groups(p.weight[:, None] * best.g[:, p.classes], group)
        found[0][:, p.classes] = best.mean[:, p.classes] - cavity_var[:, None] * force
        found[1][:, p.classes] = (cavity_var + p.variance_left)[:, None]
    return found
