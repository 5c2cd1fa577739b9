"""How good probabilities are: error-reject curves and reliability."""

from collections.abc import Mapping
from typing import Any

from ..metrics import ErrorReject, Reliability
from .style import FAINT, GRID, new_axes, styles

__all__ = ["plot_error_reject", "plot_reliability"]


def plot_error_reject(curves: ErrorReject | Mapping[str, ErrorReject], ax: Any = None, loss: str = "") -> Any:
    """Draw errors against rejected rows, in per cent, as NIPS03 figure 1 does.

    Parameters
    ----------
    curves : ErrorReject, or a dictionary of several by their names
        Of ``infovec.metrics.error_reject_curve``.
    ax : matplotlib Axes, optional
        A new figure if None.
    loss : str
        What was averaged, if not errors: its name, and numbers as they are instead of per cent.

    Returns
    -------
    ax : matplotlib Axes
    """
    named = {"": curves} if isinstance(curves, ErrorReject) else curves
    if ax is None:
        ax = new_axes(5.6, 4.2)
    for (name, curve), style in zip(named.items(), styles(), strict=False):
        ax.step(100 * curve.rejected, (1 if loss else 100) * curve.error, where="post", label=name, **style)
    ax.set(xlabel="rows rejected, %", ylabel=f"{loss or 'errors'} among the rows kept{'' if loss else ', %'}")
    ax.set(xlim=(0, 100), ylim=(0, None))
    ax.grid(color=GRID, linewidth=0.6)
    if any(named):
        ax.legend(frameon=False)
    return ax


def plot_reliability(tables: Reliability | Mapping[str, Reliability], ax: Any = None) -> Any:
    """Draw observed shares against predicted probabilities; honest ones lie on the diagonal.

    Bars are 95 % intervals of the shares, the area of a dot grows with the rows in its bin.

    Parameters
    ----------
    tables : Reliability, or a dictionary of several by their names
        Of ``infovec.metrics.reliability_table``.
    ax : matplotlib Axes, optional
        A new figure if None.

    Returns
    -------
    ax : matplotlib Axes
    """
    named = {"": tables} if isinstance(tables, Reliability) else tables
    if ax is None:
        ax = new_axes(4.8, 4.8)
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, zorder=0)
    for (name, table), style in zip(named.items(), styles(), strict=False):
        low, high = table.interval()
        ax.vlines(table.predicted, low, high, color=style["color"], linewidth=1.0)
        area = 12.0 + 120.0 * table.size / table.size.max()
        ax.scatter(table.predicted, table.observed, s=area, color=style["color"], alpha=0.85, linewidth=0)
        ax.plot(table.predicted, table.observed, label=name, **style)
    ax.set(xlabel="predicted probability", ylabel="observed share", aspect="equal")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.grid(color=GRID, linewidth=0.6)
    if any(named):
        ax.legend(frameon=False)
    return ax
