"""A batch of rows to ask for, chosen greedily so that none tells what another one does."""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..posterior import Posterior
from .expected import CANDIDATE_SCORES, AnyLikelihood, Expected, expected_precision, in_blocks
from .functions import Covariances, functions
from .prediction import MOST_PREDICTED, PREDICTION, Precisions, Predicted, predicted_information

__all__ = ["Batch", "Pool", "best_batch", "choose_batch", "choose_to_predict", "pool_size", "share_at_random"]

_POOL, _FOR_EACH = 4096, 64  # rows that are compared, and at least for each that is chosen
_NUMBERS = 2**24  # of their features
_AGAIN = 64  # rows whose score is looked at again at once
_CHANGED = 1e-9  # share of a variance that counts as a change
_NONE = np.empty(0, dtype=np.intp)


class Batch(NamedTuple):
    """Rows in the order of asking, and the score of each given those before it."""

    rows: Rows
    scores: Floats
    table: Floats | None = None  # of all rows, before each choice, if asked for


def pool_size(posterior: Posterior, n: int) -> int:
    """Return how many rows are compared with each other to choose n of them."""
    parts = functions(posterior)
    room = _NUMBERS // max(1, sum(part.X.shape[0] + MOST_PREDICTED for part in parts))
    return max(n, min(max(_POOL, _FOR_EACH * n), room))


def share_at_random(n: int, known: int) -> float:
    r"""Share of a batch that is drawn at random, since a model of few labels is no guide to many more.

    .. math:: \frac{n - 1}{n - 1 + k}

    with k labels known: none of one row, most of a batch that is larger than what is known.
    """
    return (n - 1) / (n - 1 + known)


class Pool:
    """The best rows of a stream, and others at random in proportion to their scores: half of each.

    Parameters
    ----------
    size : int
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows, self.scores, self.luck = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)

    def add(self, first: int, scores: Floats, luck: Floats) -> None:
        """Consider the next rows, with a number between zero and one at random for each."""
        self.rows = np.concatenate([self.rows, np.arange(first, first + len(scores))])
        self.scores, self.luck = np.concatenate([self.scores, scores]), np.concatenate([self.luck, luck])
        if len(self.rows) > self.size:
            best = np.argsort(-self.scores, kind="stable")
            top, rest = best[: self.size // 2], best[self.size // 2 :]
            turn = -np.log(np.maximum(self.luck[rest], 1e-300)) / np.maximum(self.scores[rest], 1e-300)
            kept = np.sort(np.concatenate([top, rest[np.argsort(turn, kind="stable")[: self.size - len(top)]]]))
            self.rows, self.scores, self.luck = self.rows[kept], self.scores[kept], self.luck[kept]


def choose_batch(
    posterior: Posterior,
    likelihood: AnyLikelihood,
    X: Inputs,
    n: int,
    score: Expected,
    thorough: bool = False,
    drawn: Rows = _NONE,
) -> Batch:
    r"""Choose n rows one after the other, each the best given that those before it are asked.

    .. math:: a'(x) = a(x) - c(x, x_*)^2 \, E_y \nu_y(x_*), \qquad
              c'(x, z) = c(x, z) - c(x, x_*) \, c(z, x_*) \, E_y \nu_y(x_*)

    with c the posterior covariance: what is expected of the variances when the label of :math:`x_*` is known; means are
    expected to stay. So a row that a chosen one tells about has less left to tell. A score that is out of date is an
    upper bound, since variances only fall: only the rows that may be the best are looked at again, or, if it is to be
    ``thorough``, all of them. Rows that were ``drawn`` take turns with the best ones.
    """
    parts = functions(posterior)
    mean, var = (np.asarray(v, dtype=np.float64).copy() for v in posterior.predict(X))
    one = mean.ndim == 1
    columns = [_Column(part, X) for part in parts]
    bound, fresh = in_blocks(score, likelihood, mean, var), np.ones(len(mean), dtype=bool)
    rows, scores, table, turns = np.empty(n, dtype=np.intp), np.empty(n), list[Floats](), _Turns(n, drawn)
    for t in range(n):
        if thorough:
            old = np.flatnonzero(~fresh)
            bound[old], fresh[old] = in_blocks(score, likelihood, mean[old], var[old]), True
            table.append(bound.copy())
        while not fresh[best := int(np.argmax(bound))]:
            again = np.argpartition(-bound, min(_AGAIN, len(bound) - 1))[:_AGAIN]
            again = again[~fresh[again]]
            bound[again], fresh[again] = in_blocks(score, likelihood, mean[again], var[again]), True
        best = turns.row(t, best, rows)
        here = slice(best, best + 1)
        rows[t], scores[t] = best, in_blocks(score, likelihood, mean[here], var[here])[0]
        precision = np.atleast_1d(expected_precision(likelihood, mean[here], var[here])[0])
        fall = np.stack(
            [column.told(column.with_row(best), nu) for column, nu in zip(columns, precision, strict=True)], axis=1
        )
        before = var.copy()
        var = np.maximum(var - (fall[:, 0] if one else fall), 0.0)
        changed = before - var > _CHANGED * before
        fresh &= ~(changed if one else changed.any(axis=1))
        bound[best] = -np.inf
        fresh[rows[: t + 1]] = True  # what was chosen is not looked at again
    return Batch(rows, scores, np.array(table) if thorough else None)


def choose_to_predict(predicted: Predicted, X: Inputs, n: int, thorough: bool = False, drawn: Rows = _NONE) -> Batch:
    r"""Choose n rows by what their labels tell of those of rows that are predicted, each given those before it.

    Covariances between rows and those that are predicted fall as those of ``choose_batch`` do,

    .. math:: c'(x, z) = c(x, z) - c(x, x_*) \, c(z, x_*) \, E_y \nu_y(x_*)
    """
    mean, var = predicted.moments(*predicted.posterior.predict(X))
    columns = [_Column(part, X) for part in functions(predicted.posterior)]
    tables, goal = predicted.covariance(X), predicted.var.copy()
    here, there = Precisions(predicted, mean, var), Precisions(predicted, predicted.mean, goal)
    turns = _Turns(n, drawn)
    rows, scores, table = np.empty(n, dtype=np.intp), np.empty(n), list[Floats]()
    for t in range(n):
        precision, wanted = here.with_variances(var), there.with_variances(goal)
        told = sum(predicted_information(*one) for one in zip(tables, precision.T, wanted.T, strict=True))
        value = np.asarray(told)
        value[rows[:t]] = -np.inf
        best = rows[t] = turns.row(t, int(np.argmax(value)), rows)
        scores[t] = value[best]
        if thorough:
            table.append(value)
        for c, column in enumerate(columns):
            nu, of_goal = precision[best, c], tables[c, best].copy()
            of_pool = predicted.spread * column.with_row(best)
            column.told(of_pool / predicted.spread, nu * predicted.spread)
            var[:, c] = np.maximum(var[:, c] - nu * of_pool**2, 0.0)
            goal[:, c] = np.maximum(goal[:, c] - nu * of_goal**2, 0.0)
            tables[c] -= nu * np.outer(of_pool, of_goal)
    return Batch(rows, scores, np.array(table) if thorough else None)


def best_batch(
    posterior: Posterior,
    likelihood: AnyLikelihood,
    X: Inputs,
    n: int,
    score: str,
    to_predict: Inputs | None = None,
    thorough: bool = False,
    drawn: Rows = _NONE,
) -> Batch:
    """Choose n rows by the score of that name; ``to_predict`` are the rows that "prediction" is about."""
    if score != PREDICTION:
        return choose_batch(posterior, likelihood, X, n, CANDIDATE_SCORES[score], thorough, drawn)
    predicted = Predicted(posterior, likelihood, X if to_predict is None else to_predict)
    return choose_to_predict(predicted, X, n, thorough, drawn)


class _Turns:
    """Rows that were drawn are spread evenly over a batch."""

    def __init__(self, n: int, drawn: Rows) -> None:
        before = np.arange(n + 1) * len(drawn) // n
        self._drawn, self._takes = list(drawn), np.diff(before) > 0

    def row(self, t: int, best: int, rows: Rows) -> int:
        """Return the next row that was drawn and is not in the batch, where it has the turn, else the best one."""
        while self._takes[t] and self._drawn:
            if (row := int(self._drawn.pop(0))) not in rows[:t]:
                return row
        return best


class _Column:
    """Covariances of one function between all rows of a pool, as they are when some labels are known."""

    def __init__(self, posterior: Posterior, X: Inputs) -> None:
        self.covariances, self.told_before = Covariances(posterior, X), list[Floats]()

    def with_row(self, row: int) -> Floats:
        """Covariances of all rows with one of them."""
        found = self.covariances.with_row(row)
        for column in self.told_before:
            found -= column[row] * column
        return found

    def told(self, covariance: Floats, nu: float) -> Floats:
        """Take note of a row whose label will be known; return by how much all variances fall."""
        self.told_before.append(np.sqrt(nu) * covariance)
        return np.asarray(nu * covariance**2)
