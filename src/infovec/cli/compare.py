"""``infovec compare``."""

from typing import Any

import numpy as np

from .._types import Floats
from ..datasets import input_files, open_source
from ..datasets.sketch import Overlap, Sketched
from ..errors import DataError
from ..evaluation import ClassPredictions, Predictions, mean_figure, shown
from ..metrics import brier_losses
from .evaluate import judge_table
from .model import Model, load_model
from .screen import Screen
from .tables import as_fitted, reading_of, warn_of_overlap, with_targets

__all__ = ["losses", "run"]

_NAMES = {
    "error": "error", "log_loss": "log loss", "brier": "Brier score", "mse": "mean squared error",
    "mae": "mean absolute error", "negative_log_density": "minus log density",
}  # fmt: skip
_CLEAR = 2.0  # standard errors


def run(screen: Screen, first: str, second: str, data: str, **options: Any) -> None:
    """Predict for the same rows by two models, and print how their losses differ."""
    if any(isinstance(file, int) for file in input_files(data)):
        raise DataError("compare reads its table once for each model, which standard input does not allow: name a file")
    models = [load_model(first), load_model(second)]
    a, b = (model.table for model in models)
    if a.target != b.target or (a.task == "regress") != (b.task == "regress"):  # classes may have an order in one
        raise DataError(
            f"{first} and {second} do not predict the same: {a.target!r} ({a.task}) and {b.target!r} ({b.task})"
        )
    values = [_losses_of(screen, model, data, options) for model in models]
    rows = {len(next(iter(value.values()))) for value in values}
    if len(rows) > 1:
        raise DataError(f"{data} changed while it was read")
    figures = {key: _compared(values[0][key], values[1][key]) for key in values[0]}
    fitted = [int(model.estimator.n_samples_fit_) for model in models]
    known = {"models": [first, second], "data": data, "task": a.task, "fitted_rows": fitted}
    result = {**known, "rows": rows.pop(), **figures}
    screen.result(result, _text(result, figures))


def _losses_of(screen: Screen, model: Model, data: str, options: dict[str, Any]) -> dict[str, Floats]:
    overlap = None if model.sketch is None else Overlap(model.sketch)
    with open_source(data, reading_of(options, model)) as opened, screen.work("comparing") as tell, screen.warnings():
        source = with_targets(as_fitted(opened, model), options)
        source = source if overlap is None else Sketched(source, overlap)
        judged = judge_table(screen, model, source, tell)
    warn_of_overlap(screen, overlap, data)
    return losses(judged.predictions)


@np.errstate(over="ignore")
def losses(predictions: Predictions) -> dict[str, Floats]:
    """Return what every row costs, the less the better."""
    if isinstance(predictions, ClassPredictions):
        return {
            "error": (~predictions.right).astype(np.float64),
            "log_loss": -predictions.log_own,
            "brier": brier_losses(predictions.own, np.exp(predictions.log_proba)),
        }
    off = predictions.y - predictions.mean
    return {"mse": off**2, "mae": np.abs(off), "negative_log_density": -predictions.log_density}


def _compared(a: Floats, b: Floats) -> dict[str, Any]:
    """Return both means, and that of the differences, which are of the same rows, each with its standard error."""
    found = {"first": mean_figure(a), "second": mean_figure(b), "difference": mean_figure(a - b)}
    return {
        name: {
            "value": figure.value if np.isfinite(figure.value) else None,
            "standard_error": figure.standard_error if np.isfinite(figure.standard_error) else None,
        }
        for name, figure in found.items()
    }


def _text(result: dict[str, Any], figures: dict[str, Any]) -> str:
    first, second = result["models"]
    n, m = result["fitted_rows"]
    unequal = f"the first was fitted to {n} rows, the second to {m}, which is part of the difference"
    lines = [
        *([unequal] if n != m else []),
        f"{result['rows']} rows; first: {first}, second: {second}; the less the better, with standard errors",
        f"  {'':20s} {'first':>20s} {'second':>20s} {'first - second':>22s}",
    ]
    for key, figure in figures.items():
        said = [shown(figure[name], key == "error") for name in ("first", "second", "difference")]
        lines.append(f"  {_NAMES[key]:20s} {said[0]:>20s} {said[1]:>20s} {said[2]:>22s}  {_verdict(figure)}".rstrip())
    return "\n".join(lines)


def _verdict(figure: dict[str, Any]) -> str:
    value, error = figure["difference"]["value"], figure["difference"]["standard_error"]
    if value is None or error is None or abs(value) <= _CLEAR * error or not value:
        return "no clear difference"
    return f"{'second' if value > 0.0 else 'first'} is better"
