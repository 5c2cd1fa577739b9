"""Rows without label (Lawrence and Jordan's null category): error with them, and of a model of the labelled rows."""

import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_moons

from experiments.data import stored, whole
from experiments.report import compare
from infovec import IVMClassifier

__all__ = ["FULL", "QUICK", "Sizes", "run"]

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    moons: tuple[int, ...]  # labelled rows
    digits: tuple[int, ...]
    draws: int
    rows: int = 800  # of the digits, labelled or not
    active: int = 300
    crescent: bool = True


FIRST = 8  # number of the first draw; the check was chosen on those before
FULL = Sizes((6, 10, 20), (5, 10, 20, 40, 100), 8)
QUICK = Sizes((10,), (), 1, crescent=False)


class Task(NamedTuple):
    """Rows, their labels or -1, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit with the rows without label and without, and return both errors."""
    sizes = sizes or (QUICK if quick else FULL)
    rows: list[Row] = []
    for n in sizes.moons:
        rows += _rows(f"two moons, {n} labels", [_moons(n, FIRST + seed) for seed in range(sizes.draws)], sizes.active)
    if sizes.crescent:
        rows += _crescent(sizes.active)
    for n in sizes.digits:
        name = f"USPS 3 against 5, {n} labels"
        rows += _rows(name, list(_digits(n, sizes)), sizes.active)
    return rows


def _rows(name: str, tasks: list[Task], active: int) -> list[Row]:
    found = np.array([_errors(name, task, active) for task in tasks])
    with_them, without, helped = found.mean(axis=0)
    gains = found[:, 1] - found[:, 0]
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("nan")
    return [
        compare(f"{name}: error %, labelled rows alone", None, float(without)),
        compare(f"{name}: error %, with the others", EXPECTED.get(name), float(with_them)),
        compare(f"{name}: points gained", None, float(gains.mean())),
        compare(f"{name}: points gained, standard error", None, error),
        compare(f"{name}: share of draws in which they are said to help", None, float(helped)),
        compare(f"{name}: points worse in the worst draw", EXPECTED["most points worse"], float(-gains.min())),
    ]


def _errors(name: str, task: Task, active: int) -> tuple[float, float, float]:
    start, known = time.perf_counter(), task.y >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(likelihood="null_category", n_active=active, random_state=0).fit(task.X, task.y)
        alone = IVMClassifier(n_active=active, random_state=0).fit(task.X[known], task.y[known])
    errors = [100.0 * (1.0 - one.score(task.X_test, task.y_test)) for one in (model, alone)]
    said = model.unlabelled_
    print(
        f"[{time.strftime('%H:%M:%S')}] {name}: {errors[0]:.2f} with, {errors[1]:.2f} without, "
        f"{time.perf_counter() - start:.0f} s, {said}",
        file=sys.stderr, flush=True,
    )  # fmt: skip
    return errors[0], errors[1], float(said["helps"])


def _hide(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Leave n labels, as many of each class as can be, at random."""
    kept = [rng.permutation(np.flatnonzero(y == c))[: (n + 1 - c) // 2] for c in (0, 1)]
    hidden = np.full(len(y), -1)
    for c, rows in enumerate(kept):
        hidden[rows] = c
    return hidden


def _moons(n: int, seed: int) -> Task:
    (X, y), (X_test, y_test) = (
        make_moons(size, noise=0.1, random_state=seed + start) for size, start in ((300, 0), (1000, 100))
    )
    return Task(X, _hide(y, n, np.random.default_rng(seed)), X_test, y_test)


def _crescent(active: int) -> list[Row]:
    """The authors' toy, 0 is a row without label; no others have one, so labels are left out to test on."""
    file = stored("ivm_crescent")
    labels = np.where(file["y"] == 0, -1, (file["y"].astype(int) + 1) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(likelihood="null_category", n_active=active, random_state=0)
        said = model.fit(file["X"].astype(np.float64), labels).unlabelled_
    print(f"crescent: {said}", file=sys.stderr, flush=True)
    return [
        compare("crescent: loss of labels left out, labelled rows alone", None, said["supervised_loss"]),
        compare("crescent: the same with the others", None, said["loss"]),
    ]


def _digits(n: int, sizes: Sizes) -> Iterator[Task]:
    X, y, _ = whole("usps")
    here = np.flatnonzero((y == 3) | (y == 5))
    for seed in range(FIRST, FIRST + sizes.draws):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(here)
        train, test = rows[: sizes.rows], rows[sizes.rows :]
        yield Task(X[train], _hide((y[train] == 5).astype(int), n, rng), X[test], (y[test] == 5).astype(int))
