"""What the variational posterior says of a training row without its own auxiliary variables."""

from collections.abc import Sequence

import numpy as np

from .._types import Floats
from .bound import Optimum
from .projection import Projection

__all__ = ["left_out"]

_LEAST_SHARE = 1e-10


def left_out(projections: Sequence[Projection], best: Optimum) -> Floats:
    r"""Means and variances of the latent values of every row when its site is taken out, shape (2, n, C).

    The auxiliary variables are sites of unit precision at their expectations, :math:`\tilde y = m + g`; with
    :math:`r = |R_i|^2` the posterior variance of the projection,

    .. math:: \sigma^2_\setminus = \frac{r}{1 - r} + k_{ii} - |V_i|^2, \qquad
              \mu_\setminus = \frac{m - r \tilde y}{1 - r} = m - \frac{r}{1 - r} g.
    """
    found = np.empty((2, *best.mean.shape))
    for p in projections:
        r = np.einsum("ij,ij->i", p.R, p.R).astype(np.float64)
        cavity_var = r / np.maximum(1.0 - r, _LEAST_SHARE)
        found[0][:, p.classes] = best.mean[:, p.classes] - cavity_var[:, None] * best.g[:, p.classes]
        found[1][:, p.classes] = (cavity_var + p.variance_left)[:, None]
    return found
