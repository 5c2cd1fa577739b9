"""Marginals of projections, and what is left of them when sites are taken out."""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Rows
from ..numerics.groups import of_groups

__all__ = ["SHARE_FLOOR", "Cavity", "in_units", "leave_out", "log_site_integral", "take_out"]

SHARE_FLOOR = {"float32": 1e-5, "float64": 1e-12}  # of a posterior precision that is not a row's own site


class Cavity(NamedTuple):
    """Marginals of the projections, and what is left of them when a row's own site is taken out."""

    mean: Floats
    var: Floats
    cavity_mean: Floats
    cavity_var: Floats
    share: Floats  # 1 - pi q

    def with_site(self, precision: Floats) -> "Cavity":
        """Return the same cavities beside other sites, whose marginals are not known yet."""
        return self._replace(share=1.0 / (1.0 + precision * self.cavity_var))


def take_out(mean: Floats, var: Floats, precision: Floats, b: Floats, dtype: str) -> Cavity:
    """Take a row's own site out of its marginal; something is left of it in any case."""
    share = np.maximum(1.0 - precision * var, SHARE_FLOOR[dtype])
    return Cavity(mean, var, (mean - var * b) / share, var / share, share)


def leave_out(
    marginals: tuple[Floats, Floats],
    sites: tuple[Floats, Floats],
    variance_left: Floats,
    group: Rows | None,
    dtype: str,
) -> Floats:
    r"""Means and variances of latent values without the sites of all rows of the same inputs, shape (2, n, ...).

    .. math:: N(u_i \mid \mu_{\setminus i}, q_{\setminus i} + l_i^2)

    Parameters
    ----------
    marginals : means and variances of the projections, shape (n,) or (n, C)
    sites : precisions and shifts
    variance_left : array of shape (n,)
        What the active set leaves of the variance, l^2.
    group : array of int, shape (n,), optional
        The same number for rows of equal inputs; None if no inputs are equal.
    dtype : precision of the projections
    """
    precision, b = (of_groups(part, group) for part in sites)
    cavity = take_out(*marginals, precision, b, dtype)
    return np.stack([cavity.cavity_mean, (cavity.cavity_var.T + variance_left).T])


def log_site_integral(pi: Floats, b: Floats, cavity: Cavity) -> Floats:
    r"""Log normaliser of a site under its cavity.

    .. math:: \log \int e^{b \gamma - \pi \gamma^2 / 2} N(\gamma \mid \mu_{\setminus}, q_{\setminus}) \, d\gamma
              = \tfrac12 \log(1 - \pi q) + \frac{2 b \mu_\setminus + b^2 q_\setminus - \pi \mu_\setminus^2}{2 (1 + \pi
              q_\setminus)}

    with :math:`1 + \pi q_\setminus = 1 / (1 - \pi q)`.
    """
    m, v = cavity.cavity_mean, cavity.cavity_var
    return 0.5 * (np.log(cavity.share) + cavity.share * (2.0 * b * m + b**2 * v - pi * m**2))


def in_units(pi: Floats, b: Floats, cavity: Cavity) -> Floats:
    """What a site does to its marginal: to the variance, relatively, and to the mean, in standard deviations."""
    return np.stack([pi * cavity.var, (b - pi * cavity.mean) * np.sqrt(cavity.var)])
