"""GR06 table 1: Laplace, variational approximation and Gibbs sampler on five data sets, with the same kernels."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.classes import Split, merged, standardised
from experiments.dense import Judged, by_evidence, by_importance, judge, three_rings
from experiments.report import claim, compare
from infovec.dense import annealed_evidence
from infovec.dense.draws import draws_of_prior

__all__ = ["FULL", "QUICK", "Sizes", "run", "split"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
TOYS, TOY_TEST = {"toy, 100 rows": 100, "toy, 80 rows": 80}, 270  # not printed; see the README
FIRST = 100  # number of the first split; how kernels are found was decided on splits with lower ones
WAYS = ("Laplace", "variational", "Gibbs", "EP")
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    names: tuple[str, ...]
    splits: int
    sampled: int  # of these splits with kernels of GR06's sampler as well
    samples: int  # of that sampler
    burn_in: int
    prior: int  # of these splits with the paper's estimate of the marginal likelihood
    annealed: int  # of these splits whose marginal likelihood is estimated by annealing


FULL = Sizes((*TOYS, "iris", "thyroid", "wine", "glass"), 50, 0, 300, 200, 10, 5)
QUICK = Sizes(("iris",), 2, 1, 60, 100, 1, 0)


def split(name: str, seed: int) -> Split:
    """Draw a toy, or 60 % of the rows to train on and 40 % to test, in units of the training rows."""
    rng = np.random.default_rng(seed)
    if name in TOYS:
        return Split(*three_rings(TOYS[name], rng), *three_rings(TOY_TEST, rng))
    X, y = merged(name)
    y, order = np.unique(y, return_inverse=True)[1], rng.permutation(len(y))
    X, y, n = X[order], y[order], round(0.6 * len(y))
    return standardised(Split(X[:n], y[:n], X[n:], y[n:]))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Return rows of paper, ours and difference; ours are means over the splits."""
    sizes = sizes or (QUICK if quick else FULL)
    rows: list[Row] = []
    for name in sizes.names:
        learned: dict[str, list[Judged]] = {way: [] for way in WAYS}
        sampled: dict[str, list[Judged]] = {way: [] for way in WAYS[:2]}
        annealed: list[float] = []
        start = time.perf_counter()
        for k in range(sizes.splits):
            data, rng = split(name, FIRST + k), np.random.default_rng(FIRST + k)
            kernel = by_evidence(data.X, data.y)
            for way in WAYS:
                evidence = draws_of_prior if k < sizes.prior else None
                learned[way].append(judge(way, kernel, *data, rng, sizes.burn_in, evidence))
            if k < sizes.annealed:
                K, C = kernel(data.X), int(data.y.max()) + 1
                annealed.append(annealed_evidence(K, data.y, C, rng).log_evidence - learned["EP"][-1].log_evidence)
            if k < sizes.sampled:
                kernel = by_importance(data.X, data.y, sizes.samples, rng)
                for way in sampled:
                    sampled[way].append(judge(way, kernel, *data, rng))
            errors = {way: round(found[-1].error, 2) for way, found in learned.items()}
            print(f"{name}, split {k + 1}, {time.perf_counter() - start:.0f} s: {errors}", file=sys.stderr)
        rows += _table(name, learned, sampled, annealed)
    return rows


def _table(
    name: str, learned: dict[str, list[Judged]], sampled: dict[str, list[Judged]], annealed: list[float]
) -> list[Row]:
    printed = {way: {key: PAPER[name.partition(",")[0]][key][k] for key in ("error", "likelihood", "evidence")}
               for k, way in enumerate(PAPER["ways"])}  # fmt: skip
    mean = {way: np.nanmean(found, axis=0) for way, found in learned.items()}
    rows = []
    for way, (evidence, error, likelihood, _) in mean.items():
        paper = printed.get(way, {"error": (None,), "likelihood": (None,), "evidence": (None,)})
        rows.append(compare(f"{name} {way}: error %", paper["error"][0], error))
        rows.append(compare(f"{name} {way}: test log likelihood", paper["likelihood"][0], likelihood))
        rows.append(compare(f"{name} {way}: marginal likelihood", paper["evidence"][0], evidence))
        if way in printed:
            off = abs(error - paper["error"][0]) / paper["error"][1]
            rows.append(claim(f"{name} {way}: error, standard deviations off", "< 1", off, bool(off < 1.0)))
    best = min(mean["variational"][2], mean["Gibbs"][2]) - mean["Laplace"][2]
    rows.append(claim(f"{name} Laplace below both: test log likelihood", "> 0", best, bool(best > 0.0)))
    largest = float(np.max([found.r_hat for found in learned["Gibbs"]]))
    rows.append(claim(f"{name} Gibbs: largest R-hat of all splits", "< 1.1", largest, bool(largest < 1.1)))
    if annealed:
        rows.append(compare(f"{name} annealing less EP: marginal likelihood", None, np.mean(annealed)))
    for way, found in sampled.items():
        if found:
            rows.append(
                compare(f"{name} {way}, sampled kernel: error %", printed[way]["error"][0], np.mean(found, 0)[1])
            )
            rows.append(
                compare(f"{name} {way}, sampled kernel: test log likelihood", printed[way]["likelihood"][0],
                        np.mean(found, 0)[2])
            )  # fmt: skip
    return rows
