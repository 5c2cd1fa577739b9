"""GR06 6.4: 26 spoken letters by the sparse multi-class machine, informative against random rows."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.catalogue import figure_folder
from experiments.classes import error, from_precision, official, standardised
from experiments.report import claim, compare
from infovec.variational import VariationalPosterior, fit_variational

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int | None
    test_rows: int | None
    active: tuple[int, ...]


FULL = Sizes(rows=None, test_rows=None, active=(250, 500, 1000, 1500, 2000))
QUICK = Sizes(rows=900, test_rows=400, active=(60, 150))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit with growing active sets, draw figure 6; return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    data = standardised(official("isolet")).some(sizes.rows, sizes.test_rows)
    kernel, largest = from_precision(PAPER["precision"]), sizes.active[-1]
    X, Z = (X.astype(np.float32) for X in (data.X, data.X_test))
    priority = np.random.default_rng(0).uniform(size=len(data.y))
    rows: list[Row] = []
    curves: dict[str, list[tuple[int, float, float]]] = {}
    for score in ("predictive", "random"):
        for d in sizes.active:
            fitted, seconds = _fit(X, data.y, kernel, d, score=score, priority=priority, approximation="factorised")
            log_proba = fitted.predict_log_proba(Z.astype(np.float64))
            wrong, likelihood = error(log_proba, data.y_test), float(_own(log_proba, data.y_test).mean())
            curves.setdefault(score, []).append((d, wrong, likelihood))
            printed = PAPER["error"] if score == "predictive" and d == PAPER["active"] and not sizes.rows else None
            rows.append(compare(f"{score} d={d}: error %", printed, wrong))
            rows.append(compare(f"{score} d={d}: mean log probability", None, likelihood))
        rows.append(compare(f"{score} d={largest}: s", None, seconds))
    ratio = curves["random"][-1][1] / max(curves["predictive"][-1][1], 1e-3)
    rows.append(claim(f"random / predictive d={largest}: error", "> 1", ratio, ratio > 1.0))
    fitted, seconds = _fit(X, data.y, kernel, largest, priority=priority, approximation="projected", tolerance=1e-3)
    log_proba = fitted.predict_log_proba(Z.astype(np.float64))
    rows.append(compare(f"all rows through d={largest}: error %", None, error(log_proba, data.y_test)))
    rows.append(
        compare(f"all rows through d={largest}: mean log probability", None, _own(log_proba, data.y_test).mean())
    )
    rows.append(compare(f"all rows through d={largest}: s", None, seconds))
    _draw(curves)
    return rows


def _fit(X: np.ndarray, y: np.ndarray, kernel: Any, d: int, **how: Any) -> tuple[VariationalPosterior, float]:
    start = time.perf_counter()
    fitted = fit_variational(X, y, kernel, d, dtype="float32", **how)
    return fitted, time.perf_counter() - start


def _own(log_proba: np.ndarray, y: np.ndarray) -> np.ndarray:
    return log_proba[np.arange(len(y)), y]


def _draw(curves: dict[str, list[tuple[int, float, float]]]) -> None:
    figure = Figure(figsize=(9.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    for score, marker in (("random", "+"), ("predictive", "D")):
        d, wrong, likelihood = np.transpose(curves[score])
        left.plot(d, likelihood, marker=marker, markersize=5, label=score)
        right.plot(d, 100.0 - wrong, marker=marker, markersize=5, label=score)
    left.set(title="mean log probability of test labels", xlabel="rows included")
    right.set(title="test rows predicted rightly, %", xlabel="rows included")
    for ax in (left, right):
        ax.grid(color="0.9", linewidth=0.6)
        ax.legend(frameon=False)
    figure.savefig(figure_folder("gr06-isolet") / "figure-6.png", dpi=120)
