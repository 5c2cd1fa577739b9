"""LSH05 4.1, figures 2 to 4: toy regressions, classifications and ordered categories, and what is learned of them."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.catalogue import figure_folder
from experiments.lsh05 import SMALL, algorithm_2, as_printed, with_relevances
from experiments.report import claim, compare
from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.kernels import MLP, RBF, Bias, Kernel, Linear, White
from infovec.likelihoods import Gaussian

from . import problems
from .figures import Shown, draw

__all__ = ["FULL", "QUICK", "TOYS", "Sizes", "Toy", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_ITERATIONS = 4
_OFF = 0.05  # share of another parameter below which one counts as switched off
_WHITE_ONLY = 1e-6  # noise variance of the authors' program beside white noise in the kernel
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    draws: int  # of every data set; medians count
    share: float = 1.0  # of rows and active rows


FULL = Sizes(11)
QUICK = Sizes(1, share=0.5)


@dataclass(frozen=True)
class Toy:
    """A problem: its data, its kernel, its machine, and the figure it belongs to."""

    name: str
    figure: int
    make: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    kernel: Kernel
    machine: type
    rows: int
    active: int
    fixed: tuple[str, ...] = ("likelihood.*",)

    def fit(self, X: np.ndarray, y: np.ndarray, active: int) -> Any:
        """Learn by algorithm 2, one row included at a time."""
        more = {"likelihood": Gaussian(_WHITE_ONLY)} if self.machine is IVMRegressor else {}
        return self.machine(
            kernel=self.kernel, approximation="factorised", refine=None, score="entropy", n_active=active,
            selection="all", block_size=1, learn=algorithm_2(_ITERATIONS, self.fixed), random_state=0, **more,
        ).fit(X, y)  # fmt: skip


_SMOOTH = with_relevances(RBF(1.0, 1.0) + Linear(1.0), 2)
_REAL, _CUTS = _SMOOTH + White(SMALL), ("likelihood.slope",)
TOYS = (
    Toy("regression one", 2, problems.regression_one, _REAL, IVMRegressor, 500, 50),
    Toy("regression two", 2, problems.regression_two, _REAL, IVMRegressor, 500, 100),
    Toy("clusters", 3, problems.clusters, with_relevances(MLP() + Linear(1.0), 2), IVMClassifier, 300, 100),
    Toy("unit square", 3, problems.unit_square, RBF(1.0, 1.0), IVMClassifier, 500, 200),
    Toy("ordered", 4, problems.ordered, _SMOOTH + Bias(SMALL), IVMOrdinalClassifier, 210, 200, _CUTS),
    Toy(
        "ordered in polar coordinates", 4, problems.ordered_polar, _SMOOTH + Bias(SMALL), IVMOrdinalClassifier, 210,
        200, _CUTS,
    ),
)  # fmt: skip


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Learn every toy on some draws, draw the figures, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    rows: list[Row] = []
    panels: dict[int, list[Shown]] = {}
    for number, toy in enumerate(TOYS):
        found: list[dict[str, float]] = []
        for seed in range(sizes.draws):
            X, y = toy.make(int(toy.rows * sizes.share), np.random.default_rng([number, seed]))
            model = toy.fit(X, y, int(toy.active * sizes.share))
            found.append(as_printed(model.kernel_))
            if seed == 0:
                panels.setdefault(toy.figure, []).append(Shown(toy.name, X, y, model))
            listed = ", ".join(f"{key} {value:.3g}" for key, value in found[-1].items())
            print(f"[{time.strftime('%H:%M:%S')}] {toy.name} {seed + 1}: {listed}", file=sys.stderr, flush=True)
        rows += _rows(toy.name, found)
    for figure, shown in panels.items():
        draw(figure_folder("lsh05-toys") / f"figure-{figure}.png", shown)
    return rows


def _rows(name: str, found: list[dict[str, float]]) -> list[Row]:
    """Medians over the draws beside the paper's one draw."""
    ours = {key: float(np.median([one[key] for one in found])) for key in found[0]}
    paper, rows = PAPER[name], []
    for key, value in ours.items():
        printed, true = paper["learned"].get(key), paper["made_with"].get(key)
        if key in paper["off"]:
            other = ours[paper["off"][key]]
            rows.append(claim(f"{name}: {key}", f"{printed:.1e}, off", value, value < _OFF * other))
            continue
        rows.append(compare(f"{name}: {key}", printed, value))
        if true is not None:
            near = [abs(np.log(v / true)) <= abs(np.log(printed / true)) for v in (value, *(one[key] for one in found))]
            rows.append(claim(f"{name}: {key} as near as printed to {true:g}", f"{printed:g}", value, bool(near[0])))
            rows.append(compare(f"{name}: share of draws with {key} as near", None, float(np.mean(near[1:]))))
    return rows
