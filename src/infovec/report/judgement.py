"""The section about test rows: figures, confusion matrix, reliability, rejection."""

import numpy as np

from .._types import Rows
from ..evaluation import ClassPredictions, NumberPredictions, figure_rows, loss_reject_curve, reject_rows
from ..metrics import error_reject_curve, reliability_table
from ..plots import plot_coverage, plot_error_reject, plot_predictions, plot_reliability
from .contents import Contents
from .page import card, cards, escape, paragraph, section, table
from .pictures import Pictures

__all__ = ["judgement"]

_SQUARE = (4.1, 4.0)


def judgement(contents: Contents, picture: Pictures) -> str:
    """How good predictions for test rows are."""
    found = contents.predictions
    if found is None:
        return section("Test rows", paragraph("None were given: nothing here says how well the model predicts.", True))
    figures = found.figures()
    title = f"Test rows: {figures['rows']}"
    table_of_figures = table(["", "value ± standard error"], figure_rows(figures))
    rejected = [(f"{share:.1%}", value) for share, _, value in reject_rows(figures)]
    name = "errors" if isinstance(found, ClassPredictions) else "mean squared error"
    table_of_rejects = table(["rows rejected", f"{name} among the others"], rejected)
    more = _classes(contents, found, picture) if isinstance(found, ClassPredictions) else _numbers(found, picture)
    return section(
        title,
        cards(card(table_of_figures, "Figures"), card(table_of_rejects, "Rejecting the least certain rows"), *more),
    )


def _classes(contents: Contents, found: ClassPredictions, picture: Pictures) -> list[str]:
    classes = contents.classes or []
    if len(classes) == 2:
        table_ = reliability_table(found.own, found.probability_of_second(), of=1, bins=10)
        what = f"Probability of {classes[1]} against its share"
    else:
        table_ = reliability_table(found.right.astype(np.intp), np.minimum(found.top, 1.0), of=1, bins=10)
        what = "Probability of the predicted class against the share of right predictions"
    curve = error_reject_curve(found.right.astype(np.intp), np.ones(len(found.own)), certainty=found.top)
    reliability = picture(lambda ax: plot_reliability(table_, ax=ax), "reliability diagram", size=_SQUARE)
    reject = picture(lambda ax: plot_error_reject(curve, ax=ax), "error-reject curve", size=_SQUARE)
    return [
        card(
            _confusion(found.confusion(len(classes)), classes),
            "Confusion matrix",
            "Down: the true class; across: the predicted one.",
        ),
        card(
            reliability,
            "Reliability",
            f"{what}, in ten bins; bars are 95 % intervals. Honest probabilities lie on the diagonal.",
        ),
        card(
            reject, "Error-reject curve", "Errors that are left when the least certain rows are given to somebody else."
        ),
    ]


def _numbers(found: NumberPredictions, picture: Pictures) -> list[str]:
    curve = loss_reject_curve((found.y - found.mean) ** 2, found.std)
    drawn = picture(lambda ax: plot_predictions(found, ax=ax), "observed against predicted numbers", size=_SQUARE)
    covered = picture(lambda ax: plot_coverage(found, ax=ax), "coverage of intervals", size=_SQUARE)
    reject = picture(
        lambda ax: plot_error_reject(curve, ax=ax, loss="mean squared error"), "error-reject curve", size=_SQUARE
    )
    return [
        card(drawn, "Predictions"),
        card(
            covered,
            "Coverage",
            "Share of targets inside central intervals; honest ones stay near the diagonal, 95 % in the band.",
        ),
        card(
            reject,
            "Error-reject curve",
            "What is left when the rows with the widest error bars are given to somebody else.",
        ),
    ]


def _confusion(counts: Rows, classes: list[str]) -> str:
    """The matrix as a table; the darker a cell, the larger its share of the true class."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    head = "".join(f"<th>{escape(name)}</th>" for name in classes)
    lines = [f"<tr><th></th>{head}</tr>"]
    for i, name in enumerate(classes):
        cells = "".join(_cell(int(counts[i, j]), float(share[i, j]), i == j) for j in range(len(classes)))
        lines.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return '<div class="scroll"><table class="confusion">' + "\n".join(lines) + "</table></div>"


def _cell(count: int, share: float, right: bool) -> str:
    if not count:
        return '<td class="soft">0</td>'
    depth = 8.0 + 42.0 * share
    color = f"color-mix(in srgb, var(--{'blue' if right else 'red'}) {depth:.0f}%, transparent)"
    return f'<td style="background:{color}">{count}</td>'
