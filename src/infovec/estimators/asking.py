"""Estimators that say which label to ask for next."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._types import Floats, Foreign, Inputs, Rows
from ..active_learning import (
    CANDIDATE_SCORES,
    MOST_PREDICTED,
    PREDICTION,
    Batch,
    Pool,
    Predicted,
    best_batch,
    in_blocks,
    pool_size,
    share_at_random,
    some_to_predict,
    stacked,
)
from ..errors import ParameterError
from .far import is_dask, slices
from .latent import Latent
from .lazy import for_far_rows
from .settings import check_choice

__all__ = ["Asking", "Search", "still"]

_Piece: TypeAlias = tuple[Rows, Inputs]  # numbers of rows, and the rows

_SCORES = [*CANDIDATE_SCORES, PREDICTION]
_PIECE = 1 << 16  # rows that are scored at a time


class Asking(Latent):
    """Has ``score_candidates`` and ``suggest``."""

    random_state: int | np.random.RandomState | None

    @for_far_rows
    def score_candidates(self, X: object, score: str = "information", to_predict: object = None) -> Floats:
        """Say how much the label of each row would teach the model, before it is known.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows without labels.
        score : {"information", "prediction", "entropy", "variance", "margin"}
            "information": mutual information between the label and the function, in nats, which is what the label is
            expected to tell; a row that is uncertain because labels are noisy there scores low. "entropy": by how much
            the entropy of the Gaussian posterior is expected to fall. "variance": of the latent function, whatever the
            label; of several classes the mean. "prediction": mutual information between the label and that of a row
            that is to be predicted, on average over such rows; so a row that is like no other has little to tell.
            "margin": one less the difference of the two largest probabilities, for
            classes; it does not tell noise from ignorance.
        to_predict : array-like or CSR matrix, optional
            Rows that are to be predicted, for "prediction"; 256 rows of X at random unless given, or all if these are
            fewer.

        Returns
        -------
        scores : array of shape (n_samples,)
            Larger is better.

        Notes
        -----
        Variances are those that predictions are made with (``likelihood_.spread``), but ``class_weight`` does not
        count, nor does the power of coupled classes. For two and for ordered classes, numbers and counts the
        information is exact to 1e-8; one class against the rest adds up what each function is expected to learn;
        "softmax" is exact to 1e-7, "probit" and "variational" of more than two classes to about 0.002. "prediction" is
        exact for Gaussian noise, else in the limit of small covariances.
        """
        check_choice("score", score, _SCORES)
        if score == PREDICTION:
            check_is_fitted(self)
            rows = self._read(X)
            others = some_to_predict(rows, check_random_state(self.random_state))
            others = others if to_predict is None else self._read(to_predict)
            return Predicted(self.posterior_, self.likelihood_.for_new_rows(), others).scores(rows)
        mean, var = self._latent(X)
        return in_blocks(CANDIDATE_SCORES[score], self.likelihood_.for_new_rows(), mean, var)

    def suggest(
        self,
        X: object,
        n: int = 1,
        score: str = "information",
        return_scores: bool = False,
        to_predict: object = None,
        at_random: float | str = 0.0,
    ) -> Foreign:
        """Choose rows to ask for: a batch in which no row tells what another one does.

        Rows are chosen one after the other. After each, all variances are reduced by what its label is expected to
        tell, through the posterior covariance. A large pool is gone through once, in pieces: the batch is chosen among
        a few thousand rows, half of them the best ones and half at random in proportion to their scores.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The pool. An array that is not in memory, or a collection of Dask, is read a piece at a time.
        n : int
            How many rows.
        score : {"information", "prediction", "entropy", "variance", "margin"}
            As for ``score_candidates``. For "prediction" a large pool is first gone through by information.
        return_scores : bool
            Whether to return the scores as well.
        to_predict : array-like or CSR matrix, optional
            Rows that are to be predicted, for "prediction"; 256 rows of the pool at random unless given.
        at_random : float or "auto"
            Share of the batch that is drawn at random, in turns with the others, which know of them: a model of few
            labels is a poor guide to many more. "auto" is (n - 1) / (n - 1 + k), where the model knows k labels.

        Returns
        -------
        rows : array of int, shape (n,)
            Their numbers in X, in the order of choice: the most informative first, beside those at random.
        scores : array of shape (n,)
            Of each given those before it.
        """
        search = Search(self, n, score, to_predict, at_random)
        for piece in _pieces(X):
            search.add(piece)
        best = search.best()
        return (best.rows, best.scores) if return_scores else best.rows


class Search:
    """Looks for the best batch in a stream of rows.

    Parameters
    ----------
    model : fitted estimator
    n : int
        How many rows.
    score : str
    to_predict : rows that are to be predicted, optional
    at_random : float or "auto"
    """

    def __init__(
        self, model: Asking, n: int, score: str, to_predict: object = None, at_random: float | str = 0.0
    ) -> None:
        check_is_fitted(model)
        check_choice("score", score, _SCORES)
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ParameterError(f"n must be a whole number from 1, got {n!r}")
        self.model, self.n, self.score, self.total = model, int(n), score, 0
        self._drawn, self._lots = np.empty(0, dtype=np.intp), np.empty(0)
        self._to_draw = _number_at_random(at_random, self.n, model)
        self._random = check_random_state(model.random_state)
        self._pool, self._kept = Pool(pool_size(model.posterior_, self.n)), list[_Piece]()
        self._samples = score == PREDICTION and to_predict is None
        self._to_predict: Inputs | None = None if to_predict is None else model._read(to_predict)
        self._luck = np.empty(0)

    @property
    def rows(self) -> Rows:
        """Rows that may be chosen, of those so far."""
        return np.union1d(self._pool.rows, self._drawn)

    def add(self, X: object) -> None:
        """Consider more rows."""
        scores = self.model.score_candidates(X, "information" if self.score == PREDICTION else self.score)
        numbers, rows = np.arange(self.total, self.total + len(scores)), self.model._read(X)
        luck = self._random.random_sample(len(scores))
        self._pool.add(self.total, scores, luck)
        self._draw(numbers, luck)
        self._kept = still([*self._kept, (numbers, rows)], self.rows)
        self.total += len(scores)
        if self._samples:
            self._sample(rows)

    def _draw(self, numbers: Rows, luck: Floats) -> None:
        """Keep those of all rows so far whose numbers at random are the least: any rows are as likely as any others."""
        drawn, lots = np.concatenate([self._drawn, numbers]), np.concatenate([self._lots, luck])
        least = np.argsort(lots, kind="stable")[: self._to_draw]
        self._drawn, self._lots = drawn[least], lots[least]

    def _sample(self, rows: Inputs) -> None:
        """Keep those rows of all so far that have the least of a number at random."""
        before = self._luck
        luck = np.concatenate([before, self._random.random_sample(rows.shape[0])])
        kept = np.sort(np.argsort(luck, kind="stable")[:MOST_PREDICTED])
        old, new = kept[kept < len(before)], kept[kept >= len(before)] - len(before)
        parts = [rows[new]] if self._to_predict is None else [self._to_predict[old], rows[new]]
        self._to_predict, self._luck = stacked(*parts), luck[kept]

    def best(self) -> Batch:
        """Return the batch."""
        if self.n > self.total:
            raise ParameterError(
                f"{self.n} rows are asked for, but the pool has {self.total}: ask for fewer, or give more rows"
            )
        model, inputs = self.model, stacked(*(rows for _, rows in self._kept))
        numbers, told = np.concatenate([at for at, _ in self._kept]), model.likelihood_.for_new_rows()
        place = {number: at for at, number in enumerate(numbers.tolist())}
        drawn = np.array([place[number] for number in self._drawn.tolist()], dtype=np.intp)
        batch = best_batch(model.posterior_, told, inputs, self.n, self.score, self._to_predict, drawn=drawn)
        return batch._replace(rows=numbers[batch.rows])


def _number_at_random(share: float | str, n: int, model: Foreign) -> int:
    """How many rows of a batch are drawn."""
    if isinstance(share, str):
        check_choice("at_random", share, ["auto"])
        return round(n * share_at_random(n, model.n_samples_fit_))
    if isinstance(share, bool) or not isinstance(share, int | float | np.integer | np.floating) or not 0 <= share <= 1:
        raise ParameterError(f'at_random must be a share between 0 and 1, or "auto", got {share!r}')
    return round(n * float(share))


def still(kept: list[_Piece], rows: Rows) -> list[_Piece]:
    """Return what is kept of the rows that are still in a pool."""
    chosen = ((at, np.flatnonzero(np.isin(at, rows)), values) for at, values in kept)
    return [(at[here], values[here]) for at, here, values in chosen if here.size]


def _pieces(X: Foreign) -> Iterator[Foreign]:
    """Yield a pool in pieces that fit into memory."""
    if is_dask(X):
        chunks = X.to_delayed() if hasattr(X, "columns") else X.rechunk({1: -1}).to_delayed().ravel()
        loaded = (chunk.compute() for chunk in chunks)
        yield from (piece for piece in loaded if len(piece))
        return
    n = X.shape[0] if hasattr(X, "shape") else _num_samples(X)
    for start in range(0, max(n, 1), _PIECE):
        at = slice(start, min(start + _PIECE, n))
        yield X[at] if slices(X) or sparse.issparse(X) else _safe_indexing(X, at)
