"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from .._types import Floats, Rows
from .likelihood import ClassLikelihood

__all__ = ["LeftOut", "RowsLeftOut", "calibrated", "left_out_loss"]

_LEAST, _MOST = 0.1, 10.0  # of the power
_WIDTH = 1.0  # of a normal prior on its logarithm, which matters for few rows


class RowsLeftOut(Protocol):
    """Rows with what is known of each without its own site."""

    @property
    def left_out(self) -> Floats:
        """Means and variances of the latent values, shape (2, n, C)."""

    @property
    def labels(self) -> Rows:
        """Their classes."""


class LeftOut(NamedTuple):
    """The same, as arrays."""

    left_out: Floats
    labels: Rows


def calibrated(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> ClassLikelihood:
    """Return the likelihood with the power that predicts rows left out best.

    The cavity of a row is the posterior without its site, as expectation propagation has it. Predictions are too timid
    where the active set leaves much variance in every class, and too bold where classes overlap and each function is
    learned as if it were alone; one number makes up for most of either.
    """
    weights, labels = _left_out(likelihood, shards)

    def penalised(log_power: float) -> float:
        return len(labels) * _loss(weights, labels, float(np.exp(log_power))) + 0.5 * (log_power / _WIDTH) ** 2

    found = minimize_scalar(penalised, bounds=np.log([_LEAST, _MOST]), method="bounded", options={"xatol": 1e-3})
    return replace(likelihood, power=float(np.exp(found.x)))


def left_out_loss(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> float:
    """Mean log loss of the labels of all rows, each predicted from its cavity, in nats."""
    return _loss(*_left_out(likelihood, shards), likelihood.power)


def _left_out(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> tuple[Floats, Rows]:
    weights = [likelihood.log_weights(*shard.left_out) for shard in shards]
    return np.concatenate(weights), np.concatenate([shard.labels for shard in shards])


def _loss(weights: Floats, labels: Rows, power: float) -> float:
    return -float(np.mean(log_softmax(power * weights, axis=1)[np.arange(len(labels)), labels]))
