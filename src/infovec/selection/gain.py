"""How much the projected posterior would learn if a row became active, its couplings left out (Thesis 4.4.2.1)."""

import numpy as np

from .._types import Floats
from ..likelihoods import Site
from ..shards.projected import Cavity

__all__ = ["coupling_free_gain"]


def coupling_free_gain(cavity: Cavity, left: Floats, site: Site) -> Floats:
    r"""Relative entropy D[Q~ || Q] of Thesis C.4.2, where in Q~ the site of a row is on u_i instead of gamma_i.

    Both differ in (gamma_i, u_i) only, so it is that of two Gaussians in the plane. Under Q the covariance is that of
    :math:`\gamma \sim N(\mu, q)`, :math:`u = \gamma + N(0, l^2)`; under Q~ that of the cavity,
    :math:`\gamma \sim N(\mu_\setminus, q_\setminus)`, with the site :math:`(\tilde b, \tilde \pi)` on u. With
    :math:`r = u - \gamma`,

    .. math:: 2 D = \frac{E[(\gamma - \mu)^2]}{q} + \frac{E[r^2]}{l^2} - 2
              + \log \frac{q \, (1 + \tilde\pi (q_\setminus + l^2))}{q_\setminus}

    Parameters
    ----------
    cavity : Cavity
        Marginals and cavities of gamma.
    left : array
        l^2 > 0.
    site : Site
        On u, from the cavity of u.
    """
    total = cavity.cavity_var + left  # prior variance of u in the cavity
    grown = 1.0 + site.precision * total
    shift = (site.b - site.precision * cavity.cavity_mean) / grown  # of u's mean, per unit of its prior variance
    shrink = site.precision / grown
    mean_gap = cavity.cavity_mean + cavity.cavity_var * shift - cavity.mean
    var_gamma = cavity.cavity_var - cavity.cavity_var**2 * shrink
    var_r, mean_r = left - left**2 * shrink, left * shift
    var = np.maximum(cavity.var, 1e-300)
    by_gamma = (var_gamma + mean_gap**2) / var
    by_r = (var_r + mean_r**2) / left
    return 0.5 * (by_gamma + by_r - 2.0 + np.log(grown) - np.log(np.maximum(cavity.cavity_var, 1e-300) / var))
