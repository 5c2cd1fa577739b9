"""Labels that it takes to reach 95 % of the accuracy with all of them: asking by information, at random, and peers."""

import json
import sys
import time
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
    """How much is run: most labels of each set, splits, rows of the pool and of the test, batch."""

    labels: dict[str, int]
    splits: int = 3
    pool: int = 1000
    test: int = 1000
    batch: int = 20
    peers: bool = True


FULL = Sizes(GOALS["labels"])
QUICK = Sizes({"banana": 60}, splits=1, pool=400, test=400, peers=False)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Ask on every set in every way, compare what they need, and draw the curves."""
    sizes = sizes or (QUICK if quick else FULL)
    rows, curves = list[dict[str, Any]](), dict[str, dict[str, Any]]()
    for name in sizes.labels:
        found, full = _curves(name, sizes)
        curves[name] = {"full": full, **found}
        rows += _compared(name, found, full)
        print(f"[{time.strftime('%H:%M:%S')}] {name}", *(f"{r['quantity']} {r['ours']:.4g};" for r in rows[-6:]),
              file=sys.stderr, flush=True)  # fmt: skip
    draw(figure_folder("active-learning") / "curves.png", curves, GOALS["share"])
    return rows


def _curves(name: str, sizes: Sizes) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], float]:
    """Counts of labels and mean accuracies of every way to ask, and the accuracy with all labels."""
    file = stored(name)
    X, y, labels = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1], sizes.labels[name]
    ways: dict[str, tuple[Ask, int]] = {
        "random": (_random, 1), "information": (_information, 1), "batches": (_information, sizes.batch),
    }  # fmt: skip
    full, parts = list[float](), dict[str, list[tuple[np.ndarray, np.ndarray]]]()
    for seed in range(sizes.splits):
        data = split(X, y, sizes.pool, sizes.test, GOALS["first"], seed)
        full.append(IVMClassifier(random_state=0).fit(data.X, data.y).score(data.X_test, data.y_test))
        for way, (ask, batch) in ways.items():
            parts.setdefault(way, []).append(course(data, ask, labels, batch, seed))
        for kernel, method in variants(len(np.unique(y))) if sizes.peers and installed() else ():
            way = f"scikit-activeml {kernel} {method}"
            parts.setdefault(way, []).append(peer_course(data, kernel, method, labels, seed))
    found = {}
    for way, several in parts.items():
        at = np.arange(several[0][0][0], labels + 1)
        found[way] = at, np.mean([np.interp(at, *one) for one in several], axis=0)
    return found, float(np.mean(full))


def _random(model: IVMClassifier, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(len(X))[:n]


def _information(model: IVMClassifier, X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return model.suggest(X, n)


def _compared(name: str, found: dict[str, tuple[np.ndarray, np.ndarray]], full: float) -> list[dict[str, Any]]:
    labels = {way: needed(*curve, GOALS["share"] * full) for way, curve in found.items()}
    rows = [compare(f"{name}: accuracy with all labels", None, full)]
    rows += [compare(f"{name}: labels needed, {way}", None, number) for way, number in labels.items()]
    most = float(found["random"][0][-1])  # who has not got there by then needs more: the shares are at most these
    share, lost = labels["information"] / min(labels["random"], most), labels["batches"] / labels["information"]
    rows.append(claim(f"{name}: share of random", f"<= {GOALS['of_random']}", share, share <= GOALS["of_random"]))
    rows.append(claim(f"{name}: batches of one at a time", f"<= {GOALS['batches']}", lost, lost <= GOALS["batches"]))
    peers = [number for way, number in labels.items() if way.startswith("scikit-activeml")]
    if peers:
        best = labels["information"] / min(*peers, most)
        rows.append(claim(f"{name}: share of the best peer", "<= 1", best, best <= 1.0))
    return rows
