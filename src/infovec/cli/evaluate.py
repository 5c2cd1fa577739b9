"""``infovec evaluate``."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import click
import numpy as np

from .._types import Array, Floats, Rows
from ..datasets import Block, Source, open_source
from ..datasets.gaps import truth
from ..datasets.sketch import Overlap, Sketched
from ..errors import CellError, DataError
from ..evaluation import ClassPredictions, NumberPredictions, figure_rows, joined, reject_rows
from .model import Model, load_model
from .outputs import check_outputs
from .reporting import check_report, write_report
from .screen import Screen, Tell
from .table import Encoder, stacked
from .tables import as_fitted, reading_of, warn_of_overlap, with_targets
from .words import no_number

__all__ = ["Judged", "encoded_blocks", "figures_text", "judge_table", "own_classes", "run"]

_SAMPLE = 2000  # rows for the learning curve of a report
_FITTED = 0.5  # share of rows that are of the fit, below which a table is hardly that of the fit; some were held back


class Judged(NamedTuple):
    """What was predicted for a table whose targets are known."""

    predictions: ClassPredictions | NumberPredictions
    X: Any  # some of the rows, for the learning curve of a report
    targets: Array  # of these rows
    numbers: Rows  # of all rows in the table, from 1


def run(screen: Screen, model: str, data: str, **options: Any) -> None:
    """Predict for rows whose targets are known, and print the figures."""
    check_report(options["report"])
    train = options["train"]
    if train is not None and not options["report"]:
        raise click.UsageError("--train is for --report: the linear model there learns from these rows")
    check_outputs([options["report"]], [data] if train is None else [data, train], model)
    loaded = load_model(model)
    overlap = None if loaded.sketch is None else Overlap(loaded.sketch)
    with open_source(data, reading_of(options, loaded)) as opened, screen.work("evaluating") as tell, screen.warnings():
        source = with_targets(as_fitted(opened, loaded), options)
        source = source if overlap is None else Sketched(source, overlap)
        judged = judge_table(screen, loaded, source, tell)
    for note in source.notes:
        screen.note(note)
    warn_of_overlap(screen, overlap, data)
    figures = judged.predictions.figures()
    if options["report"]:
        sample = judged.X, judged.targets
        fitted = None if train is None else _rows_of_fit(screen, loaded, train, options)
        write_report(loaded, options["report"], judged.predictions, sample, numbers=judged.numbers, train=fitted)
        screen.note(f"report: {options['report']}")
    seen = {} if overlap is None else {"share_of_training_rows": overlap.share}
    result = {"model": model, "data": data, "task": loaded.table.task, **figures, **seen}
    screen.result(result, figures_text(figures))


def _rows_of_fit(screen: Screen, model: Model, data: str, options: dict[str, Any]) -> tuple[Any, Array]:
    """Return rows that the model was fitted to and their targets: more than a linear model takes, evenly spaced."""
    from ..report import MOST

    parts, targets, step, seen = list[Any](), list[Array](), 1, 0
    overlap = None if model.sketch is None else Overlap(model.sketch)
    with open_source(data, reading_of(options, model)) as opened, screen.work("reading") as tell, screen.warnings():
        source = with_targets(as_fitted(opened, model), options)
        source = source if overlap is None else Sketched(source, overlap)
        for X, block in encoded_blocks(model, source, Encoder(model.table, source.name)):
            some = np.arange(-seen % step, len(block), step)
            parts.append(X[some])
            targets.append(_targets_of(model, block, source.name)[some])
            seen += len(block)
            while sum(map(len, targets)) > 2 * MOST:
                step *= 2
                parts, targets = [stacked(parts)[::2]], [np.concatenate(targets)[::2]]
            tell(f"{seen} rows of the fit", source.share_read())
    if not parts:
        raise DataError(f"{source.name} has no rows")
    if overlap is not None and overlap.share < _FITTED:
        screen.warn(
            f"--train {data}: about {overlap.share:.0%} of its rows are rows that the model was fitted to; the linear "
            "model of the report learns from all of them, those to be predicted too if they are among them"
        )
    return stacked(parts), np.concatenate(targets)


def judge_table(screen: Screen, model: Model, source: Source, tell: Tell) -> Judged:
    """Predict for the rows of a table; raise where it has none."""
    parts, some, numbers, rows = list[Any](), list[Any](), list[Rows](), 0
    judge = _judge_numbers if model.table.task == "regress" else _judge_classes
    encode = Encoder(model.table, source.name)
    for X, block in encoded_blocks(model, source, encode):
        parts.append(judge(model, X, block, source.name))
        if rows < _SAMPLE:
            some.append(X[: _SAMPLE - rows])
        rows += len(block)
        numbers.append(block.rows() + 1)
        tell(f"{rows} rows", source.share_read())
    if not parts:
        raise DataError(f"{source.name} has no rows")
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    predictions = joined(parts)
    X = stacked(some)
    return Judged(predictions, X, _targets(model, predictions)[: X.shape[0]], np.concatenate(numbers))


def encoded_blocks(model: Model, source: Source, encode: Encoder) -> Iterator[tuple[Any, Block]]:
    """Yield the rows of a table as the model takes them, in blocks that know their targets."""
    try:
        for block in source.blocks(model.table.wanted(with_target=True)):
            yield encode(block), block
    except CellError as error:
        raise no_number(error) from error


def _targets(model: Model, predictions: ClassPredictions | NumberPredictions) -> Array:
    if isinstance(predictions, NumberPredictions):
        return predictions.y
    labels: Array = model.estimator.classes_[predictions.own]
    return labels


def _targets_of(model: Model, block: Block, name: str) -> Array:
    """Return the targets of some rows as the model has them."""
    if model.table.task == "regress":
        return _numbers_of(model, block, name)
    labels: Array = model.estimator.classes_[own_classes(model, block, name)]
    return labels


def _judge_classes(model: Model, X: Any, block: Block, name: str) -> ClassPredictions:
    return ClassPredictions.of(model.estimator, X, own_classes(model, block, name))


def own_classes(model: Model, block: Block, name: str) -> Rows:
    """Return the numbers of the classes of some rows."""
    place = {label: k for k, label in enumerate(model.estimator.classes_.tolist())}
    labels = _labels(model, block)
    own = [place.get(label) for label in labels]
    if None in own:
        row = own.index(None)
        if labels[row] is None:
            raise _missing(model, block, row, name)
        raise DataError(
            f"{name}, {block.place(row)}: the target {model.table.target!r} is {labels[row]!r}, none of the classes "
            f"of the model ({', '.join(map(str, list(place)[:8]))})"
        )
    return np.array(own, dtype=np.intp)


def _missing(model: Model, block: Block, row: int, name: str) -> DataError:
    return DataError(
        f"{name}, {block.place(row)}: the target {model.table.target!r} is missing; remove such rows, or say "
        "--skip-missing-target"
    )


def _labels(model: Model, block: Block) -> list[Any]:
    """Targets as the model's labels are: whole numbers or words; None where there is none."""
    if not isinstance(block.target, list):
        values: Array = np.asarray(block.target)
        return [int(v) if np.isfinite(v) and v == int(v) else None for v in values.tolist()]
    if model.estimator.classes_.dtype.kind == "U":
        return list(block.target)
    return [_whole(label) for label in block.target]


def _whole(label: str | None) -> int | str | None:
    if (found := truth(label)) is not None:
        return found
    try:
        return label if label is None or float(label) != int(float(label)) else int(float(label))
    except (ValueError, OverflowError):
        return label


def _judge_numbers(model: Model, X: Any, block: Block, name: str) -> NumberPredictions:
    return NumberPredictions.of(model.estimator, X, _numbers_of(model, block, name))


def _numbers_of(model: Model, block: Block, name: str) -> Floats:
    y = np.asarray(block.target, dtype=np.float64)
    if not np.all(np.isfinite(y)):
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise _missing(model, block, row, name)
    return y


def figures_text(figures: dict[str, Any]) -> str:
    """Return figures for people."""
    lines = [f"{figures['rows']} rows; figures with their standard errors"]
    lines += [f"  {name:23s} {value}" for name, value in figure_rows(figures)]
    lines.append("rejecting the least certain rows:")
    lines += [f"  {share:6.1%} rejected         {name} {value}" for share, name, value in reject_rows(figures)]
    return "\n".join(lines)
