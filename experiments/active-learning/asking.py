"""One course of asking: labels of a pool are bought one after the other, or in batches, and accuracy is noted."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infovec import IVMClassifier

__all__ = ["LEARN", "Split", "course", "needed", "split"]

LEARN = 1.15  # parameters are learned anew when the labels have become this many times more; between, rows are told
_STAYS = 5  # counts of labels for which accuracy must stay above the mark


class Split(NamedTuple):
    """A pool whose labels can be bought, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    first: np.ndarray  # rows of the pool whose labels are known at the start


Ask = Callable[[IVMClassifier, np.ndarray, int, np.random.Generator], np.ndarray]
"""From a model, the rows that have no label and a number to that many places among these rows."""


def split(X: np.ndarray, y: np.ndarray, pool: int, test: int, first: int, seed: int) -> Split:
    """Draw a pool, test rows and the first labels, two of each class and the rest at random; columns standardised."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    pool = min(pool, (2 * len(y)) // 3)
    P, T = order[:pool], order[pool : pool + test]
    sd = X[P].std(axis=0)
    X = (X - X[P].mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    two = np.concatenate([np.flatnonzero(y[P] == c)[:2] for c in np.unique(y[P])])
    rest = rng.permutation(np.setdiff1d(np.arange(pool), two))
    known = np.concatenate([two, rest])[: max(first, len(two))]
    return Split(X[P], y[P], X[T], y[T], known)


def course(data: Split, ask: Ask, labels: int, batch: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Buy labels until there are so many; return counts of labels and the accuracies with them.

    The labels of a batch are told one after the other, in the order of asking, so that a batch differs from one at a
    time in what was known when it was asked for, and in nothing else: 25 labels can be enough though they were asked
    for by twenties, and parameters are learned as often.
    """
    rng, known = np.random.default_rng(seed), data.first.copy()
    model, learned = IVMClassifier(random_state=0), len(known)
    model.fit(data.X[known], data.y[known])
    counts, accuracy = [len(known)], [model.score(data.X_test, data.y_test)]
    while len(known) < labels:
        open_ = np.setdiff1d(np.arange(len(data.y)), known)
        for row in open_[ask(model, data.X[open_], min(batch, labels - len(known)), rng)]:
            known = np.append(known, row)
            if len(known) >= LEARN * learned:
                model, learned = IVMClassifier(random_state=0).fit(data.X[known], data.y[known]), len(known)
            else:
                model.tell(data.X[[row]], data.y[[row]])
            counts.append(len(known))
            accuracy.append(model.score(data.X_test, data.y_test))
    return np.array(counts), np.array(accuracy)


def needed(counts: np.ndarray, accuracy: np.ndarray, mark: float) -> float:
    """First count of labels from which a curve is above a mark, and stays there for a while; infinite if never.

    Between two counts the curve is a straight line.
    """
    at = np.arange(counts[0], counts[-1] + 1)
    curve = np.interp(at, counts, accuracy)
    good = curve >= mark
    stays = [bool(good[k : k + _STAYS].all()) for k in range(len(at))]
    return float(at[int(np.argmax(stays))]) if any(stays) else float("inf")
