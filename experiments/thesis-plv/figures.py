"""Figures 4.5 and 4.6 of the Thesis."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from .curves import METHODS, Curves

__all__ = ["draw"]

_STYLE = {
    "info-gain": ("#c62828", "o", "info-gain (Thesis)"),
    "random": ("#757575", "s", "random"),
    "smo-bart": ("#2e7d32", "^", "Smola and Bartlett, 30 candidates"),
    "ivm-gain": ("#1565c0", "D", "information gain of the IVM (default)"),
    "variance": ("#ef6c00", "v", "variance (pivoted Cholesky)"),
}


def draw(path: Path, title: str, panels: list[tuple[str, Curves]], full_label: str) -> None:
    """Draw one panel for each set of curves: medians as lines, quartiles as bars where there are several splits."""
    figure = Figure(figsize=(1.4 + 4.4 * len(panels), 4.6), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    for ax, (name, curves) in zip(axes[0], panels, strict=True):
        _panel(ax, curves, full_label)
        ax.set(title=name, xlabel="active set size d", yscale="log")
        ax.grid(color="0.9", linewidth=0.6)
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(LogLocator(subs=()))
    axes[0, 0].set_ylabel("average of ½ (y − μ)² on test rows")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 if len(panels) == 1 else 3, frameon=False)
    figure.suptitle(title)
    figure.savefig(path, dpi=130)


def _panel(ax: Any, curves: Curves, full_label: str) -> None:
    low, middle, high = np.quantile(curves.full, [0.25, 0.5, 0.75])
    ax.axhline(middle, color="black", linestyle="--", linewidth=1.0, label=full_label)
    ax.axhspan(low, high, color="black", alpha=0.12, linewidth=0)
    for method in METHODS:
        sizes = [d for d in curves.sizes if len(curves.errors(method, d))]
        if not sizes:
            continue
        low, middle, high = np.transpose([np.quantile(curves.errors(method, d), [0.25, 0.5, 0.75]) for d in sizes])
        color, marker, label = _STYLE[method]
        ax.plot(sizes, middle, marker=marker, color=color, markersize=4.5, linewidth=1.4, label=label)
        ax.vlines(sizes, low, high, color=color, linewidth=1.0)
