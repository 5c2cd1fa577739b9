"""Sections about the fit: summary, cost, how it went."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..machines.budget import shown_bytes
from ..plots import (
    plot_active_set,
    plot_decision_boundary,
    plot_evidence_history,
    plot_inclusions,
    plot_learning_curve,
    plot_regression,
)
from .contents import Contents
from .page import card, cards, definitions, folded, paragraph, section, table
from .pictures import Pictures

__all__ = ["details", "drawing", "progress", "summary"]


def summary(contents: Contents) -> str:
    """What the model is."""
    model = contents.model
    kept = model.active_ if not isinstance(model.active_, list) else np.unique(np.concatenate(model.active_))
    classes, rows = contents.classes, model.n_samples_fit_
    kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    listed = None if classes is None else ", ".join(classes[:12]) + (" ..." if len(classes) > 12 else "")
    what = [
        ("target", contents.target),
        ("classes", f"{len(classes)}: {listed}" if classes is not None else None),
        ("training rows", rows),
        ("columns", getattr(model, "n_features_in_", None)),
        ("rows kept", f"{len(kept)} ({len(kept) / rows:.1%})"),
        ("inference", None if np.all(model.converged_) else "not converged: the figures may be off"),
        ("seconds", f"{float(model.fit_seconds_):.3g}"),
    ]
    how = [
        ("estimator", type(model).__name__),
        ("approximation", model.approximation),
        ("kernel", "; ".join(map(repr, kernels[:3])) + (f" and {len(kernels) - 3} more" if len(kernels) > 3 else "")),
        ("likelihood", repr(model.likelihood_)),
        *contents.origin.items(),
    ]
    return section("Summary", cards(card(definitions(what)), card(definitions(how))))


def _planned(plan: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Seconds of a plan: all, those of learning, and the others, where it tells them apart."""
    if plan is None:
        return "-", "-", "-"
    seconds, learning = plan["seconds"], plan.get("learning")
    if learning is None:
        return f"{seconds:.3g} s", "-", "-"
    return f"{seconds:.3g} s", f"{learning:.3g} s" if learning else "none", f"{seconds - learning:.3g} s"


def drawing(contents: Contents, picture: Pictures) -> str:
    """The model itself, where it has one or two columns."""
    model, p = contents.model, getattr(contents.model, "n_features_in_", 0)
    if p not in (1, 2) or not model_is_numeric(model) or (p == 1 and contents.classes is not None):
        return ""
    if hasattr(model, "tasks_") or hasattr(model, "table_"):  # a function for each task; categories, columns for gaps
        return ""
    draw = plot_regression if contents.classes is None else plot_decision_boundary
    boxes = [card(picture(lambda ax: draw(model, ax=ax), "the fitted function", size=(5.4, 4.2)), "The function")]
    if p == 2:
        boxes.append(
            card(picture(lambda ax: plot_active_set(model, ax=ax), "active rows", size=(5.4, 4.2)), "Active rows")
        )
    return section("The model", paragraph("In the units the model was fitted in.", soft=True), cards(*boxes))


def model_is_numeric(model: Any) -> bool:
    """Whether the kernel is one of columns of numbers."""
    kernels = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    return all(kernel.numeric for kernel in kernels)


def _evidence(model: Any, of: str, ax: Any) -> Any:
    return plot_evidence_history(model, of, ax=ax)


def progress(contents: Contents, picture: Pictures) -> str:
    """Whether more active rows would help."""
    curve = contents.curve
    if curve is None:
        return ""
    note = (
        "Minus the log probability of the target, when only the first active rows are looked through; "
        "the band is two standard errors. Where it still falls at the end, a larger n_active would help."
    )
    return section(
        "Rows kept",
        cards(card(picture(lambda ax: plot_learning_curve(curve, ax=ax), "learning curve"), "Learning curve", note)),
    )


def details(contents: Contents, picture: Pictures) -> str:
    """Evidence, inclusions and cost, folded away."""
    model, history = contents.model, contents.history
    told = [
        ("log evidence", f"{float(np.sum(model.log_evidence_)):.2f}"),
        ("selection ended", model.stop_reason_),
        ("inference", "converged" if np.all(model.converged_) else "not converged"),
    ]
    note = (
        "The log evidence compares models of the same rows and targets: larger is better. On its own it says nothing."
    )
    boxes = [card(definitions(told), "Evidence", note), _cost(contents)]
    if np.any(np.isfinite(history.get("score", [np.nan]))):
        note = "How informative each row was when it was included."
        boxes.append(
            card(picture(lambda ax: plot_inclusions(model, ax=ax), "scores of inclusions"), "Inclusions", note)
        )
    for name, of, title, note in (
        ("criterion", "learning", "Learning", "Each stage learns from more rows, so that stages differ in level."),
        ("sweep_log_evidence", "sweeps", "Inference", "Sweeps over all rows with the parameters as learned."),
    ):
        if len(history.get(name, ())):
            svg = picture(partial(_evidence, model, of), f"log evidence, {of}")
            boxes.append(card(svg, f"Evidence: {title.lower()}", note))
    return folded("Details of the fit: evidence, inclusions, cost", cards(*boxes))


def _cost(contents: Contents) -> str:
    """What was planned and what it took."""
    plan, total = contents.plan, float(contents.model.fit_seconds_)
    learning = float(contents.history.get("learning_seconds", 0.0))
    whole, part, rest = _planned(plan)
    rows = [
        ("selection and inference", rest, f"{total - learning:.3g} s"),
        ("learning of parameters", part, f"{learning:.3g} s" if learning else "none"),
        ("in all", whole, f"{total:.3g} s"),
    ]
    note = "Nothing was planned: report(path, plan=plan), with plan = model.plan(X, y), or infovec fit --report."
    if plan is not None:
        note = "What learning will take is a rough guess. Memory is planned, not measured."
        rows.append(("memory beyond the inputs", shown_bytes(plan["memory"]), "-"))
    return card(table(["", "planned", "actual"], rows), "Plan and actual cost", note)
