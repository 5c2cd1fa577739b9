"""How certain predictions of two classes should be, by what the posterior says of rows left out."""

from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..likelihoods import Discrete, Likelihood, Weighted
from ..likelihoods.parts import in_parts
from ..numerics.certainty import SPREAD, equivalent

__all__ = ["Spread", "best_spread", "spreads"]


class Spread(NamedTuple):
    """Share of the latent variances that counts, and the mean log loss with it of rows left out, in nats."""

    share: float
    loss: float


def spreads(likelihood: Likelihood) -> bool:
    """Whether the certainty of predictions is a matter of its own: for two classes."""
    return isinstance(likelihood, Discrete) and len(likelihood.labels) == 2


def best_spread(likelihood: Likelihood, y: Floats, left_out: Floats) -> Spread:
    r"""Return the spread s that says what all of them say of rows left out, averaged as these rows ask for it.

    .. math:: p_{ic}(s) = \int p(c \mid u) N(u \mid \mu_{\setminus i}, s \sigma_{\setminus i}^2) \, du

    are the probabilities of ``equivalent``, which has the rest. For many rows it is the spread that predicts them best.

    The variance at a new row is mostly that of the prior which the active set leaves, if length scales are short and
    columns many. It is what the kernel says of functions everywhere, not what the rows say of this one. Where rows are
    few the parameters of the kernel are uncertain too, of which the variance does not know: there the spread is more
    than one until they say otherwise.

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
        return -float(weight @ in_parts(type(trial).log_predictive, trial, y, mean, var)) / total

    if not isinstance(likelihood, Discrete) or not spreads(likelihood):
        return Spread(1.0, loss(likelihood))

    discrete = likelihood

    def log_proba(spread: float) -> Floats:
        trial = discrete.with_spread(spread)
        found: Floats = in_parts(lambda some, y, *row: some.log_proba(*row).T, trial, y, mean, var)
        return found.T

    share = equivalent(log_proba, np.searchsorted(likelihood.labels, y), weight, SPREAD)
    return Spread(share, loss(likelihood.with_spread(share)))
