"""Thesis 3.5: PAC-Bayesian and compression bounds on MNIST twos against threes of 8 by 8 pixels."""

import json
import sys
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from scipy.stats import t as student

from experiments.catalogue import figure_folder
from experiments.classes import official
from experiments.report import claim, compare

from .methods import Figures, Gaussian, Rows, ivm, ivm_bayes, laplace, select, svm

__all__ = ["FULL", "QUICK", "Gaussian", "Sizes", "digits", "ivm", "ivm_bayes", "laplace", "run", "shrunk"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
IVM = [Gaussian(w, C) for w, C in product((0.5, 1.0, 2.0, 3.0, 5.0), (15.0, 30.0, 60.0, 120.0, 240.0))]
LAPLACE = [Gaussian(w, C) for w, C in product((2.0, 4.0, 6.0, 9.0, 14.0), (1.0, 2.5, 5.0, 10.0))]
SVM = list(product((1.0, 10.0, 100.0), (0.01, 0.03, 0.06, 0.12)))
LENGTHS, VARIANCE = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0), 120.0  # w and C of figure 3.3
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    runs: int
    ivm: tuple[tuple[int, int], ...]  # n and d
    laplace: tuple[tuple[int, int, int], ...]  # n, rows for model selection and runs
    selection: tuple[int, int]  # rows to select parameters, and active ones among them
    validation: int
    test: int
    curves: int  # runs of figure 3.3
    lengths: tuple[float, ...]
    thin: int = 1  # every so many candidates


FULL = Sizes(
    10, ((5000, 500), (9000, 900)), ((500, 500, 10), (1000, 1000, 10), (2000, 1000, 10), (5000, 1000, 3)),
    (1000, 150), 1000, 1000, 6, LENGTHS,
)  # fmt: skip
QUICK = Sizes(1, ((1000, 100),), ((500, 500, 1),), (300, 50), 300, 1000, 1, LENGTHS[1::3], 4)


def shrunk(X: np.ndarray) -> np.ndarray:
    """Images of 28 by 28 pixels as 8 by 8: a margin of two is cut away, then each is the mean of nine (3.5.1)."""
    inner = X.reshape(-1, 28, 28)[:, 2:26, 2:26]
    return inner.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).reshape(len(X), 64) / 255.0


def digits(which: tuple[int, int]) -> tuple[Rows, Rows]:
    """Return the pool of training rows and the test rows of two digits."""
    data = official("mnist")
    sides = ((data.X, data.y), (data.X_test, data.y_test))
    pairs = [(X[np.isin(y, which)], y[np.isin(y, which)]) for X, y in sides]
    pool, test = (Rows(shrunk(X), np.where(y == which[1], 1, -1)) for X, y in pairs)
    return pool, test


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Repeat tables 3.1 to 3.4 and figure 3.3; return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    pool, test = digits((2, 3))
    test = test.take(np.random.default_rng(0).permutation(len(test.y))[: sizes.test])
    found: dict[tuple[str, int], list[Figures]] = {}
    for seed in range(sizes.runs):
        start = time.perf_counter()
        for key, figures in _one_run(pool, test, sizes, seed):
            found.setdefault(key, []).append(figures)
        print(f"run {seed}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    folder = figure_folder("thesis-pac-bayes")
    (folder / "runs.json").write_text(json.dumps([[*key, runs] for key, runs in found.items()], indent=1))
    rows = [row for key, runs in sorted(found.items()) for row in _rows(*key, runs)]
    return [*rows, *_figure_3_3(pool, test, sizes, folder)]


def _one_run(pool: Rows, test: Rows, sizes: Sizes, seed: int) -> Any:
    """Draw the sets of one run, select parameters, and yield figures by table and number of rows."""
    order = np.random.default_rng([seed, 3]).permutation(len(pool.y))
    (n_select, d_select), m = sizes.selection, sizes.validation
    select_rows, validation, rest = (pool.take(part) for part in np.split(order, [n_select, n_select + m]))
    thinned = {method: some[:: sizes.thin] for method, some in ((ivm, IVM), (laplace, LAPLACE), (svm, SVM))}
    chosen = {
        "table 3.2": select(ivm, thinned[ivm], "gen", select_rows, validation, d_select, seed),
        "table 3.3": select(ivm_bayes, thinned[ivm], "gen", select_rows, validation, d_select, seed),
        "table 3.4": select(svm, thinned[svm], "gen", select_rows, validation, d_select, seed),
    }
    print(f"run {seed}: {chosen}", file=sys.stderr)
    for n, d in sizes.ivm:
        rows = rest.take(np.arange(n))
        for table, method in (("table 3.2", ivm), ("table 3.3", ivm_bayes), ("table 3.4", svm)):
            yield (table, n), method(chosen[table], rows, test, d, seed)
    kept: dict[int, Gaussian] = {}
    for n, n_ms, runs in sizes.laplace:
        if seed < runs:
            rows = select_rows.take(np.arange(min(n_ms, len(select_rows.y))))
            if n_ms not in kept:
                kept[n_ms] = select(laplace, thinned[laplace], "gen", rows, validation, 0, seed)
            yield ("table 3.1", n), laplace(kept[n_ms], rest.take(np.arange(n)), test, 0, seed)


def _rows(table: str, n: int, runs: list[Figures]) -> list[Row]:
    """Means over the runs, beside those of the paper; and their 95 % intervals."""
    paper, rows = PAPER[table].get(str(n), {}), []
    for name in runs[0]:
        values = np.array([figures[name] for figures in runs])
        rows.append(compare(f"{table} n={n}: {name}", paper.get(name, [None])[0], float(values.mean())))
        if len(values) > 1:
            width = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            rows.append(compare(f"{table} n={n}: {name}, +-", paper.get(name, [None, None])[1], float(width)))
    return rows


def _figure_3_3(pool: Rows, test: Rows, sizes: Sizes, folder: Path) -> list[Row]:
    """Draw the bound against the test error over length scales; the Thesis finds that one follows the other."""
    n, d = sizes.ivm[0]
    figure = Figure(figsize=(11.0, 6.0) if sizes.curves > 1 else (4.0, 3.4), layout="constrained")
    axes = np.ravel(figure.subplots(-(-sizes.curves // 3), min(3, sizes.curves), squeeze=False))
    correlations, ahead = [], []
    for seed, ax in zip(range(sizes.curves), axes, strict=False):
        rows = pool.take(np.random.default_rng([seed, 33]).permutation(len(pool.y))[:n])
        curve = [ivm(Gaussian(w, VARIANCE), rows, test, d, seed) for w in sizes.lengths]
        error, upper = (np.array([figures[name] for figures in curve]) for name in ("gen", "upper"))
        shift = 0.95 * float(np.mean(upper - error))
        ax.plot(sizes.lengths, error, "k-", label="expected test error")
        ax.plot(sizes.lengths, upper - shift, "k--", label=f"bound - {shift:.4f}")
        for line in (error, upper - shift):
            ax.plot(sizes.lengths[int(np.argmin(line))], line.min(), "k*")
        ax.set(xlabel="w", xscale="log")
        ax.set_xticks(sizes.lengths[::3], [f"{w:g}" for w in sizes.lengths[::3]])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.legend(frameon=False, fontsize=8)
        correlations.append(float(np.corrcoef(error, upper)[0, 1]))
        ahead.append(error[int(np.argmin(upper))] / error.min())
    figure.savefig(folder / "figure-3.3.png", dpi=120)
    worst, loss = min(correlations), max(ahead)
    return [
        claim("figure 3.3: correlation of bound and test error, smallest", "> 0.5", worst, worst > 0.5),
        claim("figure 3.3: test error where the bound is smallest / smallest", "< 1.3", loss, loss < 1.3),
    ]
