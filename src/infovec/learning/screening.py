"""Which columns of thousands to look at: what the evidence says of each, and of products of two."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._types import Floats, Inputs, Rows

__all__ = ["Spread", "best_products", "chance", "single_scores", "wave_scores"]

_WORK = 4e9  # multiplications for products of two columns; of more columns those that say most alone
_CONSTANT = 1e-7  # of the mean: a spread that is rounding
_WAVES = (1.0, 2.0)  # of each column: radians in a standard deviation
_BLOCK = 256  # columns at a time
_LOOKED = 8  # times as many products as are wanted are looked at closely
_FARTHEST = 4.0  # standard deviations: one row is not to make a product


class Spread(NamedTuple):
    """Means and standard deviations of columns, one where they are constant."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: Inputs) -> "Spread":
        """Return those of dense or CSR inputs."""
        if sparse.issparse(X):
            mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
            square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
            deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        else:
            mean, deviation = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
        return cls(mean, np.where(deviation > _CONSTANT * np.abs(mean), deviation, 1.0))

    def standard(self, X: Inputs, columns: Rows) -> Floats:
        """Return some columns around zero, spread by one, in single precision."""
        some = X[:, columns]
        Z = np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=np.float64)
        Z = (Z - self.mean[columns]) / self.deviation[columns]
        return np.clip(Z, -_FARTHEST, _FARTHEST).astype(np.float32)


def single_scores(X: Inputs, spread: Spread, residual: Floats) -> Floats:
    r"""Return how clearly each column goes with the residuals: :math:`|\sum_i a_i z_i| / (\sum_i a_i^2 z_i^2)^{1/2}`.

    About the size of a standard normal number where it says nothing, whatever the spread of the residuals.
    """
    a = residual - residual.mean()
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    total = np.asarray(X.T @ a).ravel() - spread.mean * a.sum()
    size = np.asarray(squares.T @ a**2).ravel() - 2.0 * spread.mean * np.asarray(X.T @ a**2).ravel()
    size = size + spread.mean**2 * float(a @ a)
    enough = size > 1e-12 * spread.deviation**2 * float(a @ a)
    return np.where(enough, np.abs(total) / np.sqrt(np.where(enough, size, 1.0)), 0.0)


def wave_scores(X: Inputs, spread: Spread, residual: Floats) -> Floats:
    """Return how clearly waves of each column go with the residuals, the clearest of them, as in ``single_scores``.

    One is about what the best of so many waves has by chance. Along such a column the function goes up and down.
    """
    a, p = (residual - residual.mean()).astype(np.float32), X.shape[1]
    found, squares = np.zeros(p), np.square(a)
    for start in range(0, p, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, p))
        Z = spread.standard(X, block)
        for wave in (part(omega * Z) for omega in _WAVES for part in (np.sin, np.cos)):
            wave -= wave.mean(axis=0)
            score = np.abs(a @ wave) / np.sqrt(squares @ np.square(wave) + np.float32(1e-6) * squares.sum() + 1e-30)
            found[block] = np.maximum(found[block], score)
    return found / chance(2.0 * len(_WAVES) * p)


def best_products(X: Inputs, spread: Spread, residual: Floats, single: Floats, wanted: int) -> tuple[Rows, Floats]:
    """Return the pairs of columns whose products go with the residuals most clearly, and how clearly, best first.

    One is about what the best of so many products has by chance.

    Two columns that matter only together say nothing alone. Squares are among the products. The time is that of a
    product of matrices, which is bounded: of too many columns the best of ``single`` are looked at.

    Parameters
    ----------
    X : array or CSR matrix
    spread : Spread
    residual : array
    single : array
        What each column says alone.
    wanted : int
        Pairs.

    Returns
    -------
    pairs : array of int, shape (wanted, 2)
    clear : array
    """
    n, p = X.shape
    most = int(min(p, max(np.sqrt(_WORK / n), 2.0)))
    columns = np.sort(np.argsort(-single, kind="stable")[:most])
    Z, a = spread.standard(X, columns), (residual - residual.mean()).astype(np.float32)
    found = [_best_of_block(Z, a, start, _LOOKED * wanted) for start in range(0, most, _BLOCK)]
    i, j, size = (np.concatenate(part) for part in zip(*found, strict=True))
    first = np.argsort(-size, kind="stable")[: _LOOKED * wanted]
    i, j = i[first], j[first]
    both = Z[:, i].astype(np.float64) * Z[:, j]
    both -= both.mean(axis=0)
    squares = np.square(a, dtype=np.float64)
    score = np.abs(a @ both) / np.sqrt(np.maximum(squares @ both**2, 1e-12 * squares.sum() + 1e-300))
    best = np.argsort(-score, kind="stable")[:wanted]
    pairs = np.stack([columns[i[best]], columns[j[best]]], axis=1)
    return pairs, score[best] / chance(0.5 * most * (most + 1.0))


def _best_of_block(Z: Floats, a: Floats, start: int, wanted: int) -> tuple[Rows, Rows, Floats]:
    """Largest sums of a z_i z_j with i in a block of columns and j from there on."""
    block = Z[:, start : start + _BLOCK]
    T = np.abs((block * a[:, None]).T @ Z[:, start:])
    T[np.tril_indices(len(T), -1)] = -1.0  # met before
    size = T.ravel()
    best = np.argpartition(-size, wanted)[:wanted] if len(size) > wanted else np.arange(len(size))
    best = best[size[best] >= 0.0]
    i, j = np.divmod(best, T.shape[1])
    return start + i, start + j, size[best]


def chance(number: float) -> float:
    """Return about what the largest of so many standard normal numbers is."""
    return float(np.sqrt(2.0 * np.log(max(number, 2.0))))
