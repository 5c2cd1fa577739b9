"""``infovec fit``."""

import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click
import numpy as np

from ..datasets import Source, open_sources
from ..datasets.held_back import Learned
from ..errors import DataError, UndecidedError
from ..estimators.limits import memory_limit
from ..likelihoods.ranks import ranked
from ..pac_bayes import Certificate
from ..plain import printable
from ..runtime import Progress, StopReason, give_back
from .build import build, check_pieces
from .certify import check_certifiable, known_to_first
from .evaluate import Judged, figures_text, judge_table
from .gather import Choices, Gathered, gather
from .model import Model, n_active, save_model
from .outputs import check_outputs, check_replaced
from .program import command_with
from .reporting import check_report, write_report
from .room import check_room
from .screen import Screen, Tell
from .tables import Training, reading_of, training, with_columns

__all__ = ["run"]

_ROOM = 0.1  # of the memory, beyond which the table is kept on disk while it is read


def run(screen: Screen, data: tuple[str, ...], output: str, **options: Any) -> None:
    """Read, fit, save and say what came of it."""
    start = time.perf_counter()
    check_report(options["report"])
    check_pieces(options)
    check_certifiable(options)
    check_outputs([output, options["report"]], data)
    check_replaced(output)
    if options["scale"] is not None:
        screen.note("--scale is no longer needed: kernels take the units of columns from the data")
    gathered, table = _read(screen, data, options)
    check_room(output, gathered, options)
    share = options["certify"]
    if share is not None:
        if gathered.target.task == "regress":
            raise click.UsageError("--certify is about the errors of classes; the target holds numbers")
        with screen.warnings():
            gathered = known_to_first(gathered, share, options["seed"])
    model = build(gathered.X, gathered.target, options)
    plan = model.plan(gathered.X, gathered.target.y) if options["report"] else None
    read = time.perf_counter()
    with _interruptible() as begun, screen.warnings():
        with screen.work("fitting") as tell:
            model.set_params(callback=_told(tell, begun))
            certificate = _fitted(model, gathered, share, options["delta"])
        model.set_params(callback=None)
        seconds = {"reading": read - start, "fitting": time.perf_counter() - read}
        origin = _provenance(data, seconds, plan, certificate)
        fitted = Model(
            model, gathered.table, origin, table.forms, table.sketch, options["thousands"], options["missing"],
            options["decimal"],
        )  # fmt: skip
        save_model(fitted, output)
    judged = None if table.learned is None else _judged(screen, fitted, table.learned)
    if options["report"]:
        sample = None if judged is None else (judged.X, judged.targets)
        predictions = None if judged is None else judged.predictions
        numbers = None if judged is None else judged.numbers
        train = gathered.X, gathered.target.y
        write_report(fitted, options["report"], predictions, sample, certificate, numbers, train)
        screen.note(f"report: {options['report']}")
    _say(screen, _summary(model, gathered, output, seconds), certificate, judged)


def _read(screen: Screen, data: tuple[str, ...], options: dict[str, Any]) -> tuple[Gathered, Training]:
    """Read the table, and say what was found in it."""
    with open_sources(data, reading_of(options)) as opened, screen.work("reading") as tell:
        room = _ROOM * memory_limit(options["memory"])
        options = with_columns(opened, options)
        table = training(opened, options)
        source = table.source
        try:
            gathered = gather(source, _choices(source, options), lambda n: tell(f"{n} rows", source.share_read()), room)
        except UndecidedError as error:
            if not error.options:
                raise
            raise DataError(f"{error}. For example: {command_with(error.options)}") from error
    if table.learned is not None:
        table.learned.held_back()  # raises where there is nothing to test with
    give_back()
    dates = [f"column {name!r} holds dates ({form}), taken as days" for name, form in table.forms.items()]
    held = [] if table.learned is None else [f"{table.learned.count} rows held back to test the model"]
    for text in (*source.notes, *dates, *gathered.notes, *held, _found(gathered)):
        screen.note(text)
    return gathered, table


def _provenance(
    data: tuple[str, ...], seconds: dict[str, float], plan: Any, certificate: Certificate | None
) -> dict[str, Any]:
    provenance: dict[str, Any] = {
        "command": shlex.join(["infovec", *sys.argv[1:]]),
        "data": " ".join(data),
        "read_seconds": round(seconds["reading"], 3),
    }
    if plan is not None:
        provenance["plan"] = {"seconds": plan.seconds, "learning": plan.learning, "memory": plan.memory}
    if certificate is not None:
        provenance["certificate"] = certificate.to_dict()
    return provenance


def _judged(screen: Screen, fitted: Model, learned: Learned) -> Judged:
    """Predict for the rows that were held back."""
    with learned.held_back() as source, screen.work("testing") as tell, screen.warnings():
        return judge_table(screen, fitted, source, tell)


def _fitted(model: Any, gathered: Gathered, share: float | None, delta: float) -> Certificate | None:
    """Fit, and certify if some share of the rows is to be learned on."""
    if share is None:
        model.fit(gathered.X, gathered.target.y)
        certificate = None
    else:
        certificate = model.fit_certified(gathered.X, gathered.target.y, split=share, delta=delta)
    if not gathered.table.sparse:
        model.feature_names_in_ = np.array(gathered.table.features, dtype=object)
    return certificate


def _choices(source: Source, options: dict[str, Any]) -> Choices:
    target = options["target"] or source.target
    if target is None:
        names = ", ".join(map(printable, source.columns[:12]))
        raise click.UsageError(f"name the column to predict: --target, one of {names}")
    if options["order"] and options["task"] not in (None, "ordinal"):
        raise click.UsageError("--order is for --task ordinal")
    task = "ordinal" if options["order"] else options["task"]
    return Choices(
        target, task, options["order"], options["categorical"], options["drop"], options["impute"] is not None,
        options["dates"],
    )  # fmt: skip


def _found(gathered: Gathered) -> str:
    target, table = gathered.target, gathered.table
    n, p = gathered.X.shape[0], len(table.features)
    if target.task == "regress":
        what = f"numbers, from {target.y.min():g} to {target.y.max():g}"
    else:
        labels = target.categories or np.unique(target.y).tolist()
        shown = ", ".join(map(printable, labels[:6])) + (" ..." if len(labels) > 6 else "")
        what = f"{len(labels)} {'ordered ' if target.task == 'ordinal' else ''}classes ({shown})"
    return f"{n} rows, {p} columns; target {table.target!r}: {what} (--task, if it is something else)"


def _told(tell: Tell, begun: list[bool]) -> Any:
    """Return a callback that shows progress, and notes that there is something to keep."""

    def callback(progress: Progress) -> bool:
        begun[:] = [True]
        if progress.learning:
            tell(f"learning, {progress.way}, log evidence {progress.log_evidence:.1f}", _share(progress))
        elif progress.log_evidence is not None:
            tell(f"inference, log evidence {progress.log_evidence:.1f}", None)
        else:
            tell(f"{progress.included} of {progress.wanted} rows included", progress.included / progress.wanted)
        return False

    return callback


def _share(progress: Progress) -> float | None:
    """Share of the time of learning that has gone, None where nobody knows how much is left."""
    if progress.seconds_left is None:
        return None
    whole = progress.seconds + progress.seconds_left
    return progress.seconds / whole if whole else None


@contextmanager
def _interruptible() -> Iterator[list[bool]]:
    """Where the estimator does not look out for it itself, Ctrl-C interrupts until the fit has begun.

    After the fit the first one is passed over, since the model is about to be written; the second one interrupts.
    """
    begun: list[bool] = []
    asked: list[bool] = []

    def note(number: int, frame: FrameType | None) -> None:
        if asked or not begun:
            raise KeyboardInterrupt
        asked.append(True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield begun
    finally:
        signal.signal(signal.SIGINT, before)


def _summary(model: Any, gathered: Gathered, output: str, seconds: dict[str, float]) -> dict[str, Any]:
    n, p = gathered.X.shape[0], len(gathered.table.features)  # of the table, not those that say where gaps are
    classes = ranked(model)
    own = gathered.target.task == "classify" and classes is not None and len(classes) > 2
    return {
        "model": output, "task": gathered.target.task, "target": gathered.table.target, "rows": n, "columns": p,
        "classes": None if classes is None else classes.tolist(), "n_active": n_active(model),
        "n_active_per_class": model.n_active if own else None,
        "log_evidence": float(np.sum(model.log_evidence_)), "stop_reason": model.stop_reason_, "seconds": seconds,
    }  # fmt: skip


def _say(screen: Screen, summary: dict[str, Any], certificate: Certificate | None, judged: Judged | None) -> None:
    lines = [] if screen.quiet else [_text(summary)]
    if certificate is not None:
        summary = {**summary, "certificate": certificate.to_dict()}
        lines.append(str(certificate))
    if judged is not None:
        summary = {**summary, "test": judged.predictions.figures()}
        lines.append(f"rows held back: {figures_text(summary['test'])}")
    if screen.as_json or lines:
        screen.result(summary, "\n".join(lines))


def _text(summary: dict[str, Any]) -> str:
    seconds, per_class = summary["seconds"], summary["n_active_per_class"]
    each = (
        "" if per_class is None else f" ({per_class} for each of {len(summary['classes'])} classes, some for several)"
    )
    ended = f"; {summary['stop_reason']}" if summary["stop_reason"] == str(StopReason.TIME) else ""
    return (
        f"{summary['model']}: {summary['n_active']} of {summary['rows']} rows kept{each}, log evidence "
        f"{summary['log_evidence']:.1f}; {seconds['reading']:.1f} s to read, {seconds['fitting']:.1f} s to fit{ended}"
    )
