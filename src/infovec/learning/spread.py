"""How certain predictions of two classes should be, by what the posterior says of rows left out."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from .._types import Floats
from ..likelihoods import Discrete, Likelihood, Weighted

__all__ = ["Spread", "best_spread", "spreads"]

_LOGS = np.log([1e-3, 10.0])  # limits of the spread
_WIDTH = 2.0  # of a normal prior on its logarithm, which matters for few rows


class Spread(NamedTuple):
    """Share of the latent variances that counts, and the mean log loss with it of rows left out, in nats."""

    share: float
    loss: float


def spreads(likelihood: Likelihood) -> bool:
    """Whether the certainty of predictions is a matter of its own: for two classes."""
    return isinstance(likelihood, Discrete) and len(likelihood.labels) == 2


def best_spread(likelihood: Likelihood, y: Floats, left_out: Floats) -> Spread:
    r"""Return the spread s that predicts rows left out best.

    .. math:: \min_s \; -\sum_i w_i \log \int p(y_i \mid u) N(u \mid \mu_{\setminus i}, s \sigma_{\setminus i}^2) \, du
              + \tfrac12 (\log s / 2)^2

    The variance at a new row is mostly that of the prior which the active set leaves, if length scales are short and
    columns many. It is what the kernel says of functions everywhere, not what the rows say of this one.

    Parameters
    ----------
    likelihood : Likelihood
        Without two classes the spread is one.
    y : targets
    left_out : array of shape (2, n)
        Latent means and variances.
    """
    mean, var = left_out
    weight = np.broadcast_to(likelihood.weight if isinstance(likelihood, Weighted) else 1.0, mean.shape)
    total = float(weight.sum())

    def loss(trial: Likelihood) -> float:
        return -float(weight @ trial.log_predictive(y, mean, var)) / total

    if not isinstance(likelihood, Discrete) or not spreads(likelihood):
        return Spread(1.0, loss(likelihood))

    def penalised(log_spread: float) -> float:
        return loss(likelihood.with_spread(np.exp(log_spread))) + 0.5 * (log_spread / _WIDTH) ** 2 / total

    best = minimize_scalar(penalised, bounds=tuple(_LOGS), method="bounded", options={"xatol": 1e-2})
    share = float(np.exp(best.x))
    return Spread(share, loss(likelihood.with_spread(share)))
