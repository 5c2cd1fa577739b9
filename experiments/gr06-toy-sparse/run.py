"""GR06 figure 5: the sparse multi-class machine on three rings, informative against random rows."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import solve_triangular

from experiments.catalogue import figure_folder
from experiments.classes import error, learn_precisions
from experiments.dense import three_rings
from experiments.report import claim, compare
from infovec.kernels import RBF
from infovec.likelihoods.classes import MultivariateProbit
from infovec.machines.bound_fit import fit_variational
from infovec.selection import Included, Schedule, select

__all__ = ["FULL", "QUICK", "Sizes", "run", "three_rings"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
PROBIT = MultivariateProbit(np.zeros(3))


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    learning_rows: int
    iterations: int
    rows: int
    test_rows: int
    active: int
    repeats: int


FULL = Sizes(learning_rows=240, iterations=60, rows=1000, test_rows=2385, active=50, repeats=20)
QUICK = Sizes(learning_rows=100, iterations=8, rows=300, test_rows=800, active=50, repeats=2)


def errors_on_the_way(kernel: RBF, X: np.ndarray, found: Included, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Test error after each inclusion; the functions have one variance, so that the largest mean wins."""
    stubs = solve_triangular(found.L[0], kernel(X[found.rows], Z), lower=True)
    means = np.cumsum(found.beta[:, None, :] * stubs[:, :, None], axis=0)
    return 100.0 * np.mean(means.argmax(axis=2) != t, axis=1)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Learn the kernel, select rows in both ways, draw figure 5; return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    rng = np.random.default_rng(0)
    X_learn, y_learn = three_rings(sizes.learning_rows, rng)
    kernel = learn_precisions(X_learn, y_learn, each=True, iterations=sizes.iterations)
    (X, y), (Z, t) = three_rings(sizes.rows, rng), three_rings(sizes.test_rows, rng)
    full = fit_variational(X_learn, y_learn, kernel, sizes.learning_rows)
    accuracy = 100.0 - error(full.predict_log_proba(Z), t)
    curves: dict[str, list[np.ndarray]] = {"predictive": [], "random": []}
    for _ in range(sizes.repeats):
        priority = rng.uniform(size=len(y))
        for score, errors in curves.items():
            found = select(X, y, kernel, PROBIT, sizes.active, score, priority, Schedule(1, 1))
            errors.append(errors_on_the_way(kernel, X, found, Z, t))
            if score == "predictive":
                chosen = found
    _draw(kernel, X, y, chosen, curves)
    scales = np.asarray(kernel.length_scale)
    relevant = int(np.sum(scales < 10.0 * scales.min()))
    at, last = PAPER["at"], sizes.active
    informative, random = (np.mean(curves[score], axis=0) for score in ("predictive", "random"))
    return [
        compare("all rows, variational: accuracy %", PAPER["full_accuracy"], accuracy),
        compare("relevant inputs found", PAPER["relevant_inputs"], relevant),
        claim(f"informative rows, {at}: error %", "< 1", informative[at - 1], bool(informative[at - 1] < 1.0)),
        compare(f"informative rows, {last}: error %", None, informative[last - 1]),
        compare(f"random rows, {at}: error %", None, random[at - 1]),
        compare(f"random rows, {last}: error %", None, random[last - 1]),
        claim(
            f"random / informative rows, {at}: error", "> 1", random[at - 1] / max(informative[at - 1], 1e-3),
            bool(random[at - 1] > informative[at - 1]),
        ),
    ]  # fmt: skip


def _draw(kernel: RBF, X: np.ndarray, y: np.ndarray, found: Included, curves: dict[str, list[np.ndarray]]) -> None:
    figure = Figure(figsize=(10.5, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for c, (marker, color) in enumerate((("x", "#2e7d32"), ("+", "#c62828"), (".", "#1565c0"))):
        left.plot(*X[y == c, :2].T, marker, color=color, markersize=4, alpha=0.6, label=f"class {c + 1}")
    active = X[found.rows, :2]
    left.plot(*active.T, "o", mfc="none", color="black", markersize=8, label=f"{len(active)} included")
    grid = np.linspace(-1.1, 1.1, 70)
    plane = np.zeros((len(grid) ** 2, X.shape[1]))
    plane[:, :2] = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    stubs = solve_triangular(found.L[0], kernel(X[found.rows], plane), lower=True)
    mean, var = stubs.T @ found.beta, kernel.diag(plane) - np.sum(stubs**2, axis=0)
    proba = np.exp(PROBIT.log_proba(mean, np.repeat(var[:, None], 3, axis=1)))
    for c, style in enumerate(("-", "--", ":")):
        left.contour(grid, grid, proba[:, c].reshape(70, 70), levels=[1 / 3], colors="0.3", linestyles=style)
    left.set(title="first two of ten inputs, contours at one third", aspect="equal")
    left.legend(loc="upper right", fontsize=8)
    for score, style in (("predictive", "-"), ("random", "--")):
        correct = 100.0 - np.array(curves[score])
        steps = np.arange(1, correct.shape[1] + 1)
        right.errorbar(steps, correct.mean(axis=0), correct.std(axis=0), fmt=style, color="#1565c0", elinewidth=0.6,
                       label={"predictive": "informative", "random": "random"}[score])  # fmt: skip
    right.set(title="test rows predicted rightly", xlabel="rows included", ylabel="%")
    right.grid(color="0.9", linewidth=0.6)
    right.legend(frameon=False, loc="lower right")
    figure.savefig(figure_folder("gr06-toy-sparse") / "figure-5.png", dpi=120)
