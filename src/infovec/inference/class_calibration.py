"""What the posterior says of a training row without its own site: predictions of rows left out, at no cost."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from .._types import Floats, Rows
from ..likelihoods.classes import ClassLikelihood
from ..numerics.certainty import POWER, SPREAD, equivalent
from ..runtime import NEVER, Deadline, Late, seconds_per_row, work_until

__all__ = ["LeftOut", "RowsLeftOut", "calibrated", "left_out_loss"]

_FEWEST = 200  # rows to calibrate with, whatever the time
_TRIALS = 150  # predictions of all rows where the spread is found too; the power alone needs one


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

    def every(self, step: int) -> "LeftOut":
        """One row out of so many."""
        weight = None if self.weight is None else self.weight[::step]
        return LeftOut(self.left_out[:, ::step], self.labels[::step], weight)


def calibrated(
    likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut], deadline: Deadline = NEVER
) -> ClassLikelihood:
    """Return the likelihood with the power, and spread, that predict rows left out best, or as well on average.

    The cavity of a row is the posterior without its site, as expectation propagation has it, and without those of rows
    that have the same inputs: a copy says nothing about how well another row would be predicted. Predictions are too
    timid where the active set leaves much variance in every class, and too bold where classes overlap and each function
    is learned as if it were alone; one number makes up for most of either. Where predictions cost little a second one
    says how much of the latent variances counts. Few rows leave the number open: then it is the one that says what all
    of them say on average (``equivalent``), the spread where there are both and else the power.

    Parameters
    ----------
    likelihood : ClassLikelihood
    shards : sequence of RowsLeftOut
    deadline : Deadline
        With little time fewer of the rows are asked; if it is over before an answer the likelihood stays as it is.
    """
    rows = _together(shards)
    if np.isinf(deadline.end):
        return _calibrated(likelihood, rows)
    with suppress(Late), work_until(deadline):
        return _calibrated(likelihood, _in_time(likelihood, rows, deadline))
    return likelihood


def _in_time(likelihood: ClassLikelihood, rows: LeftOut, deadline: Deadline) -> LeftOut:
    """As many rows, from the first to the last, as there is time to predict."""
    n = len(rows.labels)
    a_row = seconds_per_row(lambda size: lambda: likelihood.log_weights(*rows.every(n // size).left_out[:, :size]), n)
    most = max(int(deadline.left / (a_row * (_TRIALS if likelihood.spreads else 1))), _FEWEST)
    return rows.every(-(-n // most))


def _calibrated(likelihood: ClassLikelihood, rows: LeftOut) -> ClassLikelihood:
    n = len(rows.labels)
    share = np.ones(n) if rows.weight is None else rows.weight * (n / rows.weight.sum())

    def surprise(logs: Floats) -> float:
        power, spread = np.exp(logs)
        trial = replace(likelihood, power=float(power), spread=float(spread))
        return _loss(trial, rows) - (POWER.log_density(logs[0]) + SPREAD.log_density(logs[1])) / n

    if likelihood.spreads:
        found = minimize(surprise, np.zeros(2), method="L-BFGS-B", bounds=[POWER[2:], SPREAD[2:]])
        bold = replace(likelihood, power=float(np.exp(found.x[0])))

        def by_spread(spread: float) -> Floats:
            return replace(bold, spread=spread).log_proba(*rows.left_out)

        return replace(bold, spread=equivalent(by_spread, rows.labels, share, SPREAD))
    weights = likelihood.log_weights(*rows.left_out)

    def by_power(power: float) -> Floats:
        return np.asarray(log_softmax(power * weights, axis=1))

    return replace(likelihood, power=equivalent(by_power, rows.labels, share, POWER))


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
