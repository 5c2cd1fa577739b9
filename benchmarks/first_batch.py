"""Accuracy after one batch: 20 rows asked for by a model of ten labels, at random, by information, and some at random.

Sides: "random"; "information", ``suggest(X, n)``; "some at random", ``suggest(X, n, at_random="auto")``. The rule of
the last one was chosen on moons, heart, sonar and thyroid with other splits; the other sets confirm it.
Ten labels are two of each class and others at random, or two of each class where these are more. The pool has up to
1000 rows, at most two thirds of a set, and up to 1000 others are predicted. Parameters are learned before and after.
"""

import argparse
import json
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from infovec import IVMClassifier

from .measure import significant
from .tasks import arrays

__all__ = ["SETS", "accuracies", "main"]

SETS = ("moons", "heart", "sonar", "thyroid", "spambase", "pima", "german", "australian", "twonorm", "satimage")
_POOL = 1000


def accuracies(name: str, batch: int, first: int, seed: int) -> dict[str, float]:
    """Return the accuracy of every side for one split."""
    rng = np.random.default_rng([seed, 17])
    X, y = _rows(name)
    order = rng.permutation(len(y))
    size = min(_POOL, 2 * len(y) // 3)
    P, T = order[:size], order[size : size + _POOL]
    sd = X[P].std(axis=0)
    X = (X - X[P].mean(axis=0)) / np.where(sd > 0.0, sd, 1.0)
    two = np.concatenate([P[y[P] == c][:2] for c in np.unique(y[P])])
    rest = np.setdiff1d(P, two)
    known = np.concatenate([two, rng.permutation(rest)[: max(first - len(two), 0)]])
    others = np.setdiff1d(P, known)
    model = IVMClassifier(random_state=0).fit(X[known], y[known])
    asked = {
        "random": rng.permutation(len(others))[:batch],
        "information": model.suggest(X[others], batch),
        "some at random": model.suggest(X[others], batch, at_random="auto"),
    }
    found = {}
    for side, places in asked.items():
        rows = np.append(known, others[places])
        found[side] = float(IVMClassifier(random_state=0).fit(X[rows], y[rows]).score(X[T], y[T]))
    return found


def _rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "moons":
        X, y = make_moons(2000, noise=0.25, random_state=7)
        return X, y
    stored = arrays(name)
    X = stored["X"] if "X" in stored else stored["X_train"]
    y = stored["y"] if "y" in stored else stored["y_train"]
    return np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]


def main() -> None:
    """Print a JSON line for every set: mean accuracies, and the gain of some at random with its standard error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_batch", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--first", type=int, default=10)
    chosen = parser.parse_args()
    for name in chosen.sets:
        splits = [accuracies(name, chosen.batch, chosen.first, seed) for seed in range(chosen.splits)]
        line: dict[str, Any] = {side: float(np.mean([one[side] for one in splits])) for side in splits[0]}
        gains = np.array([one["some at random"] - one["information"] for one in splits])
        line |= {"gain": gains.mean(), "standard error": gains.std(ddof=1) / np.sqrt(len(gains))}
        print(json.dumps({"set": name, **significant(line)}), flush=True)


if __name__ == "__main__":
    main()
