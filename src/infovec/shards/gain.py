"""How much the projected posterior would learn if a row became active, its couplings left out (Thesis 4.4.2.1)."""

import numpy as np

from .._types import Floats, Rows
from ..likelihoods import Likelihood, Site
from ..numerics.cholesky import row_solver
from .cavity import Cavity
from .messages import Beliefs, Gains
from .on_rows import OnRows

__all__ = ["LEAST_LEFT", "best_by_gain", "coupling_free_gain", "site_on_u"]

LEAST_LEFT = 1e-6  # share of its prior variance that an active row must add


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


def site_on_u(likelihood: Likelihood, y: Floats, cavity: Cavity, left: Floats) -> Site:
    """Sites that rows would have on u itself."""
    var = cavity.cavity_var + left
    return likelihood.site(y, cavity.cavity_mean, var, likelihood.tilted(y, cavity.cavity_mean, var))


def best_by_gain(shard: OnRows, beliefs: Beliefs, k: int, barred: Rows) -> Gains:
    """Return the k rows of a shard whose becoming active would gain most, best first, none of those that are barred."""
    solve, left = row_solver(beliefs.Q, shard.dtype), shard.variance_left
    cavity = shard.every_cavity(lambda V: solve(V.copy()), beliefs.beta)
    site = site_on_u(shard.likelihood, shard.y, cavity, left)
    open_ = ~np.isin(shard.rows, barred) & (left > LEAST_LEFT * shard.prior_var)
    gain = np.where(open_, coupling_free_gain(cavity, np.maximum(left, 1e-300), site), -np.inf)
    at = np.argsort(-gain, kind="stable")[:k]
    at = at[np.isfinite(gain[at])]
    return Gains(
        shard.rows[at], shard.X[at], shard.y[at], shard.features_of(at), np.stack(cavity)[:, at], left[at],
        shard.prior_var[at], gain[at],
    )  # fmt: skip
