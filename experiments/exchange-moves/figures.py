"""Log losses of all sets, in every way, beside those of the plain selection."""

import numpy as np
from matplotlib.figure import Figure

from experiments.catalogue import figure_folder

__all__ = ["draw"]

_COLOURS = ("#9e9e9e", "#ef6c00", "#0d47a1", "#26a69a")


def draw(found: dict[str, dict[str | None, tuple[float, ...]]], ways: dict[str | None, str]) -> None:
    """Draw the change of the log loss of each set."""
    fig = Figure(figsize=(9.0, 3.8), layout="constrained")
    ax = fig.subplots()
    names, shown = list(found), [way for way in ways if way]
    for k, way in enumerate(shown):
        change = [found[name][way][1] - found[name][None][1] for name in names]
        ax.bar(np.arange(len(names)) + (k - 1.5) * 0.2, change, 0.2, color=_COLOURS[k], label=ways[way])
    ax.axhline(0.0, color="0.3", lw=0.8)
    ax.set(ylabel="change of the log loss", xticks=np.arange(len(names)))
    ax.set_xticklabels(names, rotation=30, ha="right")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    fig.savefig(figure_folder("exchange-moves") / "log-loss.png", dpi=90)
