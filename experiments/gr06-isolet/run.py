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
from infovec.kernels import Kernel
from infovec.likelihoods.classes import MultivariateProbit
from infovec.machines.bound_fit import fit_variational
from infovec.posterior import FactorisedPosterior, VariationalPosterior
from infovec.selection import Included, select

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
PROBIT = MultivariateProbit(np.zeros(26))
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    rows: int | None
    test_rows: int | None
    active: tuple[int, ...]


FULL = Sizes(rows=None, test_rows=None, active=(250, 500, 1000, 1500, 2000))
QUICK = Sizes(rows=300, test_rows=300, active=(40, 80))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit with growing active sets, draw figure 6; return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    data = standardised(official("isolet")).some(sizes.rows, sizes.test_rows)
    kernel, largest = from_precision(PAPER["precision"]), sizes.active[-1]
    X, Z = data.X.astype(np.float32), data.X_test
    priority = np.random.default_rng(0).uniform(size=len(data.y))
    rows: list[Row] = []
    curves: dict[str, list[tuple[int, float, float]]] = {}
    for score in ("predictive", "random"):
        start = time.perf_counter()
        found = select(X, data.y, kernel, PROBIT, largest, score, priority, dtype="float32")
        seconds = time.perf_counter() - start
        for d in sizes.active:
            log_proba = _first(found, d, kernel, X).predict_log_proba(Z)
            wrong, likelihood = error(log_proba, data.y_test), float(_own(log_proba, data.y_test).mean())
            curves.setdefault(score, []).append((d, wrong, likelihood))
            printed = PAPER["error"] if score == "predictive" and d == PAPER["active"] and not sizes.rows else None
            rows.append(compare(f"{score} d={d}: error %", printed, wrong))
            rows.append(compare(f"{score} d={d}: mean log probability", None, likelihood))
        rows.append(compare(f"{score} d={largest}: s", None, seconds))
        if score == "predictive":
            informative = found.rows
    ratio = curves["random"][-1][1] / max(curves["predictive"][-1][1], 1e-3)
    rows.append(claim(f"random / predictive d={largest}: error", "> 1", ratio, ratio > 1.0))
    start = time.perf_counter()
    fitted = fit_variational(X, data.y, kernel, largest, active=informative, dtype="float32", tolerance=1e-3)
    seconds = time.perf_counter() - start
    log_proba = fitted.predict_log_proba(Z)
    rows.append(compare(f"all rows through d={largest}: error %", None, error(log_proba, data.y_test)))
    rows.append(
        compare(f"all rows through d={largest}: mean log probability", None, _own(log_proba, data.y_test).mean())
    )
    rows.append(compare(f"all rows through d={largest}: s", None, seconds))
    _draw(curves)
    return rows


def _first(found: Included, d: int, kernel: Kernel, X: np.ndarray) -> VariationalPosterior:
    """Return the machine as it was after d inclusions."""
    X_active, L = X[found.rows[:d]].astype(np.float64), found.L[0][:d, :d]
    parts = [
        FactorisedPosterior(kernel, X_active, np.ones(d), found.target[:d, c], L, found.beta[:d, c]) for c in range(26)
    ]
    return VariationalPosterior(tuple(parts), PROBIT, found.rows[:d], float("nan"), shared=True)


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
