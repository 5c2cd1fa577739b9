"""The EP approximation to the log marginal likelihood of the factorised posterior."""

import numpy as np

from .._types import Floats
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior

__all__ = ["log_evidence"]


def log_evidence(posterior: FactorisedPosterior, y: Floats, likelihood: Likelihood, outside: float) -> float:
    r"""Minus the criterion of SLH eq. 11.

    .. math:: \log Q(D) = \sum_{i \in I \cup J} \log Z_i - \sum_{i \in I} \log \tilde Z_i
              + \tfrac12 \bigl(h_I^T b - \log |B|\bigr)

    with :math:`\log \tilde Z_i = \tfrac12 \bigl(\log(1 - \pi_i a_i) -
    (\pi_i h_i^2 - 2 h_i b_i + a_i b_i^2) / (1 - \pi_i a_i)\bigr)`.

    Parameters
    ----------
    posterior : FactorisedPosterior
    y, likelihood
        Targets and likelihood of the active rows, in order of inclusion.
    outside : float
        Sum of log Z over the rows that are not active.
    """
    if not len(y):
        return outside
    at = posterior.active_marginals()
    pi, b = posterior.precision, posterior.precision * posterior.site_mean
    log_z = likelihood.tilted(y, at.cavity_mean, at.cavity_var).log_z
    # pi h^2 - 2 h b + a b^2, with a = (1 - share) / pi, is pi (h - m)^2 - share pi m^2
    quadratic = pi * (at.mean - posterior.site_mean) ** 2 / at.cavity_share - pi * posterior.site_mean**2
    log_z_site = 0.5 * (np.log(at.cavity_share) - quadratic)
    return outside + float(np.sum(log_z - log_z_site) + 0.5 * (at.mean @ b - posterior.log_det_B))
