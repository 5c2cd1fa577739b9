"""The variational lower bound on the log marginal likelihood (Thesis 4.5.1)."""

from collections.abc import Sequence

import numpy as np

from ..posterior import ProjectedPosterior
from ..shards import ProjectedShard

__all__ = ["variational_bound"]


def variational_bound(shards: Sequence[ProjectedShard], posterior: ProjectedPosterior) -> float:
    r"""Minus G of the Thesis: a lower bound on log P(y), whatever the sites.

    .. math:: \sum_i E_Q[\log p(y_i \mid u_i)] - D[Q(u_I) \| P(u_I)], \qquad Q(u_i) = N(\mu_i, q_i + l_i^2)

    With Gaussian noise and sites without blur it is the bound that GPflow and GPyTorch call SGPR.
    """
    expected = 0.0
    for shard in shards:
        for chunk in shard.chunks:
            V = shard.features(chunk).astype(np.float64)
            mean, var = posterior.projected(V)
            var += shard.variance_left[chunk]
            likelihood = shard.likelihood.take(np.arange(chunk.start, chunk.stop))
            expected += float(np.sum(likelihood.expected_log_prob(shard.y[chunk], mean, var)))
    return expected - posterior.relative_entropy()
