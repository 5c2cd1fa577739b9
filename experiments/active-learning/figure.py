"""Accuracy over the number of labels, for every way to ask."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

__all__ = ["draw"]

_COLOURS = {"random": "0.55", "information": "#c62828", "batches": "#1565c0", "batches, none at random": "#90caf9"}
_PEER = "#2e7d32"


def draw(path: Path, curves: dict[str, dict[str, Any]], share: float) -> None:
    """Draw one panel for each set; the dotted line is the mark."""
    figure = Figure(figsize=(1.0 + 3.4 * len(curves), 3.4), layout="constrained")
    axes = figure.subplots(1, len(curves), squeeze=False)[0]
    for ax, (name, found) in zip(axes, curves.items(), strict=True):
        full = found["full"]
        for way, curve in found.items():
            if way != "full":
                ax.plot(*curve, color=_COLOURS.get(way, _PEER), linewidth=1.4 if way in _COLOURS else 0.8, label=way)
        ax.axhline(share * full, color="0.3", linewidth=0.8, linestyle=":")
        ax.set(title=name, xlabel="labels")
        ax.grid(color="0.9", linewidth=0.6)
    axes[0].set_ylabel("accuracy")
    handles, names = axes[-1].get_legend_handles_labels()
    kept = [(h, n) for h, n in zip(handles, names, strict=True) if n in _COLOURS or n.endswith("fixed margin_sampling")]
    axes[-1].legend(
        [h for h, _ in kept],
        [n if n in _COLOURS else n.split(" ")[0] for _, n in kept],
        frameon=False,
        loc="lower right",
    )
    figure.savefig(path, dpi=130)
