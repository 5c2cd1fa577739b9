"""How certain predictions should be, by how well the posterior predicts rows left out."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize

from .._types import Floats, Rows
from ..likelihoods import Discrete, Likelihood, Weighted
from ..likelihoods.classes import ClassLikelihood
from ..likelihoods.parts import in_parts
from ..numerics.certainty import POWER, SPREAD, equivalent
from ..runtime import NEVER, Deadline, Late, seconds_per_row, work_until

__all__ = ["LeftOut", "RowsLeftOut", "Spread", "best_spread", "calibrated", "left_out_loss", "spreads"]

_FEWEST = 200  # rows to calibrate with, whatever the time
_TRIALS = 150  # predictions of all rows where the spread is found too; the power alone needs one
_DIGITS = 5  # of the logarithm of the power: beyond them it depends on the order in which rows are added up


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


class _Rows(NamedTuple):
    """All rows together, also of one function: latent values of shape (2, n), targets instead of classes."""

    left_out: Floats
    labels: Floats
    weight: Floats

    def every(self, step: int) -> "_Rows":
        """One row out of so many."""
        return _Rows(self.left_out[:, ::step], self.labels[::step], self.weight[::step])


class Spread(NamedTuple):
    """Share of the latent variances that counts, and the mean log loss with it of rows left out, in nats."""

    share: float
    loss: float


def spreads(likelihood: Likelihood) -> bool:
    """Whether the certainty of predictions is a matter of its own: for two classes."""
    return isinstance(likelihood, Discrete) and len(likelihood.labels) == 2


def best_spread(likelihood: Likelihood, y: Floats, left_out: Floats) -> Spread:
    r"""Return the spread s of two classes, as rows left out ask for it, and how well these are predicted with it.

    .. math:: p_{ic}(s) = \int p(c \mid u) N(u \mid \mu_{\setminus i}, s \sigma_{\setminus i}^2) \, du

    are the probabilities that ``equivalent`` averages. For many rows it is the spread that predicts them best.

    The variance at a new row is mostly that of the prior which the active set leaves, if length scales are short and
    columns many. It is what the kernel says of functions everywhere, not what the rows say of this one. Where rows are
    few the parameters of the kernel are uncertain too, of which the variance does not know: there the spread is more
    than one until they say otherwise.

    Parameters
    ----------
    likelihood : Likelihood
        Without two classes the spread is one. A row of weight w counts w times.
    y : targets
        Rows whose label is not known do not count.
    left_out : array of shape (2, n)
        Latent means and variances.
    """
    if not (told := likelihood.told(y)).all():
        likelihood, y, left_out = likelihood.take(np.flatnonzero(told)), y[told], left_out[:, told]
    weight = np.broadcast_to(likelihood.weight if isinstance(likelihood, Weighted) else 1.0, y.shape)
    rows, share = _Rows(left_out, y, weight), 1.0
    if isinstance(likelihood, Discrete) and spreads(likelihood):
        discrete, own = likelihood, np.searchsorted(likelihood.labels, y)
        share = _spread(lambda s: partial(_log_proba, discrete.with_spread(s), y), rows._replace(labels=own))
        likelihood = discrete.with_spread(share)
    return Spread(share, _loss(likelihood, rows))


def calibrated(
    likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut], deadline: Deadline = NEVER
) -> ClassLikelihood:
    """Return the likelihood of many classes with the power, and spread, that rows left out ask for.

    The cavity of a row is the posterior without its site, as expectation propagation has it, and without those of rows
    that have the same inputs: a copy says nothing about how well another row would be predicted. Predictions are too
    timid where the active set leaves much variance in every class, and too bold where classes overlap and each function
    is learned as if it were alone; one number, the power, makes up for most of either. Where predictions cost little
    the spread is a second one, and the power is the most probable one beside it. Few rows leave a number open: the last
    of them, the spread where there are both, is averaged over (``equivalent``). Of weights only the proportions count.

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


def _in_time(likelihood: ClassLikelihood, rows: _Rows, deadline: Deadline) -> _Rows:
    """As many rows, from the first to the last, as there is time to predict."""
    n = len(rows.labels)
    a_row = seconds_per_row(lambda size: lambda: likelihood.log_weights(*rows.every(n // size).left_out[:, :size]), n)
    most = max(int(deadline.left / (a_row * (_TRIALS if likelihood.spreads else 1))), _FEWEST)
    return rows.every(-(-n // most))


def _calibrated(likelihood: ClassLikelihood, rows: _Rows) -> ClassLikelihood:
    n = len(rows.labels)
    shares = rows._replace(weight=rows.weight * (n / rows.weight.sum()))

    def surprise(logs: Floats) -> float:
        power, spread = np.exp(logs)
        trial = replace(likelihood, power=float(power), spread=float(spread))
        return _loss(trial, rows) - (POWER.log_density(logs[0]) + SPREAD.log_density(logs[1])) / n

    if likelihood.spreads:
        found = minimize(surprise, np.zeros(2), method="L-BFGS-B", bounds=[POWER[2:], SPREAD[2:]])
        power = float(np.exp(np.round(found.x[0], _DIGITS)))
        bold = replace(likelihood, power=power)
        return replace(bold, spread=_spread(lambda s: replace(bold, spread=s).log_proba, shares))
    weights = likelihood.log_weights(*rows.left_out)

    def by_power(power: float) -> Floats:
        return replace(likelihood, power=power).of_weights(weights)

    return replace(likelihood, power=equivalent(by_power, rows.labels, shares.weight, POWER))


def left_out_loss(likelihood: ClassLikelihood, shards: Sequence[RowsLeftOut]) -> float:
    """Mean log loss of the labels of all rows, each predicted from its cavity, in nats."""
    return _loss(likelihood, _together(shards))


def _together(shards: Sequence[RowsLeftOut]) -> _Rows:
    weights = [np.ones(len(shard.labels)) if shard.weight is None else shard.weight for shard in shards]
    labels, weight = np.concatenate([shard.labels for shard in shards]), np.concatenate(weights)
    return _Rows(np.concatenate([shard.left_out for shard in shards], axis=1), labels, weight)


def _spread(log_proba: Callable[[float], Callable[[Floats, Floats], Floats]], rows: _Rows) -> float:
    """Return the spread that rows ask for, given how a spread predicts from latent means and variances."""
    return equivalent(lambda spread: log_proba(spread)(*rows.left_out), rows.labels, rows.weight, SPREAD)


def _log_proba(likelihood: Discrete, y: Floats, mean: Floats, var: Floats) -> Floats:
    """Log probabilities of the labels, some rows at a time where memory is scarce."""
    found: Floats = in_parts(lambda some, y, *row: some.log_proba(*row).T, likelihood, y, mean, var)
    return found.T


def _loss(likelihood: Likelihood | ClassLikelihood, rows: _Rows) -> float:
    if isinstance(likelihood, ClassLikelihood):
        found = likelihood.log_predictive(rows.labels, *rows.left_out)
    else:
        found = in_parts(type(likelihood).log_predictive, likelihood, rows.labels, *rows.left_out)
    return -float(np.average(found, weights=rows.weight))
