"""The variational lower bound of the factorised posterior."""

import numpy as np

from .._types import Floats
from ..kernels import Kernel
from ..likelihoods import Likelihood
from .chain import ActiveSlopes, Chain, RowTerms
from .held_fixed import Criterion, Given

__all__ = ["variational_criterion"]


def variational_criterion(given: Given, kernel: Kernel, likelihood: Likelihood) -> Criterion:
    r"""Lower bound on the log marginal likelihood of the rows of I and J (Thesis C.3.3), and its gradient.

    .. math:: \sum_{i \in I \cup J} E_Q[\log p(y_i \mid u_i)] - D[Q(u_I) \| P(u_I)], \qquad Q(u_i) = N(h_i, a_i)

    with :math:`2 D = \log |B| + \mathrm{tr}\, B^{-1} - d + v^T h_I`, :math:`(B^{-1})_{ii} = C_{ii} / \pi_i`. It is a
    bound whatever the sites, which are held fixed; those of Gaussian noise follow its parameters.
    """
    chain = Chain(given, kernel, likelihood)
    outside = chain.outside(_expectations)
    own, c, v, m = likelihood.take(given.active), chain.c, chain.v, chain.given.site_mean
    s = 1.0 / chain.given.precision
    at = chain.posterior.active_marginals()
    terms = _expectations(own, given.y_active, at.mean, at.var)
    chain.by_likelihood += terms.by_likelihood.sum(axis=1)
    slopes = ActiveSlopes(
        by_v=-s * terms.by_mean - 0.5 * m + s * v,
        by_c=-(s**2) * terms.by_var - 0.5 * s,
        by_m=terms.by_mean - 0.5 * v,
        by_s=-v * terms.by_mean + (1.0 - 2.0 * c * s) * terms.by_var + 0.5 / s - 0.5 * c + 0.5 * v**2,
        by_matrix=-0.5 * chain.C,
    )
    value = outside + float(np.sum(terms.value)) - chain.posterior.relative_entropy()
    return chain.finish(value, slopes)


def _expectations(likelihood: Likelihood, y: Floats, mean: Floats, var: Floats) -> RowTerms:
    """Mean log likelihood of each row (c of the Thesis), with its slopes a and -d there."""
    value = likelihood.expected_log_prob(y, mean, var)
    return RowTerms(value, *likelihood.d_expected_log_prob(y, mean, var))
