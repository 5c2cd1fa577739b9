"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from .._types import Floats, Rows
from .likelihood import ClassLikelihood

__all__ = ["LeftOut", "RowsLeftOut", "calibrated", "left_out_loss"]

_MOST = 10.0  # power, or its inverse
_WIDTHS = np.array([1.0, 2.0])  # of normal priors on the logarithms of power and spread, which matter for few rows


class RowsLeftOut(Protocol):
    """Rows with what is known of each without the sites of all rows that have the same inputs."""

    @property
    def left_out(self) -> Floats:
        """Means and variances of the latent values, shape (2, n, C)."""

    @property
    def labels(self) -> Rows:
        """Their classes."""

    @property
    def weight(self) -> Floats | None:
        """How many times each counts; once if None."""


class LeftOut(NamedTuple):
    """The same, as arrays."""

    left_out: Floats
    labels: Rows
    weight: Floats | None = None


def calibrated(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> ClassLikelihood:
    """Return the likelihood with the power, and spread, that predict rows left out best.

    The cavity of a row is the posterior without its site, as expectation propagation has it, and without those of rows
    that have the same inputs: a copy says nothing about how well another row would be predicted. Predictions are too
    timid where the active set leaves much variance in every class, and too bold where classes overlap and each function
    is learned as if it were alone; one number makes up for most of either. Where predictions cost little a second one
    says how much of the latent variances counts.
    """
    rows = _together(shards)
    n, most = len(rows.labels), np.log(_MOST)

    def penalised(logs: Floats) -> float:
        power, spread = np.exp(logs)
        trial = replace(likelihood, power=float(power), spread=float(spread))
        return _loss(trial, rows) + 0.5 * float(np.sum((logs / _WIDTHS) ** 2)) / n

    if likelihood.spreads:
        found = minimize(penalised, np.zeros(2), method="L-BFGS-B", bounds=[(-most, most), (-3.0 * most, most)])
        power, spread = np.exp(found.x)
        return replace(likelihood, power=float(power), spread=float(spread))
    weights, own = likelihood.log_weights(*rows.left_out), (np.arange(n), rows.labels)

    def by_power(log_power: float) -> float:
        loss = -float(np.average(log_softmax(np.exp(log_power) * weights, axis=1)[own], weights=rows.weight))
        return loss + 0.5 * (log_power / _WIDTHS[0]) ** 2 / n

    best = minimize_scalar(by_power, bounds=(-most, most), method="bounded", options={"xatol": 1e-3})
    return replace(likelihood, power=float(np.exp(best.x)))


def left_out_loss(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> float:
    """Mean log loss of the labels of all rows, each predicted from its cavity, in nats."""
    return _loss(likelihood, _together(shards))


def _together(shards: Sequence[RowsLeftOut]) -> LeftOut:
    found = np.concatenate([shard.left_out for shard in shards], axis=1)
    weights = [np.ones(len(shard.labels)) if shard.weight is None else shard.weight for shard in shards]
    weight = None if all(shard.weight is None for shard in shards) else np.concatenate(weights)
    return LeftOut(found, np.concatenate([shard.labels for shard in shards]), weight)


def _loss(likelihood: ClassLikelihood, rows: LeftOut) -> float:
    return -float(np.average(likelihood.log_predictive(rows.labels, *rows.left_out), weights=rows.weight))
