"""The likelihood of the active set, and what it leaves to the noise."""

import numpy as np

from ..kernels import Kernel
from ..likelihoods import Likelihood
from .chain import ActiveSlopes, Chain, log_partitions
from .held_fixed import Criterion, Given

__all__ = ["active_set_criterion", "partition_criterion"]


def active_set_criterion(given: Given, kernel: Kernel, likelihood: Likelihood) -> Criterion:
    r"""Approximate log likelihood of the active rows alone (LSH05 eq. 32), in O(d^3) whatever n.

    .. math:: \log N(m_I \mid 0, A), \qquad A = K_I + \Pi_I^{-1}

    It depends on the likelihood through the sites only, which are held fixed unless the noise is Gaussian.
    """
    chain = Chain(given, kernel, likelihood)
    C, v, m, d = chain.C, chain.v, chain.given.site_mean, len(chain.v)
    log_det = chain.posterior.log_det_B - float(np.sum(np.log(chain.given.precision)))  # log |A|
    value = -0.5 * (float(m @ v) + log_det + d * np.log(2.0 * np.pi))
    nothing = np.zeros(d)
    return chain.finish(value, ActiveSlopes(nothing, nothing, -v, nothing, 0.5 * (np.outer(v, v) - C)))


def partition_criterion(given: Given, kernel: Kernel, likelihood: Likelihood) -> Criterion:
    r"""Sum of the log partition functions (LSH05 eq. 34), by which the parameters of the noise are learned.

    .. math:: \sum_{i \in I \cup J} \log Z_i

    The marginals are held fixed, so that nothing goes to the kernel. An active row counts by its cavity, as in SLH
    eq. 12: its marginal has seen its target already, and where most rows are active the noise would be taken for nil.
    """
    chain = Chain(given, kernel, likelihood)
    value = chain.outside(log_partitions, through_kernel=False)
    at, own = chain.posterior.active_marginals(), likelihood.take(given.active)
    terms = log_partitions(own, given.y_active, at.cavity_mean, at.cavity_var)
    by_likelihood = chain.by_likelihood + terms.by_likelihood.sum(axis=1)
    return Criterion(value + float(np.sum(terms.value)), np.zeros(kernel.theta.size), by_likelihood)
