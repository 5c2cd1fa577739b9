"""Several tasks with one kernel: against knowing it, against separate fits, against one fit to all; and real ones."""

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import stored
from experiments.report import claim, compare
from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias, Coregion, Kernel, Tasks
from infovec.likelihoods import Probit

from .drawn import CORRELATED, TRUE, Rows, correlated_tasks, draw_tasks

__all__ = ["FULL", "QUICK", "Sizes", "run"]

ASKED = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    draws: int
    tasks: int
    test_rows: int  # for each task
    counts: tuple[int, ...]  # of tasks, of which the seconds of learning are measured
    correlated: int  # draws of three correlated tasks
    splits: int  # of vowel
    classes: int


FULL = Sizes(10, 50, 200, (50, 100, 200), 10, 3, 11)
QUICK = Sizes(1, 50, 40, (25, 50), 3, 1, 4)


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Run everything; return rows of what was asked for, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [*one_kernel(sizes), *seconds(sizes), *correlations(sizes), *speakers(sizes)]


def one_kernel(sizes: Sizes) -> list[Row]:
    """Tasks of 20 rows each, drawn from one kernel: log loss of rows that were left out."""
    losses: dict[str, list[float]] = {}
    for seed in range(sizes.draws):
        train, test = draw_tasks(sizes.tasks, 20, sizes.test_rows, seed)
        known = _fit(Tasks(TRUE), train, likelihood=Probit(), learn=None)
        learned = _fit(Tasks(RBF() + Bias()), train)
        proba = {
            "kernel known": known.predict_proba(test.X, groups=test.task),
            "Tasks, learned": learned.predict_proba(test.X, groups=test.task),
            "separate fits": _separate(train, test, 2),
            "one fit to all": IVMClassifier(random_state=0).fit(train.X, train.y).predict_proba(test.X),
        }
        for name, p in proba.items():
            losses.setdefault(name, []).append(_loss(p, test.y))
        _say(f"draw {seed}: { ({name: round(loss[-1], 4) for name, loss in losses.items()}) }; {learned.kernel_!r}")
    mean = {name: float(np.mean(loss)) for name, loss in losses.items()}
    rows = [compare(f"{sizes.tasks} tasks, {name}: log loss", None, loss) for name, loss in mean.items()]
    ratio, most = mean["Tasks, learned"] / mean["kernel known"], ASKED["log_loss_over_known"]
    rows.append(claim("Tasks, learned / kernel known: log loss", f"< {most}", ratio, ratio < most))
    for name in ("separate fits", "one fit to all"):
        ratio = mean["Tasks, learned"] / mean[name]
        rows.append(claim(f"Tasks, learned / {name}: log loss", "< 0.97", ratio, ratio < 0.97))
    return rows


def seconds(sizes: Sizes) -> list[Row]:
    """Seconds of learning over tasks of 30 rows, and how much faster than their number they grow."""
    taken = []
    for count in sizes.counts:
        train, _ = draw_tasks(count, 30, 1, 0)
        taken.append(_fit(Tasks(RBF() + Bias()), train, n_active=10 * count).history_["learning_seconds"])
    rows = [compare(f"{n} tasks of 30 rows, learning: s", None, s) for n, s in zip(sizes.counts, taken, strict=True)]
    growth = taken[-1] / taken[0] / (sizes.counts[-1] / sizes.counts[0])
    most = ASKED["seconds_over_linear"]
    rows.append(claim("seconds / linear in the number of tasks", f"< {most}", growth, growth < most))
    return rows


def correlations(sizes: Sizes) -> list[Row]:
    """Three tasks of known correlations: what is learned, and its error over several draws."""
    found = []
    for seed in range(sizes.correlated):
        X, y, task = correlated_tasks(100, seed)
        model = IVMRegressor(kernel=Coregion(RBF(), rank=2), random_state=0).fit(X, y, groups=task)
        found.append(model.kernel_.correlation[np.triu_indices(3, 1)])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    true = (CORRELATED / np.sqrt(np.outer(np.diagonal(CORRELATED), np.diagonal(CORRELATED))))[np.triu_indices(3, 1)]
    pairs = ("1 and 2", "1 and 3", "2 and 3")
    rows = [
        compare(f"correlation of tasks {pair}", float(r), float(m))
        for pair, r, m in zip(pairs, true, mean, strict=True)
    ]
    worst = float(np.max(np.abs(mean - true) / error))
    most = ASKED["errors_of_correlation"]
    return [*rows, claim("largest difference, in standard errors", f"< {most:g}", worst, worst < most)]


def speakers(sizes: Sizes) -> list[Row]:
    """Vowels of eight speakers: half of each one's rows to train, the other half to test."""
    file = stored("vowel")
    X, y, task = file["X_train"].astype(np.float64), file["y_train"].astype(np.intp), file["speaker_train"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    some = y < sizes.classes
    X, y, task = X[some], y[some], task[some]
    found: dict[str, list[tuple[float, float]]] = {}
    for split in range(sizes.splits):
        chosen = _half(y, task, split)
        train, test = Rows(X[chosen], y[chosen], task[chosen]), Rows(X[~chosen], y[~chosen], task[~chosen])
        start = RBF(3.0, 10.0) + Bias()
        proba = {
            "one fit to all": IVMClassifier(kernel=start, random_state=0).fit(train.X, train.y).predict_proba(test.X),
            "separate fits": _separate(train, test, sizes.classes, start),
            "Tasks": _fit(Tasks(start), train).predict_proba(test.X, groups=test.task),
            "Coregion": _fit(Coregion(start, rank=1), train).predict_proba(test.X, groups=test.task),
        }
        for name, p in proba.items():
            found.setdefault(name, []).append((100 * float(np.mean(p.argmax(axis=1) != test.y)), _loss(p, test.y)))
        _say(f"vowel, split {split}: { ({name: tuple(np.round(v[-1], 3)) for name, v in found.items()}) }")
    rows = []
    for name, figures in found.items():
        error, loss = np.mean(figures, axis=0)
        rows += [compare(f"vowel, {name}: error %", None, error), compare(f"vowel, {name}: log loss", None, loss)]
    return rows


def _fit(kernel: Kernel, train: Rows, **settings: Any) -> IVMClassifier:
    return IVMClassifier(kernel=kernel, random_state=0, **settings).fit(train.X, train.y, groups=train.task)


def _separate(train: Rows, test: Rows, n_classes: int, kernel: Kernel | None = None) -> np.ndarray:
    """Probabilities of a model for each task; where a task has one class only, those of its frequencies."""
    proba = np.empty((len(test.y), n_classes))
    for task in np.unique(test.task):
        own, there = train.task == task, test.task == task
        counts = np.bincount(train.y[own], minlength=n_classes)
        if np.count_nonzero(counts) < 2:
            proba[there] = (counts + 1.0) / (counts + 1.0).sum()
        else:
            model = IVMClassifier(kernel=kernel, random_state=0).fit(train.X[own], train.y[own])
            proba[there] = 1e-6
            proba[np.ix_(there, model.classes_)] = model.predict_proba(test.X[there])
    return proba


def _half(y: np.ndarray, task: np.ndarray, seed: int) -> np.ndarray:
    """Half of the rows of every class and task."""
    rng, chosen = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
    for t in np.unique(task):
        for c in np.unique(y):
            rows = rng.permutation(np.flatnonzero((task == t) & (y == c)))
            chosen[rows[: len(rows) // 2]] = True
    return chosen


def _loss(proba: np.ndarray, y: np.ndarray) -> float:
    return float(-np.mean(np.log(np.maximum(proba[np.arange(len(y)), y], 1e-12))))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
