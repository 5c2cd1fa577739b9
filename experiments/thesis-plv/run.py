"""Thesis 4.8.2: sparse regression of robot arm dynamics, learning curves and model selection."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.catalogue import figure_folder
from experiments.report import claim, compare

from .curves import Curves, sweep
from .figures import draw
from .methods import fit_sparse, full_gpr, length_scales
from .selection import RELEVANT, SUCCESS, Outcome, select_model
from .splits import Split, make_split

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    splits: int
    test_rows: int | None
    iterations: int  # of the optimiser in full regression
    kin_rows: tuple[int, int]  # rows of model selection by full regression, and all training rows
    kin_active: tuple[int, ...]
    kin_smo_bart: tuple[int, int]  # largest active set of smo-bart, for both
    puma_rows: int | None  # of model selection by full regression; None takes what the sparse criterion finds
    puma_active: tuple[int, ...]
    puma_smo_bart: int
    selections: tuple[tuple[str, int], ...]  # method and active set size
    selection_iterations: int


FULL = Sizes(
    splits=3, test_rows=None, iterations=60,
    kin_rows=(2000, 10000), kin_active=(100, 200, 300, 400, 500, 1000, 1250), kin_smo_bart=(500, 200),
    puma_rows=1024, puma_active=(25, 50, 75, 100, 125, 200, 300, 500), puma_smo_bart=125,
    selections=tuple((method, d) for d in (100, 200, 500) for method in ("info-gain", "random", "fixed")),
    selection_iterations=200,
)  # fmt: skip
# The largest active set has as large a share of the rows of model selection as in the Thesis, 0.6: with half of them
# sparse regression with all rows is not yet better than full regression with these. Model selection takes as many
# iterations as in full. Cut off at 100 the error of the first split, the one that is run, depends on the versions:
# 0.0291 with NumPy 2.0 and SciPy 1.13, 0.0248 with 2.4 and 1.17. After 200 it is 0.0249 and 0.0251; the next two splits
# have 0.0235 and 0.0210 or 0.0211 with either, and the fourth misses a relevant input with either (0.0387).
QUICK = Sizes(
    splits=1, test_rows=3000, iterations=20,
    kin_rows=(500, 4000), kin_active=(50, 100, 300), kin_smo_bart=(100, 100),
    puma_rows=None, puma_active=(25, 50, 125, 200), puma_smo_bart=125,
    selections=(("info-gain", 100), ("random", 100)), selection_iterations=200,
)  # fmt: skip


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Run everything, draw figures 4.5 and 4.6, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    outcomes = selections(sizes)
    return [*kin40k(sizes), *pumadyn(sizes, outcomes), *table_4_4(outcomes)]


def kin40k(sizes: Sizes) -> list[Row]:
    """Figure 4.5 and table 4.3."""
    subset, everything = panels = [Curves(sizes.kin_active) for _ in sizes.kin_rows]
    for i in range(sizes.splits):
        split = _split("kin40k", i, sizes)
        few = sizes.kin_rows[0]
        model = full_gpr(split.X[:few], split.y[:few], sizes.iterations)
        full = fit_sparse(model, split, few, few, "random").error
        for curves, n, largest in zip(panels, sizes.kin_rows, sizes.kin_smo_bart, strict=True):
            curves.full.append(full)
            sweep(curves, model, split, n, i, largest)
        _say(f"kin-40k, split {i + 1}: full regression {full:.4f}, {model.likelihood!r}")
    names = [f"{n} training rows" for n in sizes.kin_rows]
    draw(
        figure_folder("thesis-plv") / "figure-4.5.png", "kin-40k: sparse regression without blur",
        list(zip(names, panels, strict=True)), f"full regression, {sizes.kin_rows[0]} rows",
    )  # fmt: skip
    few, many = sizes.kin_rows
    rows = [compare("kin-40k linear regression: error", PAPER["linear_regression"], _linear_error("kin40k", sizes))]
    rows.append(compare(f"kin-40k full GPR n={few}: error", None, subset.full_error()))
    rows += [row for n, curves in zip(sizes.kin_rows, panels, strict=True) for row in _curve_rows("kin-40k", n, curves)]
    largest = sizes.kin_active[-1]
    for method in ("info-gain", "random"):
        ratio = everything.error(method, largest) / everything.full_error()
        rows.append(claim(f"kin-40k {method} d={largest} n={many} / full GPR n={few}: error", "< 1", ratio, ratio < 1))
    smallest = sizes.kin_active[0]
    for n, curves in zip(sizes.kin_rows, panels, strict=True):
        ratio = curves.error("random", largest) / curves.error("info-gain", largest)
        rows.append(claim(f"kin-40k random / info-gain d={largest} n={n}: error", "> 1", ratio, ratio > 1))
        ratio = curves.error("smo-bart", smallest) / curves.error("info-gain", smallest)
        rows.append(claim(f"kin-40k smo-bart / info-gain d={smallest} n={n}: error", "< 1", ratio, ratio < 1))
    return [*rows, *_seconds_rows(sizes, panels)]


def _seconds_rows(sizes: Sizes, panels: list[Curves]) -> list[Row]:
    """Table 4.3, where a size is printed there: the seconds of 2003, and how much longer smo-bart takes."""
    rows = []
    for n, curves in zip(sizes.kin_rows, panels, strict=True):
        for d in sizes.kin_active:
            paper = {method: _paper_seconds(method, n, d) for method in ("info-gain", "random", "smo-bart")}
            if paper["info-gain"] is not None and d in (100, 500, 1250):
                for method in ("info-gain", "random"):
                    rows.append(compare(f"kin-40k {method} d={d} n={n}: s", paper[method], curves.seconds(method, d)))
            if curves.fits.get(("smo-bart", d)):
                printed = paper["smo-bart"] / paper["info-gain"] if paper["smo-bart"] else None
                ours = curves.seconds("smo-bart", d) / curves.seconds("info-gain", d)
                rows.append(compare(f"kin-40k smo-bart / info-gain d={d} n={n}: time", printed, ours))
    return rows


def _paper_seconds(method: str, n: int, d: int) -> float | None:
    paper = PAPER["kin40k"]
    if str(n) not in paper["seconds"] or d not in paper["sizes"]:
        return None
    return paper["seconds"][str(n)][method][paper["sizes"].index(d)]


def pumadyn(sizes: Sizes, outcomes: dict[tuple[str, int], list[Outcome]]) -> list[Row]:
    """Figure 4.6 and the figures of the text around it."""
    curves, found, one_scale, four_inputs = Curves(sizes.puma_active), [], [], []
    n = sizes.puma_rows or 1024
    for i in range(sizes.splits):
        split = _split("pumadyn32nm", i, sizes)
        if sizes.puma_rows:
            model = full_gpr(split.X[:n], split.y[:n], sizes.iterations)
            one_scale.append(_one_length_scale(split, n, sizes.iterations))
            four_inputs.append(_one_length_scale(_relevant_only(split), n, sizes.iterations))
        else:  # full regression would take a minute
            model = outcomes["info-gain", 100][i].model
        found.append(model)
        curves.full.append(fit_sparse(model, split, n, n, "random").error)
        sweep(curves, model, split, len(split.y), i, sizes.puma_smo_bart)
        _say(f"pumadyn-32nm, split {i + 1}: full regression {curves.full[-1]:.4f}, {model.likelihood!r}")
    draw(
        figure_folder("thesis-plv") / "figure-4.6.png", "pumadyn-32nm: sparse regression without blur",
        [("7168 training rows", curves)], f"full regression, {n} rows",
    )  # fmt: skip
    paper, name = PAPER["pumadyn32nm"], f"pumadyn-32nm full GPR n={n}"
    learned = name if sizes.puma_rows else f"{name}, parameters of info-gain d=100"
    linear, relevant = _linear_error("pumadyn32nm", sizes), np.median([_relevant(model) for model in found])
    rows = [
        compare("pumadyn-32nm linear regression: error", PAPER["linear_regression"], linear),
        compare(f"{learned}: error", paper["full_gpr"], curves.full_error()),
        compare(f"{learned}: relevant inputs", paper["relevant_inputs"], relevant),
    ]
    if one_scale:
        rows += [
            compare(f"{name}, one length scale: error", paper["one_length_scale"], np.median(one_scale)),
            compare(
                f"{name}, one length scale, 4 inputs: error", paper["one_length_scale_relevant_inputs"],
                np.median(four_inputs),
            ),
        ]  # fmt: skip
    return [*rows, *_curve_rows("pumadyn-32nm", 7168, curves), *_enough_rows(curves)]


def _enough_rows(curves: Curves) -> list[Row]:
    """At 125 active rows all methods are as good as full regression, says the Thesis."""
    paper, rows = PAPER["pumadyn32nm"], []
    d = paper["enough"]
    for method in ("info-gain", "random", "smo-bart"):
        ratio = curves.error(method, d) / curves.full_error()
        rows.append(claim(f"pumadyn-32nm {method} d={d} / full GPR: error", "about 1", ratio, ratio < 1.25))
        seconds = paper["seconds_at_enough"][method]
        rows.append(compare(f"pumadyn-32nm {method} d={d}: s", seconds, curves.seconds(method, d)))
    return rows


def _curve_rows(name: str, n: int, curves: Curves) -> list[Row]:
    """The curves themselves, of which the Thesis prints no numbers."""
    return [
        compare(f"{name} {method} d={d} n={n}: error", None, curves.error(method, d))
        for method in ("info-gain", "random", "smo-bart", "ivm-gain", "variance")
        for d in (curves.sizes[0], curves.sizes[len(curves.sizes) // 2], curves.sizes[-1])
        if len(curves.errors(method, d))
    ]


def _relevant(model: Any) -> int:
    """How many of the relevant inputs are among the four of shortest length scale."""
    return len(RELEVANT & set((np.argsort(length_scales(model))[: len(RELEVANT)] + 1).tolist()))


def _relevant_only(split: Split) -> Split:
    columns = np.array(sorted(RELEVANT)) - 1
    return split._replace(X=split.X[:, columns], X_test=split.X_test[:, columns])


def _one_length_scale(split: Split, n: int, iterations: int) -> float:
    model = full_gpr(split.X[:n], split.y[:n], iterations, ard=False)
    return fit_sparse(model, split, n, n, "random").error


def selections(sizes: Sizes) -> dict[tuple[str, int], list[Outcome]]:
    """Model selection with the sparse criterion on 2048 rows of pumadyn-32nm, for every split."""
    outcomes: dict[tuple[str, int], list[Outcome]] = {}
    for method, d in sizes.selections:
        for i in range(sizes.splits):
            split = _split("pumadyn32nm", i, sizes)
            outcome = select_model(split, 2048, d, method, i, sizes.selection_iterations)
            outcomes.setdefault((method, d), []).append(outcome)
            _say(f"{method}, d = {d}, split {i + 1}: error {outcome.error:.4f}, {outcome.seconds:.0f} s")
    return outcomes


def table_4_4(outcomes: dict[tuple[str, int], list[Outcome]]) -> list[Row]:
    """Share of successful runs, and the median error and seconds of these."""
    rows = []
    for (method, d), found in outcomes.items():
        paper = PAPER["table_4_4"][method][str(d)]
        good = [outcome for outcome in found if outcome.success]
        name = f"table 4.4 {method} d={d}"
        share = paper["successes"] / PAPER["table_4_4"]["runs"]
        rows.append(compare(f"{name}: share of successful runs", share, len(good) / len(found)))
        if good:
            rows.append(compare(f"{name}: error", paper.get("error"), np.median([o.error for o in good])))
            rows.append(compare(f"{name}: s", paper.get("seconds"), np.median([o.seconds for o in good])))
        else:
            failed = np.median([outcome.error for outcome in found])
            rows.append(claim(f"{name}: error of failed runs", "about 0.5", failed, failed > SUCCESS))
    return rows


def _linear_error(name: str, sizes: Sizes) -> float:
    """Half the variance that linear regression leaves: its fit is taken off, so it predicts zero."""
    return float(np.median([0.5 * np.mean(_split(name, i, sizes).y_test ** 2) for i in range(sizes.splits)]))


def _split(name: str, i: int, sizes: Sizes) -> Split:
    split = make_split(name, i)
    return split._replace(X_test=split.X_test[: sizes.test_rows], y_test=split.y_test[: sizes.test_rows])


def _say(what: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)
