"""Upper row of figure 1 of SLH: the criterion over the steps of each strategy."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(path: Path, histories: dict[str, dict[str, Any]]) -> None:
    """Draw one panel for each strategy: minus the criterion at every evaluation, major steps marked."""
    figure = Figure(figsize=(1.0 + 3.6 * len(histories), 3.6), layout="constrained")
    axes = figure.subplots(1, len(histories), sharey=True, squeeze=False)[0]
    for ax, (name, history) in zip(axes, histories.items(), strict=True):
        value, major = -history["criterion"], history["major"]
        step = np.arange(len(value))
        ax.plot(step, value, color="#1565c0", linewidth=1.0)
        ax.plot(step[major], value[major], "o", color="#c62828", markersize=4, label="major step")
        ax.set(title=name, xlabel="evaluation", yscale="log")
        ax.grid(color="0.9", linewidth=0.6)
    axes[0].set_ylabel("minus log evidence and prior")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)
