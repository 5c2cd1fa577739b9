"""GR06 table 2: the variational multinomial probit with all rows active, beside support vector machines."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from experiments.classes import Split, error, learn_precisions, merged, standardised
from experiments.importance import sample_precisions
from experiments.report import compare
from infovec.kernels import RBF
from infovec.machines.bound_fit import fit_variational

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
ROWS = {"segment": 250, "dna": 300, "letter-abe": 280, "waveform": 150, "satimage": 1000}
SAMPLES = {False: 100, True: 500}  # of the importance sampler, for one precision and for one of each column
BOUND = {
    "bound, one precision": (False, False),
    "bound, each precision": (True, False),
    "bound, and variance": (False, True),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    names: tuple[str, ...]
    partitions: int
    test_rows: int | None
    iterations: int
    methods: tuple[str, ...]


FULL = Sizes(tuple(ROWS), partitions=20, test_rows=None, iterations=40, methods=("VBGPS", "VBGPM", *BOUND))
QUICK = Sizes(("waveform",), partitions=1, test_rows=1000, iterations=8, methods=("VBGPS", "bound, one precision"))


def partition(name: str, seed: int, test_rows: int | None) -> Split:
    """Split at random and standardise, as the smallest training sets of the comparison."""
    X, y = merged(name.removesuffix("-abe"))
    if name == "letter-abe":
        some = np.isin(y, (0, 1, 4))
        X, y = X[some], np.unique(y[some], return_inverse=True)[1]
    order, n = np.random.default_rng(seed).permutation(len(y)), ROWS[name]
    X, y = X[order], y[order]
    return standardised(Split(X[:n], y[:n], X[n:][:test_rows], y[n:][:test_rows]))


def svm_error(data: Split) -> float:
    """One-against-one SVC with C and gamma by five-fold cross-validation."""
    p = data.X.shape[1]
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.1 / p, 0.3 / p, 1.0 / p, 3.0 / p]}
    model = GridSearchCV(SVC(), grid, cv=5).fit(data.X, data.y)
    return 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))


def _kernel(method: str, data: Split, iterations: int, seed: int) -> RBF:
    if method in BOUND:
        each, variance = BOUND[method]
        return learn_precisions(data.X, data.y, each, iterations, variance)
    each = method == "VBGPM"
    return sample_precisions(data.X, data.y, each, SAMPLES[each], np.random.default_rng(seed))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Return rows of paper, ours and difference; errors are means over the partitions."""
    sizes = sizes or (QUICK if quick else FULL)
    rows: list[Row] = []
    for name in sizes.names:
        found: dict[str, list[float]] = {}
        for seed in range(sizes.partitions):
            data = partition(name, seed, sizes.test_rows)
            found.setdefault("MWVS", []).append(svm_error(data))
            for method in sizes.methods:
                kernel = _kernel(method, data, sizes.iterations, seed)
                fitted = fit_variational(data.X, data.y, kernel, len(data.y), tolerance=1e-4)
                found.setdefault(method, []).append(error(fitted.predict_log_proba(data.X_test), data.y_test))
            print(
                f"{name}, partition {seed + 1}: { ({k: round(v[-1], 2) for k, v in found.items()}) }", file=sys.stderr
            )
        printed = dict(zip(PAPER["columns"], PAPER[name], strict=True))
        for method, errors in found.items():
            rows.append(compare(f"{name} {method}: error %", printed.get(method), np.mean(errors)))
    return rows
