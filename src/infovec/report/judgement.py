"""The section about test rows: figures, confusion matrix, reliability, rejection."""

from typing import Any

import numpy as np

from .._types import Array, Floats
from ..evaluation import (
    ClassPredictions,
    NumberPredictions,
    Predictions,
    explained_figure,
    figure_rows,
    loss_reject_curve,
    mean_figure,
    reject_rows,
    share_figure,
    shown,
)
from ..metrics import error_reject_curve, reliability_table
from ..pac_bayes import binomial_upper
from ..plots import plot_coverage, plot_error_reject, plot_predictions, plot_reliability
from .baselines import OTHERS, Baseline, fold_rows, losses
from .confusion import confusion
from .contents import Contents
from .page import card, cards, paragraph, section, table
from .pictures import Pictures

__all__ = ["judgement"]

_SQUARE = (4.1, 4.0)


def judgement(contents: Contents, picture: Pictures) -> str:
    """How good predictions for test rows are."""
    found = contents.predictions
    if found is None:
        said = (
            "None were given: nothing here says how well the model predicts." if contents.certificate is None else
            "None were given but those of the certificate below, which says what they guarantee of the error."
        )  # fmt: skip
        return section("Test rows", paragraph(said, True))
    figures = found.figures()
    title = f"Test rows: {figures['rows']}"
    table_of_figures = table(["", "value ± standard error"], figure_rows(figures))
    more = _classes(contents, found, picture) if isinstance(found, ClassPredictions) else _numbers(found, picture)
    return section(
        title, *_comparison(contents, found),
        cards(card(table_of_figures, "Figures", _unknown(figures)), *_rejects(found, figures), *more),
    )  # fmt: skip


def _unknown(figures: dict[str, Any]) -> str:
    """Say why a figure stands without its error."""
    alone = (one for one in figures.values() if isinstance(one, dict) and one.get("standard_error", 0) is None)
    return "± ? where these rows do not tell: all of them agree." if any(True for _ in alone) else ""


def _rejects(found: Predictions, figures: dict[str, Any]) -> list[str]:
    """Errors among the rows that are kept; of no errors how many there may be among others."""
    classes = isinstance(found, ClassPredictions)
    if classes and figures["error"]["value"] == 0.0:
        n = figures["rows"]
        said = (
            f"None of the {n} rows is predicted wrong, so that nothing would be gained by rejecting some. With a "
            f"confidence of 95 % the error on rows like these is below {binomial_upper(0, n, np.log(0.05)):.2%}."
        )
        return [card(paragraph(said), "No errors")]
    rejected = [(f"{share:.1%}", value) for share, _, value in reject_rows(figures)]
    name = "errors" if classes else "root mean squared error"
    inside = table(["rows rejected", f"{name} among the others"], rejected)
    return [card(inside, "Rejecting the least certain rows")]


def _comparison(contents: Contents, found: Predictions) -> list[str]:
    """Return the model beside simpler ones, on the same rows, and whether it is better."""
    others = contents.baselines
    if not others:
        return []
    n, classes = len(others[0].loss), isinstance(found, ClassPredictions)
    own = losses(found, n)
    rows, verdicts = list[tuple[str, ...]](), list[str]()
    for one in (own, *others):
        behind = mean_figure(one.loss - own.loss)
        rows.append(
            (one.name, _mean(one.loss), *_second(found, one, n), "" if one is own else _mean(one.loss - own.loss))
        )
        if one is not own and not behind.value > 2.0 * behind.standard_error:
            learned = f", which was fitted to {contents.fitted_to}" if one is others[0] and len(others) > 1 else ""
            verdicts.append(f"On these rows this model is not clearly better than {one.name}{learned}.")
    loss, second = ("log loss", "error") if classes else ("mean squared error", "R²")
    where = "" if n == len(own_targets(found)) else f" on the first {n} rows"
    note = "The constant is the best one for these rows. " + (
        f"The linear model was fitted to {contents.fitted_to}." if len(others) > 1 else ""
    )
    head = ["", loss, second, f"{loss} behind this model"]
    if len(others) > 1:
        verdicts[:0] = _disadvantage(contents, n)
    return [*map(paragraph, verdicts), card(table(head, rows), f"Beside simpler models{where}", note)]


def _disadvantage(contents: Contents, n: int) -> list[str]:
    """Say that a linear model had fewer rows to learn from than this model, where it had test rows only."""
    had, fitted = fold_rows(n), int(contents.model.n_samples_fit_)
    if contents.fitted_to != OTHERS or had >= fitted:
        return []
    return [
        f"The linear model beside it is at a disadvantage: it has learned from {had} other test rows at a time, where "
        f"this model has learned from {fitted}. To compare the two fairly give the rows of the fit, by --train of "
        "infovec evaluate, or as X_train and y_train."
    ]


def _mean(values: Floats) -> str:
    return shown(mean_figure(values)._asdict())


def _second(found: Predictions, one: Baseline, n: int) -> tuple[str]:
    """The second figure of a model: its error, or its R²."""
    if isinstance(found, ClassPredictions):
        return (shown(share_figure(int(np.sum(one.wrong)), n)._asdict(), percent=True),)
    y = found.y[:n]
    return (shown(explained_figure(y, one.loss)._asdict()) if np.var(y) > 0.0 else "-",)


def own_targets(found: Predictions) -> Array:
    """Return the targets of the rows."""
    return found.own if isinstance(found, ClassPredictions) else found.y


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
    drawn = [
        card(
            confusion(found.confusion(len(classes)), classes),
            "Confusion matrix",
            "Down: the true class; across: the predicted one.",
        ),
        card(
            reliability,
            "Reliability",
            f"{what}, in ten bins; bars are 95 % intervals. Honest probabilities lie on the diagonal.",
        ),
    ]
    if not found.right.all():
        reject = picture(lambda ax: plot_error_reject(curve, ax=ax), "error-reject curve", size=_SQUARE)
        note = "Errors that are left when the least certain rows are given to somebody else."
        drawn.append(card(reject, "Error-reject curve", note))
    return drawn


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
