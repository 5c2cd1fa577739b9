"""LSH05 table 1: USPS digits against the rest by the likelihood of the active set, and the ten machines combined."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lsh05 import RELEVANCE, SMALL, algorithm_2
from experiments.report import compare
from experiments.slh import Digits, usps
from infovec import IVMClassifier
from infovec.kernels import MLP, RBF, Bias, Kernel, Linear, White

from .blocks import BlockRelevance

__all__ = ["FULL", "KERNELS", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_PIXELS, _BLOCKS = 256, 16
_PER_PIXEL = 1.0 / _PIXELS  # inner products and squared distances count per pixel where learning starts
Row = dict[str, Any]

_BASE = Linear(_PER_PIXEL) + White(SMALL) + Bias(SMALL)
_RBF = RBF(_PER_PIXEL**-0.5, 1.0)
KERNELS: dict[str, Kernel] = {
    "RBF": _RBF + _BASE,
    "MLP": MLP(1.0, 10.0 * _PER_PIXEL, 10.0) + _BASE,
    "RBF ARD": BlockRelevance(_RBF, np.full(_BLOCKS, RELEVANCE)) + _BASE,
}


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    active: int
    iterations: int
    minor_steps: int
    rows: int | None = None
    test_rows: int | None = None


FULL = Sizes(500, 5, 100)
QUICK = Sizes(40, 1, 10, rows=300, test_rows=500)


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Learn ten machines with each kernel, combine them, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    data, rows = usps(sizes.rows, sizes.test_rows), list[Row]()
    for name, kernel in KERNELS.items():
        start = time.perf_counter()
        log_p = np.empty((len(data.y_test), 10))
        for digit, paper in enumerate(PAPER[name]["digits"]):
            log_p[:, digit], error = machine(data, digit, kernel, sizes)
            print(f"[{time.strftime('%H:%M:%S')}] {name} {digit}: {error:.2f} %", file=sys.stderr, flush=True)
            rows.append(compare(f"{name}, {digit} against rest: error %", paper, error))
        wrong = 100.0 * float(np.mean(log_p.argmax(axis=1) != data.y_test))
        rows.append(compare(f"{name}, combined: error %", PAPER[name]["overall"], wrong))
        rows.append(compare(f"{name}: s", None, time.perf_counter() - start))
    return rows


def machine(data: Digits, digit: int, kernel: Kernel, sizes: Sizes) -> tuple[np.ndarray, float]:
    """Learn one digit against the rest; return the log probabilities that test rows are this digit, and the error."""
    model = IVMClassifier(
        kernel=kernel, approximation="factorised", refine=None, n_active=sizes.active, selection="all", random_state=0,
        learn=algorithm_2(sizes.iterations, ["likelihood.slope"], sizes.minor_steps),
    ).fit(data.X, data.y == digit)  # fmt: skip
    log_proba = model.predict_log_proba(data.X_test)
    wrong = (log_proba[:, 1] > log_proba[:, 0]) != (data.y_test == digit)
    return log_proba[:, 1], 100.0 * float(np.mean(wrong))
