"""SLH 6.3: regression of pumadyn-32nm with a length scale for each input, learned by the EP evidence."""

import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.catalogue import load
from experiments.report import claim, compare
from infovec import IVMRegressor
from infovec.kernels import RBF
from infovec.learning import Learning, Normal
from infovec.likelihoods import Gaussian

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
_NOISE = 0.5  # half of the variance is noise where learning starts
_FIRST_ROWS, _FIRST_ACTIVE = 1000, 400  # on which it begins
_WEAK = 3.0  # width of the priors
_OFF = 3.0  # times as long as the longest relevant length scale an irrelevant one must be


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    splits: int
    active: tuple[int, ...]
    major_steps: int
    rows: int | None = None
    first_steps: int = 6  # major ones on few rows
    looks: int = 2  # at the inputs


FULL = Sizes(10, (200, 300, 500), 15)
QUICK = Sizes(1, (200,), 3, rows=1500, first_steps=4, looks=1)


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
    runs = [learn_split(sizes, i) for i in range(sizes.splits)]
    for d in sizes.active:
        found = [outcomes[d] for outcomes in runs]
        paper = PAPER["sizes"][str(d)]
        share = float(np.mean([outcome.relevant for outcome in found]))
        rows += [
            claim(f"d={d}: share of runs that find inputs 4, 5, 15, 16 alone", "1", share, share == 1.0),
            compare(f"d={d}: mean square error", paper["mse"], np.mean([outcome.mse for outcome in found])),
            compare(f"d={d}: log likelihood", paper["log_likelihood"], np.mean([o.log_likelihood for o in found])),
            compare(f"d={d}: s", None, np.mean([outcome.seconds for outcome in found])),
        ]
    return rows


def learn_split(sizes: Sizes, i: int) -> dict[int, Outcome]:
    """Learn everything on the training rows of a split at every size; the data are prepared as in thesis-plv."""
    load("thesis-plv")
    split = sys.modules["experiments.thesis_plv.splits"].make_split("pumadyn32nm", i)
    X, y = split.X[: sizes.rows], split.y[: sizes.rows]
    begin, outcomes = time.perf_counter(), {}
    first = first_look(X[:_FIRST_ROWS], y[:_FIRST_ROWS], sizes, i)
    begun = time.perf_counter() - begin
    for d in sizes.active:
        start = time.perf_counter()
        model = learn(X, y, first.kernel_, first.likelihood_.variance, d, sizes.major_steps, i)
        seconds = begun + time.perf_counter() - start
        mse = float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
        log_likelihood = float(np.mean(model.log_density(split.X_test, split.y_test)))
        outcomes[d] = Outcome(mse, log_likelihood, found_relevant(model.kernel_.length_scale), seconds)
        print(f"[{time.strftime('%H:%M:%S')}] split {i + 1}, d={d}: {outcomes[d]}", file=sys.stderr, flush=True)
    return outcomes


def first_look(X: np.ndarray, y: np.ndarray, sizes: Sizes, seed: int) -> IVMRegressor:
    """Learn on few rows, with so many of them active that they do not limit which inputs are seen; then once more.

    The second time, length scales that have grown start where they started at first: of inputs that matter together
    one may have been switched off because the other had been. The one with the better evidence is kept.
    """
    scale, found = np.sqrt(X.shape[1]), list[IVMRegressor]()
    kernel, noise = RBF(np.full(X.shape[1], scale), 1.0), _NOISE
    for _ in range(sizes.looks):
        found.append(learn(X, y, kernel, noise, _FIRST_ACTIVE, sizes.first_steps, seed))
        kernel, noise = found[-1].kernel_, found[-1].likelihood_.variance
        kernel = replace(kernel, length_scale=np.minimum(kernel.length_scale, scale))
    return max(found, key=lambda model: model.history_["criterion"][model.history_["major"]].max())


def learn(X: np.ndarray, y: np.ndarray, kernel: RBF, noise: float, d: int, major_steps: int, seed: int) -> IVMRegressor:
    """Learn by the EP evidence of the factorised posterior, with weak priors around the start of the experiment."""
    priors = {
        "kernel.length_scale*": Normal(0.5 * np.log(X.shape[1]), _WEAK), "kernel.variance": Normal(0.0, _WEAK),
        "likelihood.variance": Normal(np.log(_NOISE), _WEAK),
    }  # fmt: skip
    learning = Learning(
        "ep", major_steps=major_steps, minor_steps=8, lag=2, warm_up=False, max_rows=None, priors=priors,
        fixed=["likelihood.bias"],
    )  # fmt: skip
    return IVMRegressor(
        kernel=kernel, likelihood=Gaussian(noise, bias=0.0), approximation="factorised", refine=None,
        n_active=min(d, len(y)), selection="all", learn=learning, random_state=seed,
    ).fit(X, y)  # fmt: skip


def found_relevant(length_scale: np.ndarray) -> bool:
    """Whether the shortest length scales are those of the relevant inputs, and the others much longer."""
    order, relevant = np.argsort(length_scale), set(PAPER["relevant"])
    shortest = set((order[: len(relevant)] + 1).tolist())
    longest, next_one = length_scale[order[len(relevant) - 1]], length_scale[order[len(relevant)]]
    return shortest == relevant and bool(next_one > _OFF * longest)
