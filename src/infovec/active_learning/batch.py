"""A batch of rows to ask for, chosen greedily so that none tells what another one does."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Floats, Inputs, Rows
from ..posterior import ClassPosterior, Posterior, SeparatePosterior
from .expected import AnyLikelihood, Expected, expected_precision, in_blocks

__all__ = ["Batch", "Pool", "choose_batch", "functions", "pool_size"]

_POOL, _FOR_EACH = 4096, 64  # rows that are compared, and at least for each that is chosen
_NUMBERS = 2**24  # of their features
_AGAIN = 64  # rows whose score is looked at again at once
_CHANGED = 1e-9  # share of a variance that counts as a change


class Batch(NamedTuple):
    """Rows in the order of asking, and the score of each given those before it."""

    rows: Rows
    scores: Floats
    table: Floats | None = None  # of all rows, before each choice, if asked for


def functions(posterior: Posterior) -> Sequence[Posterior]:
    """Return the posterior of every latent function."""
    return posterior.parts if isinstance(posterior, ClassPosterior | SeparatePosterior) else (posterior,)


def pool_size(posterior: Posterior, n: int) -> int:
    """Return how many rows are compared with each other to choose n of them."""
    parts = functions(posterior)
    room = _NUMBERS // max(1, sum(part.X.shape[0] for part in parts))
    return max(n, min(max(_POOL, _FOR_EACH * n), room))


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
    posterior: Posterior, likelihood: AnyLikelihood, X: Inputs, n: int, score: Expected, thorough: bool = False
) -> Batch:
    r"""Choose n rows one after the other, each the best given that those before it are asked.

    .. math:: a'(x) = a(x) - c(x, x_*)^2 \, E_y \nu_y(x_*), \qquad
              c'(x, z) = c(x, z) - c(x, x_*) \, c(z, x_*) \, E_y \nu_y(x_*)

    with c the posterior covariance: what is expected of the variances when the label of :math:`x_*` is known; means are
    expected to stay. So a row that a chosen one tells about has less left to tell. A score that is out of date is an
    upper bound, since variances only fall: only the rows that may be the best are looked at again, or, if it is to be
    ``thorough``, all of them.
    """
    parts = functions(posterior)
    mean, var = (np.asarray(v, dtype=np.float64).copy() for v in posterior.predict(X))
    one = mean.ndim == 1
    columns = [_Column(part, X) for part in parts]
    bound, fresh = in_blocks(score, likelihood, mean, var), np.ones(len(mean), dtype=bool)
    rows, scores, table = np.empty(n, dtype=np.intp), np.empty(n), list[Floats]()
    for t in range(n):
        if thorough:
            old = np.flatnonzero(~fresh)
            bound[old], fresh[old] = in_blocks(score, likelihood, mean[old], var[old]), True
            table.append(bound.copy())
        while not fresh[best := int(np.argmax(bound))]:
            again = np.argpartition(-bound, min(_AGAIN, len(bound) - 1))[:_AGAIN]
            again = again[~fresh[again]]
            bound[again], fresh[again] = in_blocks(score, likelihood, mean[again], var[again]), True
        rows[t], scores[t] = best, bound[best]
        here = slice(best, best + 1)
        precision = np.atleast_1d(expected_precision(likelihood, mean[here], var[here])[0])
        fall = np.stack([column.told(best, nu) for column, nu in zip(columns, precision, strict=True)], axis=1)
        before = var.copy()
        var = np.maximum(var - (fall[:, 0] if one else fall), 0.0)
        changed = before - var > _CHANGED * before
        fresh &= ~(changed if one else changed.any(axis=1))
        bound[best] = -np.inf
        fresh[rows[: t + 1]] = True  # what was chosen is not looked at again
    return Batch(rows, scores, np.array(table) if thorough else None)


class _Column:
    """Covariances of one function between all rows of a pool, as far as they are asked for."""

    def __init__(self, posterior: Posterior, X: Inputs) -> None:
        self.kernel, self.X = posterior.kernel, X
        blocks = [posterior.features(K) for _, K in posterior.blocks(X)]
        nothing = np.zeros((X.shape[0], 0))
        self.A: Floats = np.concatenate([A for A, _ in blocks]) if blocks else nothing
        self.B: Floats = np.concatenate([B for _, B in blocks]) if blocks else nothing
        self.told_before: list[Floats] = []

    def told(self, row: int, nu: float) -> Floats:
        """Take note of a row whose label will be known; return by how much all variances fall."""
        K = np.asarray(self.kernel(self.X, self.X[row : row + 1]), dtype=np.float64)[:, 0]
        K[row] = float(np.asarray(self.kernel.diag(self.X[row : row + 1]))[0])  # a row with itself: white noise counts
        K = K - self.A @ self.A[row] + self.B @ self.B[row]
        for column in self.told_before:
            K -= column[row] * column
        self.told_before.append(np.sqrt(nu) * K)
        return np.asarray(nu * K**2)
