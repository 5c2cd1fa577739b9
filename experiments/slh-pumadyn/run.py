"""SLH 6.3: regression of pumadyn-32nm with a length scale for each input, learned by the EP evidence."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.catalogue import load
from experiments.report import claim, compare
from infovec import IVMRegressor
from infovec.kernels import RBF
from infovec.learning import Learning
from infovec.likelihoods import Gaussian

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_NOISE = 0.5  # half of the variance is noise where learning starts
_OFF = 3.0  # times as long as the longest relevant length scale an irrelevant one must be


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    splits: int
    active: tuple[int, ...]
    major_steps: int
    rows: int | None = None


FULL = Sizes(10, (200, 300, 500), 15)
QUICK = Sizes(1, (200,), 5, rows=1500)


class Outcome(NamedTuple):
    """How one run ended."""

    mse: float
    log_likelihood: float
    relevant: bool  # whether the relevant inputs were found, and the others switched off
    seconds: float


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Learn on every split at every size, and return rows of paper, ours and difference."""
    sizes = sizes or (QUICK if quick else FULL)
    rows = []
    for d in sizes.active:
        found = [learn_split(sizes, d, i) for i in range(sizes.splits)]
        paper = PAPER["sizes"][str(d)]
        share = float(np.mean([outcome.relevant for outcome in found]))
        rows += [
            claim(f"d={d}: share of runs that find inputs 4, 5, 15, 16 alone", "1", share, share == 1.0),
            compare(f"d={d}: mean square error", paper["mse"], np.mean([outcome.mse for outcome in found])),
            compare(f"d={d}: log likelihood", paper["log_likelihood"], np.mean([o.log_likelihood for o in found])),
            compare(f"d={d}: s", None, np.mean([outcome.seconds for outcome in found])),
        ]
    return rows


def learn_split(sizes: Sizes, d: int, i: int) -> Outcome:
    """Learn everything on the training rows of a split; the data are prepared as in thesis-plv."""
    load("thesis-plv")
    split = sys.modules["experiments.thesis_plv.splits"].make_split("pumadyn32nm", i)
    X, y = split.X[: sizes.rows], split.y[: sizes.rows]
    p = X.shape[1]
    learning = Learning(
        "ep", major_steps=sizes.major_steps, minor_steps=8, lag=2, max_rows=None, fixed=["likelihood.bias"],
    )  # fmt: skip
    start = time.perf_counter()
    model = IVMRegressor(
        kernel=RBF(np.full(p, np.sqrt(p)), 1.0), likelihood=Gaussian(_NOISE, bias=0.0), approximation="factorised",
        n_active=d, selection="all", learn=learning, random_state=i,
    ).fit(X, y)  # fmt: skip
    seconds = time.perf_counter() - start
    mse = float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    log_likelihood = float(np.mean(model.log_density(split.X_test, split.y_test)))
    outcome = Outcome(mse, log_likelihood, found_relevant(model.kernel_.length_scale), seconds)
    print(f"[{time.strftime('%H:%M:%S')}] d={d}, split {i + 1}: {outcome}", file=sys.stderr, flush=True)
    return outcome


def found_relevant(length_scale: np.ndarray) -> bool:
    """Whether the shortest length scales are those of the relevant inputs, and the others much longer."""
    order, relevant = np.argsort(length_scale), set(PAPER["relevant"])
    shortest = set((order[: len(relevant)] + 1).tolist())
    longest, next_one = length_scale[order[len(relevant) - 1]], length_scale[order[len(relevant)]]
    return shortest == relevant and bool(next_one > _OFF * longest)
