"""Virtual informative vectors on ten digits of MNIST: images of the active rows moved by one pixel."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import stored
from experiments.report import compare
from infovec import IVMClassifier
from infovec.invariances import Shifts
from infovec.kernels import RBF, Bias

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
GAMMA, VARIANCE, BIAS_VARIANCE = 0.01, 200.0, 0.1  # the kernel is VARIANCE exp(-GAMMA |x - z|^2) + BIAS_VARIANCE
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    active: int
    few: int  # rows that 9 is told from the rest by, and as many held back
    room: tuple[int, ...]  # sizes of its active set
    rows: int | None = None
    test_rows: int | None = None


FULL = Sizes(3000, 10000, (500, 1000, 2000))
QUICK = Sizes(150, 500, (50, 100), rows=1000, test_rows=1000)
SHIFTS = Shifts((28, 28))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit without images and with them; return errors, log losses and processor seconds."""
    sizes = sizes or (QUICK if quick else FULL)
    file = stored("mnist")
    X, y = file["X_train"][: sizes.rows] / 255.0, file["y_train"][: sizes.rows].astype(int)
    X_test, y_test = file["X_test"][: sizes.test_rows] / 255.0, file["y_test"][: sizes.test_rows].astype(int)
    rows, seconds = _room(X, y == 9, sizes), list[float]()
    for name, functions in (("without", None), ("with", SHIFTS)):
        start = time.process_time()
        model = _model(sizes.active, functions).fit(X, y)
        seconds.append(time.process_time() - start)
        log_proba = model.predict_log_proba(X_test)
        error = 100.0 * float(np.mean(model.classes_[log_proba.argmax(axis=1)] != y_test))
        loss = -float(np.mean(log_proba[np.arange(len(y_test)), y_test]))
        print(
            f"[{time.strftime('%H:%M:%S')}] {name} images: error {error:.2f} %, log loss {loss:.4f}, "
            f"{seconds[-1]:.0f} processor seconds", file=sys.stderr, flush=True,
        )  # fmt: skip
        rows.append(compare(f"{name} images: error %", PAPER[name], error))
        rows.append(compare(f"{name} images: log loss", None, loss))
    rows.append(compare("share of the active rows that are images", None, float(model.virtual_.mean())))
    rows.append(compare("processor seconds without images", None, seconds[0]))
    rows.append(compare("processor seconds, over those without images", None, seconds[1] / seconds[0]))
    return rows


def _model(active: int, functions: Shifts | None) -> IVMClassifier:
    kernel = RBF(float(np.sqrt(0.5 / GAMMA)), VARIANCE) + Bias(BIAS_VARIANCE)
    return IVMClassifier(
        kernel=kernel, learn=None, approximation="factorised", multi_class="ovr", n_active=active, random_state=0,
        invariances=functions,
    )  # fmt: skip


def _room(X: np.ndarray, nine: np.ndarray, sizes: Sizes) -> list[Row]:
    """Errors of 9 against the rest on training rows held back: what images change in active sets of several sizes."""
    order, rows = np.random.default_rng(7).permutation(len(nine)), list[Row]()
    first, last = order[: sizes.few], order[-sizes.few :]
    for active in sizes.room:
        for name, functions in (("without", None), ("with", SHIFTS)):
            model = _model(active, functions).fit(X[first], nine[first])
            error = 100.0 * float(np.mean(model.predict(X[last]) != nine[last]))
            rows.append(compare(f"9 against the rest, {active} active rows, {name} images: error %", None, error))
    return rows
