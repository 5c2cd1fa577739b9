"""GR06 figures 3 and 4: predictive likelihood over variance and precision of the kernel, by each approximation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.catalogue import figure_folder
from experiments.classes import from_precision
from experiments.dense import judge, three_rings
from experiments.report import claim, compare

__all__ = ["FULL", "QUICK", "Sizes", "run"]

WAYS = ("Gibbs", "variational", "Laplace", "EP")


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    points: int  # along each axis of the grid
    rows: int
    test_rows: int
    burn_in: int


FULL = Sizes(points=9, rows=100, test_rows=100, burn_in=500)
QUICK = Sizes(points=3, rows=30, test_rows=20, burn_in=100)


def run(quick: bool, sizes: Sizes | None = None) -> list[dict[str, Any]]:
    """Draw both figures; say how far each approximation is from the sampler."""
    sizes = sizes or (QUICK if quick else FULL)
    axis = np.linspace(-1.0, 5.0, sizes.points)
    rows = []
    for number, merged in (("3", True), ("4", False)):
        found = _grid(axis, merged, sizes)
        _draw(number, axis, found)
        gibbs = found["Gibbs"]
        for way in WAYS[1:]:
            off = float(np.mean(np.abs(found[way] - gibbs)))
            rows.append(compare(f"figure {number} {way}: nats off the sampler, mean", None, off))
        nearer = np.mean(np.abs(found["Laplace"] - gibbs)) - np.mean(np.abs(found["variational"] - gibbs))
        rows.append(
            claim(f"figure {number}: Laplace farther than variational, nats", "> 0", float(nearer), bool(nearer > 0.0))
        )
    return rows


def _grid(axis: np.ndarray, merged: bool, sizes: Sizes) -> dict[str, np.ndarray]:
    """Mean log probability of test labels, by log s along the first axis and log phi along the second."""
    rng = np.random.default_rng(0)
    X, y = three_rings(sizes.rows, rng)
    Z, t = three_rings(sizes.test_rows, rng)
    if merged:  # classes 2 and 3 are one
        y, t = np.minimum(y, 1), np.minimum(t, 1)
    X, Z = X[:, :2], Z[:, :2]
    found = {way: np.empty((len(axis), len(axis))) for way in WAYS}
    for i, log_s in enumerate(axis):
        for j, log_phi in enumerate(axis):
            kernel = from_precision(float(np.exp(log_phi)), float(np.exp(log_s)))
            for way in WAYS:
                found[way][i, j] = judge(way, kernel, X, y, Z, t, rng, sizes.burn_in).log_likelihood / len(t)
    return found


def _draw(number: str, axis: np.ndarray, found: dict[str, np.ndarray]) -> None:
    figure = Figure(figsize=(15.0, 4.6), layout="constrained")
    low = float(max(-1.2, min(values.min() for values in found.values())))
    levels = np.linspace(low, max(values.max() for values in found.values()), 14)
    for axes, way in zip(figure.subplots(1, len(found), sharey=True), found, strict=True):
        lines = axes.contour(axis, axis, found[way].T, levels=levels, cmap="viridis")
        axes.clabel(lines, fontsize=7)
        axes.set(title=way, xlabel="log s")
        axes.set_box_aspect(1)
    figure.axes[0].set_ylabel("log phi")
    figure.savefig(figure_folder("gr06-contours") / f"figure-{number}.png", dpi=120)
