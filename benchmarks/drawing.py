"""CPU seconds of every side as curves on logarithmic axes, each named at its end."""

from pathlib import Path
from typing import Any

import numpy as np

from .defaults import BEFORE, SIDES

__all__ = ["curves", "draw", "spread"]

NAMES = {
    "infovec": "IVMClassifier()", BEFORE: BEFORE, "svc": "calibrated SVC", "boosting": "boosting",
    "nystroem": "Nystroem + logistic", "gp": "full GP", "svgp": "GPyTorch SVGP",
}  # fmt: skip
GAP = 0.062  # between names, of the height of the axes
Curves = dict[str, tuple[list[int], list[float]]]


def curves(lines: list[dict[str, Any]], along: str) -> Curves:
    """Return places and CPU seconds of every side, in order of the places."""
    found: Curves = {}
    for line in sorted(lines, key=lambda line: line[along]):
        for side, result in line["sides"].items():
            places, seconds = found.setdefault(side, ([], []))
            places.append(line[along])
            seconds.append(result["cpu_seconds"])
    return found


def spread(values: list[float], gap: float) -> list[float]:
    """Return values moved as little as may be until they are a gap apart, in the order they had."""
    order = np.argsort(values, kind="stable")
    steps = gap * np.arange(len(values))
    groups: list[list[float]] = []
    for value in np.asarray(values)[order] - steps:  # a gap apart is now the same as not falling
        groups.append([value])
        while len(groups) > 1 and np.mean(groups[-2]) > np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = np.empty(len(values))
    moved[order] = np.concatenate([np.full(len(g), np.mean(g)) for g in groups] or [[]]) + steps
    return moved.tolist()


def draw(path: Path, lines: list[dict[str, Any]], rows: int) -> None:
    """Draw CPU seconds against rows of two classes, and against classes of so many rows."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    by_rows, by_classes = figure.subplots(1, 2, sharey=True)
    _panel(by_rows, curves([line for line in lines if line["classes"] == 2], "n"))
    _panel(by_classes, curves([line for line in lines if line["n"] == rows], "classes"))
    by_rows.set(title="two classes", xlabel="training rows", ylabel="CPU seconds of a fit")
    by_classes.set(title=f"{rows} training rows", xlabel="classes")
    for ax in (by_rows, by_classes):
        _label(ax)
    with mpl.rc_context({"svg.hashsalt": "speed"}):
        figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(ax: Any, found: Curves) -> None:
    from infovec.plots.style import COLORS, GRID

    ax.set(xscale="log", yscale="log")
    for side, (places, seconds) in found.items():
        own = side in ("infovec", BEFORE)
        color = COLORS[0 if own else SIDES.index(side)]
        style = {"linewidth": 2.2 if own else 1.4, "linestyle": "--" if side == BEFORE else "-"}
        ax.plot(places, seconds, marker="o", markersize=4, color=color, zorder=3 if own else 2, label=side, **style)
    places = sorted({place for xs, _ in found.values() for place in xs})
    ax.set_xticks(places, [f"{place // 1000}k" if place >= 10_000 else f"{place}" for place in places])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(color=GRID, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def _label(ax: Any) -> None:
    """Name every line at its end, names that end at the same place apart from each other."""
    low, high = np.log10(ax.get_ylim())
    ends: dict[float, list[Any]] = {}
    for line in ax.lines:
        ends.setdefault(line.get_xdata()[-1], []).append(line)
    for place, together in ends.items():
        heights = spread([float(np.log10(line.get_ydata()[-1])) for line in together], GAP * (high - low))
        for line, height in zip(together, heights, strict=True):
            ax.annotate(
                NAMES[line.get_label()], (place, 10.0**height), (7, 0), textcoords="offset points", va="center",
                color=line.get_color(), fontsize=9, weight="bold" if line.get_zorder() == 3 else "normal",
            )  # fmt: skip
