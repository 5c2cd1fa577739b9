"""SLH table 4: USPS with virtual informative vectors, images of the active rows moved by one pixel."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report import claim, compare
from experiments.slh import Digits, usps
from infovec import IVMClassifier
from infovec.invariances import Shifts
from infovec.kernels import RBF, Bias, Kernel, Linear

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    active: int
    seeds: int = 1
    rows: int | None = None
    test_rows: int | None = None


FULL = Sizes(1000, seeds=3)
QUICK = Sizes(40, rows=400, test_rows=500)
SHIFTS = Shifts((16, 16))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit without images, with them, and with images that count like rows; return errors and log losses."""
    sizes = sizes or (QUICK if quick else FULL)
    data = usps(sizes.rows, sizes.test_rows)
    start = _paper_kernel(data.X)
    settings = {"n_active": sizes.active, "approximation": "factorised"}
    plain, seconds = _fitted("without images", IVMClassifier(**settings, kernel=start, random_state=0), data.X, data.y)
    models = [
        _fitted(
            "with images",
            IVMClassifier(**settings, kernel=start, invariances=SHIFTS, random_state=seed), data.X, data.y,
        )
        for seed in range(sizes.seeds)
    ]  # fmt: skip
    (model, more), models = models[0], [one for one, _ in models]
    images = np.concatenate([*SHIFTS(plain.active_vectors_)])
    labels = np.tile(data.y[plain.active_], len(images) // len(plain.active_))
    X, y = np.concatenate([data.X, images]), np.concatenate([data.y, labels])
    settings |= {"kernel": plain.kernel_, "learn": None, "random_state": 0}
    counted, _ = _fitted("with images that count like rows", IVMClassifier(**settings), X, y)
    binary = np.mean([_binary(one, data) for one in models], axis=0)
    overall = [_error(one, data) for one in models]
    rows = [compare(f"{c} against rest: error %", PAPER["binary"][c], error) for c, error in enumerate(binary)]
    rows += [
        compare("overall: error %", PAPER["overall"], float(np.mean(overall))),
        compare("overall: standard deviation over runs", PAPER["deviation"], float(np.std(overall))),
        compare("overall, without images: error %", None, _error(plain, data)),
        compare("overall, images that count like rows: error %", None, _error(counted, data)),
    ]
    losses = [_loss(one, data) for one in (model, plain, counted)]
    names = ("with images", "without images", "images that count like rows")
    rows += [compare(f"log loss, {name}", None, loss) for name, loss in zip(names, losses, strict=True)]
    rows.append(claim("one observation or several: log loss", "one is better", losses[0], losses[0] < losses[2]))
    rows.append(compare("share of the active rows that are images", None, float(model.virtual_.mean())))
    rows.append(compare("processor seconds, over those without images", None, more / seconds))
    return rows


def _paper_kernel(X: np.ndarray) -> Kernel:
    """RBF with a linear term, where learning starts: scaled to the rows, as the library's own start is."""
    return RBF(float(np.sqrt(X.var(axis=0).sum())), 100.0) + Linear(10.0 / X.shape[1]) + Bias(10.0)


def _fitted(name: str, model: IVMClassifier, X: np.ndarray, y: np.ndarray) -> tuple[IVMClassifier, float]:
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    print(
        f"[{time.strftime('%H:%M:%S')}] {name}: {len(y)} rows, {len(model.active_)} active, {seconds:.0f} CPU s",
        file=sys.stderr, flush=True,
    )  # fmt: skip
    return model, seconds


def _error(model: IVMClassifier, data: Digits) -> float:
    return 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))


def _loss(model: IVMClassifier, data: Digits) -> float:
    log_proba = model.predict_log_proba(data.X_test)
    return -float(np.mean(log_proba[np.arange(len(data.y_test)), data.y_test.astype(int)]))


def _binary(model: IVMClassifier, data: Digits) -> list[float]:
    """Errors of each class against the rest, by the sign of its function."""
    mean, _ = model.predict_latent(data.X_test)
    yes = mean + model.likelihood_.bias > 0.0
    return [100.0 * float(np.mean(yes[:, c] != (data.y_test == label))) for c, label in enumerate(model.classes_)]
