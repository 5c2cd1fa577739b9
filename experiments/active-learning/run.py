"""Labels that it takes to reach 95 % of the accuracy with all of them: asking by information, at random, and peers."""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.catalogue import figure_folder
from experiments.data import stored
from experiments.report import claim, compare
from infovec import IVMClassifier

from .asking import Ask, course, needed, split
from .figure import draw
from .peer import installed, peer_course, variants

__all__ = ["FULL", "QUICK", "Sizes", "run"]

GOALS = json.loads((Path(__file__).parent / "expected.json").read_text())


@dataclass(frozen=True)
class Sizes:
    """How much is run: most labels of each set and its splits, rows of the pool and of the test, batch."""

    labels: dict[str, int]
    splits: dict[str, int]
    pool: int = 1000
    test: int = 1000
    batch: int = 20
    peers: bool = True


FULL = Sizes(GOALS["labels"], GOALS["splits"])
Curves = dict[str, tuple[np.ndarray, np.ndarray]]  # counts of labels, and accuracies of every split, by the way to ask
_AGAIN = 200  # times that splits are drawn again, for standard errors
QUICK = Sizes({"banana": 60}, {"banana": 1}, pool=400, test=400, peers=False)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Ask on every set in every way, compare what they need, and draw the curves."""
    sizes = sizes or (QUICK if quick else FULL)
    rows, curves = list[dict[str, Any]](), dict[str, dict[str, Any]]()
    for name in sizes.labels:
        found, full = _curves(name, sizes)
        curves[name] = {"full": float(full.mean()), **_means(found)}
        here = _compared(name, found, full)
        rows += here
        print(f"[{time.strftime('%H:%M:%S')}] {name}", *(f"{r['quantity']} {r['ours']:.4g};" for r in here),
              file=sys.stderr, flush=True)  # fmt: skip
    draw(figure_folder("active-learning") / "curves.png", curves, GOALS["share"])
    return rows


def _curves(name: str, sizes: Sizes) -> tuple[Curves, np.ndarray]:
    """Counts of labels and accuracies of every way to ask, and the accuracies with all labels."""
    file = stored(name)
    X, y, labels = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1], sizes.labels[name]
    ways: dict[str, tuple[Ask, int]] = {
        "random": (_random, 1), "information": (_information, 1), "batches": (_some_at_random, sizes.batch),
        "batches, none at random": (_information, sizes.batch),
    }  # fmt: skip
    full, parts = list[float](), dict[str, list[np.ndarray]]()
    for seed in range(sizes.splits[name]):
        data = split(X, y, sizes.pool, sizes.test, GOALS["first"], seed)
        full.append(IVMClassifier(random_state=0).fit(data.X, data.y).score(data.X_test, data.y_test))
        for way, (ask, batch) in ways.items():
            at, accuracy = course(data, ask, labels, batch, seed)
            parts.setdefault(way, []).append(accuracy)
        for kernel, method in variants(len(np.unique(y))) if sizes.peers and installed() else ():
            way = f"scikit-activeml {kernel} {method}"
            parts.setdefault(way, []).append(peer_course(data, kernel, method, labels, seed)[1])
    return {way: (at, np.array(several)) for way, several in parts.items()}, np.array(full)


def _means(found: Curves) -> Curves:
    return {way: (at, several.mean(axis=0)) for way, (at, several) in found.items()}


def _random(model: IVMClassifier, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(len(X))[:n]


def _information(model: IVMClassifier, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return model.suggest(X, n)


def _some_at_random(model: IVMClassifier, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return model.suggest(X, n, at_random="auto")


def _compared(name: str, found: Curves, full: np.ndarray) -> list[dict[str, Any]]:
    """What every way needs, and the goals; standard errors by drawing the splits again."""
    labels = _labels(_means(found), float(full.mean()))
    most, rng = float(found["random"][0][-1]), np.random.default_rng(0)
    goals, again = _goals(labels, most), list[dict[str, tuple[float, float]]]()
    for some, level in _drawn(found, full, rng):
        needs = _labels(_means(some), float(level.mean()))
        again.append(_goals({way: min(number, most) for way, number in needs.items()}, most))
    rows = [compare(f"{name}: accuracy with all labels", None, float(full.mean()))]
    rows += [compare(f"{name}: labels needed, {way}", None, number) for way, number in labels.items()]
    for quantity, (goal, value) in goals.items():
        rows.append(claim(f"{name}: {quantity}", f"<= {goal}", value, value <= goal))
        spread = float(np.std([one[quantity][1] for one in again]))
        rows.append(compare(f"{name}: {quantity}, standard error", None, spread))
    return rows


def _labels(curves: Curves, full: float) -> dict[str, float]:
    return {way: needed(*curve, GOALS["share"] * full) for way, curve in curves.items()}


def _drawn(found: Curves, full: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[Curves, np.ndarray]]:
    """Yield curves of splits that are drawn with replacement."""
    for _ in range(_AGAIN):
        some = rng.integers(len(full), size=len(full))
        yield {way: (at, several[some]) for way, (at, several) in found.items()}, full[some]


def _goals(labels: dict[str, float], most: float) -> dict[str, tuple[float, float]]:
    """Goals, and what there is; random asking and peers that need more than the last label are taken to need that."""
    one = labels["information"]
    goals = {
        "share of random": (GOALS["of_random"], one / min(labels["random"], most)),
        "batches of one at a time": (GOALS["batches"], labels["batches"] / one),
        "batches, none at random, of one at a time": (GOALS["batches"], labels["batches, none at random"] / one),
    }
    peers = [number for way, number in labels.items() if way.startswith("scikit-activeml")]
    if peers:
        goals["share of the best peer"] = 1.0, one / min(*peers, most)
    return goals
