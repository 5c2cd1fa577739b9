"""GR06 figure 2: bound, precisions and test accuracy of the importance sampler by iteration, on three rings."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.catalogue import figure_folder
from experiments.classes import from_precision
from experiments.dense import judge, three_rings
from experiments.report import claim, compare
from infovec.dense.fits import fit_bound
from infovec.dense.importance import Sampled, sample_precisions
from infovec.dense.learn import climb, ep_criterion
from infovec.likelihoods.classes import MultivariateProbit

__all__ = ["FULL", "QUICK", "Sizes", "run"]

PAPER = json.loads((Path(__file__).parent / "expected.json").read_text())
PROBIT = MultivariateProbit(np.zeros(3))
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    draws: int
    rows: int
    test_rows: int
    iterations: int
    samples: int


FULL = Sizes(draws=10, rows=240, test_rows=4620, iterations=50, samples=500)
QUICK = Sizes(draws=1, rows=100, test_rows=500, iterations=6, samples=60)


def draw(seed: int, sizes: Sizes) -> Data:
    """Training and test rows."""
    rng = np.random.default_rng(seed)
    return *three_rings(sizes.rows, rng), *three_rings(sizes.test_rows, rng)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Draw figure 2; then learn a kernel for each draw of the data by the evidence of EP, and count."""
    sizes = sizes or (QUICK if quick else FULL)
    data = draw(0, sizes)
    sampled = _sampled(data, sizes)
    curve = [_accuracy(data, from_precision(np.maximum(phi, 1e-12))) for phi in sampled.path]
    _draw_figure(sampled, curve)
    rows = [
        compare("sampler: accuracy % at the end", PAPER["accuracy"], curve[-1]),
        compare("sampler: relevant inputs", PAPER["relevant_inputs"], _relevant(sampled.mean)),
        claim("sampler: bound, last less first", "> 0", sampled.bounds[-1] - sampled.bounds[0],
              bool(sampled.bounds[-1] > sampled.bounds[0])),
        compare("sampler: effective sample size of the weights, mean", None, np.mean(sampled.ess)),
    ]  # fmt: skip
    found = []
    for seed in range(sizes.draws):
        X, y, Z, t = draw(seed, sizes)
        kernel = climb(ep_criterion, X, y, from_precision(np.ones(10)), PROBIT, np.arange(len(y))).kernel
        rng = np.random.default_rng(seed)
        right = [100.0 - judge(way, kernel, X, y, Z, t, rng).error for way in ("variational", "EP")]
        found.append([*right, _relevant(0.5 * np.asarray(kernel.length_scale) ** -2.0)])
        print(f"draw {seed}: {found[-1]}", file=sys.stderr)
    variational, ep, relevant = np.array(found).T
    wanted = PAPER["wanted_accuracy"]
    return [
        *rows,
        compare("evidence of EP, variational: accuracy %, mean", PAPER["accuracy"], variational.mean()),
        compare("evidence of EP, EP: accuracy %, mean", PAPER["accuracy"], ep.mean()),
        claim(f"EP: share of {sizes.draws} draws with {wanted} % right", "= 1", float(np.mean(ep >= wanted)),
              bool(np.all(ep >= wanted))),
        claim(f"variational: share of {sizes.draws} draws with {wanted} % right", "= 1",
              float(np.mean(variational >= wanted)), bool(np.all(variational >= wanted))),
        claim(f"share of {sizes.draws} draws with eight inputs switched off", "= 1", float(np.mean(relevant == 2)),
              bool(np.all(relevant == 2))),
    ]  # fmt: skip


def _sampled(data: Data, sizes: Sizes) -> Sampled:
    return sample_precisions(
        data[0], data[1], from_precision(np.ones(10)), PROBIT, np.random.default_rng(0), n_samples=sizes.samples,
        rise=-np.inf, max_iterations=sizes.iterations,
    )  # fmt: skip


def _accuracy(data: Data, kernel: Any) -> float:
    X, y, Z, t = data
    return 100.0 * float(np.mean(fit_bound(X, y, kernel, PROBIT).posterior.mean(Z).argmax(axis=1) == t))


def _relevant(precision: np.ndarray) -> int:
    return int(np.sum(precision > 0.01 * precision.max()))


def _draw_figure(sampled: Sampled, curve: list[float]) -> None:
    figure = Figure(figsize=(13.0, 3.8), layout="constrained")
    steps = np.arange(1, len(curve) + 1)
    for axes, values, title in zip(
        figure.subplots(1, 3), (sampled.bounds, np.maximum(sampled.path, 1e-6), curve),
        ("lower bound", "precisions", "test rows predicted rightly, %"), strict=True,
    ):  # fmt: skip
        axes.plot(steps, values)
        axes.set(title=title, xlabel="iteration")
        axes.grid(color="0.9", linewidth=0.6)
        if np.ndim(values) == 2:
            axes.set_yscale("log")
    figure.savefig(figure_folder("gr06-toy") / "figure-2.png", dpi=120)
