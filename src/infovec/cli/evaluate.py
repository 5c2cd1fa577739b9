"""``infovec evaluate``."""

from typing import Any

import numpy as np

from .._types import Array, Floats
from ..datasets import Block, Reading, open_source
from ..errors import CellError, DataError
from .evaluation import classification_figures, regression_figures
from .model import Model, load_model
from .screen import Screen
from .table import Encoder

__all__ = ["run"]

_NAMES = {
    "error": "error", "log_loss": "log loss", "calibration_error": "calibration error", "mse": "mean squared error",
    "log_density": "mean log density",
}  # fmt: skip


def run(screen: Screen, model: str, data: str, **options: Any) -> None:
    """Predict for rows whose targets are known, and print the figures."""
    loaded = load_model(model)
    parts, rows = list[tuple[Floats, ...]](), 0
    judge = _judge_numbers if loaded.table.task == "regress" else _judge_classes
    reading = Reading(options["delimiter"], options["encoding"], not options["no_header"])
    with open_source(data, reading) as source, screen.work("evaluating") as tell, screen.warnings():
        encode = Encoder(loaded.table, source.name)
        try:
            for block in source.blocks(loaded.table.wanted(with_target=True)):
                parts.append(judge(loaded, encode(block), block, source.name))
                rows += len(block)
                tell(f"{rows} rows", source.share_read())
        except CellError as error:
            raise DataError(f"{error}; the model takes numbers in this column") from error
    if not parts:
        raise DataError(f"{source.name} has no rows")
    if (warning := encode.warning()) is not None:
        screen.warn(warning)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    figures = regression_figures(*columns) if loaded.table.task == "regress" else classification_figures(*columns)
    screen.result({"model": model, "data": data, "task": loaded.table.task, **figures}, _text(figures))


def _judge_classes(model: Model, X: Any, block: Block, name: str) -> tuple[Floats, ...]:
    """Log probability of the true class, largest probability, and whether it is that of the true class."""
    place = {label: k for k, label in enumerate(model.estimator.classes_.tolist())}
    labels = _labels(model, block)
    own = [place.get(label) for label in labels]
    if None in own:
        row = own.index(None)
        raise DataError(
            f"{name}, {block.place(row)}: the target {model.table.target!r} is {labels[row]!r}, none of the classes "
            f"of the model ({', '.join(map(str, list(place)[:8]))})"
        )
    log_p = model.estimator.predict_log_proba(X)
    rows, index = np.arange(len(log_p)), np.array(own, dtype=np.intp)
    return log_p[rows, index], np.exp(log_p.max(axis=1)), log_p.argmax(axis=1) == index


def _labels(model: Model, block: Block) -> list[Any]:
    """Targets as the model's labels are: whole numbers or words; None where there is none."""
    if not isinstance(block.target, list):
        values: Array = np.asarray(block.target)
        return [int(v) if np.isfinite(v) and v == int(v) else None for v in values.tolist()]
    if model.estimator.classes_.dtype.kind == "U":
        return list(block.target)
    return [_whole(label) for label in block.target]


def _whole(label: str | None) -> int | str | None:
    try:
        return label if label is None or float(label) != int(float(label)) else int(float(label))
    except (ValueError, OverflowError):
        return label


def _judge_numbers(model: Model, X: Any, block: Block, name: str) -> tuple[Floats, ...]:
    """Target, predicted mean and standard deviation, and log density of the target."""
    y = np.asarray(block.target, dtype=np.float64)
    if not np.all(np.isfinite(y)):
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"{name}, {block.place(row)}: the target {model.table.target!r} is missing; remove such rows")
    mean, std = model.estimator.predict(X, return_std=True)
    return y, mean, std, model.estimator.log_density(X, y)


def _text(figures: dict[str, Any]) -> str:
    lines = [f"{figures['rows']} rows; figures with their standard errors"]
    for key, name in _NAMES.items():
        if key in figures:
            percent = key == "error"
            lines.append(f"  {name:20s} {_shown(figures[key], percent)}")
    if "variance_of_target" in figures:
        share = (
            figures["mse"]["value"] / figures["variance_of_target"] if figures["variance_of_target"] else float("nan")
        )
        lines.append(f"  {'share not explained':20s} {share:.4g}")
    lines.append("rejecting the least certain rows:")
    for point in figures["error_reject"]:
        key = "error" if "error" in point else "mse"
        lines.append(f"  {point['rejected']:6.1%} rejected      {_NAMES[key]} {_shown(point[key], key == 'error')}")
    return "\n".join(lines)


def _shown(figure: dict[str, float | None], percent: bool) -> str:
    """A figure and its standard error, to two digits of the latter."""
    value, error = figure["value"] or 0.0, figure["standard_error"]
    unit, factor = (" %", 100.0) if percent else ("", 1.0)
    if not error:
        return f"{factor * value:.4g}{unit}" + (" ± ?" if error is None else " ± 0")
    decimals = max(0, 1 - int(np.floor(np.log10(factor * error))))
    return f"{factor * value:.{decimals}f}{unit} ± {factor * error:.{decimals}f}"
