"""The EP approximation to the log marginal likelihood of the factorised posterior."""

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods import Likelihood
from ..posterior import FactorisedPosterior
from .chain import ActiveSlopes, Chain, log_partitions
from .held_fixed import Criterion, Given

__all__ = ["ep_criterion", "log_evidence"]


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


def ep_criterion(given: Given, kernel: Kernel, likelihood: Likelihood) -> Criterion:
    r"""Log evidence of SLH eq. 11 and its gradient (eq. 12, 14) with I, J and the sites held fixed.

    In the terms of the chain rule it is, with :math:`\log Z_i` of an active row that of its cavity
    :math:`N(m_i - v_i / C_{ii}, 1 / C_{ii} - 1 / \pi_i)`,

    .. math:: \sum_{j \in J} \log Z_j + \sum_{i \in I} \bigl(\log Z_i - \log N(v_i / C_{ii} \mid 0, 1 / C_{ii})\bigr)
              + \log N(m \mid 0, A).

    Sites of Gaussian noise follow its parameters: then it is exact for I = all rows.
    """
    chain = Chain(given, kernel, likelihood)
    outside = chain.outside(log_partitions)
    own, c, v = likelihood.take(given.active), chain.c, chain.v
    value = log_evidence(chain.posterior, given.y_active, own, outside)
    at = chain.posterior.active_marginals()
    terms = log_partitions(own, given.y_active, at.cavity_mean, at.cavity_var)
    chain.by_likelihood += terms.by_likelihood.sum(axis=1)
    slopes = ActiveSlopes(
        by_v=(v - terms.by_mean) / c,
        by_c=(terms.by_mean * v - terms.by_var - 0.5 * v**2) / c**2 - 0.5 / c,
        by_m=terms.by_mean - v,
        by_s=-terms.by_var,
        by_matrix=0.5 * (np.outer(v, v) - chain.C),
    )
    return chain.finish(value, slopes)
