"""Prediction time of infovec, of means and of probabilities, against that of support vector machines."""

import json
from collections.abc import Callable
from statistics import median
from typing import Any

from .measure import arguments, run_alone, significant, watched
from .sides import build, input_type, missing
from .svc import shape
from .tasks import Task, family, load, shrunk

__all__ = ["compare", "main", "predict_often"]

SIDES = ("infovec", "svc", "svc-intelex")


def predict_often(task: Task, side: str, repeats: int) -> dict[str, Any]:
    """Fit one side and return the median seconds of each of its kinds of prediction for the test rows."""
    X, y, X_test, _ = load(task, input_type(side))
    model = build(side, task).fit(X, y)
    kept = len(model.active_ if side == "infovec" else model.support_)
    timings = {name: _median_seconds(lambda call=call: call(X_test), repeats) for name, call in _calls(model, side)}
    return {"rows": len(X_test), "vectors": kept, "seconds": timings}


def _calls(model: Any, side: str) -> list[tuple[str, Callable[[Any], Any]]]:
    if side != "infovec":
        return [(side, model.predict)]
    means = ("infovec mean", lambda X: model.predict_latent(X, return_std=False))
    return [means, ("infovec probabilities", model.predict_proba)]


def _median_seconds(work: Callable[[], Any], repeats: int) -> float:
    work()  # the first time is a warm-up
    return median(watched(work).seconds for _ in range(repeats))


def compare(task: Task, repeats: int) -> dict[str, Any]:
    """Return the seconds of every kind of prediction, and the ratios of the machines to infovec."""
    results: dict[str, dict[str, Any]] = {}
    skipped: dict[str, str] = {}
    for side in SIDES:
        result = {"failed": reason} if (reason := missing(side)) else run_alone(predict_often, task, side, repeats)
        if "failed" in result:
            skipped[side] = result["failed"]
        else:
            results[side] = result
    seconds = {name: value for result in results.values() for name, value in result["seconds"].items()}
    return {
        **shape(task),
        "rows": next((result["rows"] for result in results.values()), None),
        "vectors": {side: result["vectors"] for side, result in results.items()},
        "seconds": seconds,
        "ratios": ratios(seconds),
        "skipped": skipped,
    }


def ratios(seconds: dict[str, float]) -> dict[str, float]:
    """Return the seconds of every other machine over those of infovec; above 1, infovec is faster."""
    own = [name for name in seconds if name.startswith("infovec")]
    others = [name for name in seconds if name not in own]
    return {f"{other} / {name}": seconds[other] / seconds[name] for other in others for name in own}


def main() -> None:
    """Print a JSON line for digit 9 of MNIST against the rest, images of 13 by 13 pixels."""
    chosen = arguments(__doc__).parse_args()
    (task,) = family("mnist")
    line = compare(shrunk(task) if chosen.quick else task, chosen.repeats)
    print(json.dumps(significant(line)), flush=True)


if __name__ == "__main__":
    main()
