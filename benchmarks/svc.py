"""Error, log loss, training time and memory of infovec against support vector machines."""

import argparse
import json
from typing import Any

from .measure import arguments, medians, run_alone, significant, watched
from .sides import SIDES, build, input_type, missing
from .tasks import FAMILIES, Task, family, load, shrunk

__all__ = ["compare", "fit_once", "main"]


def fit_once(task: Task, side: str) -> dict[str, Any]:
    """Fit one side on one task and return what it cost and how good it is."""
    from sklearn.metrics import log_loss

    X, y, X_test, y_test = load(task, input_type(side))
    model = build(side, task)
    cost = watched(lambda: model.fit(X, y))
    proba = model.predict_proba(X_test) if side in ("infovec", "learned", "calibrated") else None
    wrong = (model.predict(X_test) if proba is None else model.classes_[proba.argmax(axis=1)]) != y_test
    return {
        "error_percent": 100 * float(wrong.mean()),
        "log_loss": None if proba is None else float(log_loss(y_test, proba)),
        "seconds": cost.seconds,
        "peak_memory_mb": cost.peak_memory_mb,
    }


def compare(task: Task, sides: list[str], repeats: int) -> dict[str, Any]:
    """Fit all sides, one after the other and that ``repeats`` times, and return the medians."""
    skipped = {side: reason for side in sides if (reason := missing(side))}
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in sides if side not in skipped}
    for _ in range(repeats):
        for side in results:
            if side not in skipped:
                result = run_alone(fit_once, task, side)
                if "failed" in result:
                    skipped[side] = result["failed"]
                results[side].append(result)
    summary = {side: medians(found) for side, found in results.items() if side not in skipped}
    return {**shape(task), "sides": summary, "ratios": ratios(summary), "skipped": skipped}


def shape(task: Task) -> dict[str, Any]:
    """Return the name of the task and its numbers of training rows, active rows and columns."""
    n, p = load(task)[0].shape
    return {"task": task.name, "n": n, "d": task.n_active, "p": p}


def ratios(summary: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return every number of every other side over that of infovec; above 1, infovec is the better one."""
    own = summary.get("infovec", {})
    return {
        side: {key: value / own[key] for key, value in entry.items() if value is not None and own.get(key)}
        for side, entry in summary.items()
        if own and side != "infovec"
    }


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--tasks", nargs="+", choices=FAMILIES, default=["mnist"], help="data sets (mnist)")
    parser.add_argument("--digits", nargs="+", type=int, choices=range(10), help="digits of mnist (9) and usps (4)")
    parser.add_argument("--size", type=int, choices=[13, 28], default=13, help="pixels per side of mnist images (13)")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES), help="what to compare (all)")
    return parser.parse_args()


def main() -> None:
    """Print a JSON line for every task."""
    chosen = options()
    for name in chosen.tasks:
        for task in family(name, chosen.size, chosen.digits):
            line = compare(shrunk(task) if chosen.quick else task, chosen.sides, chosen.repeats)
            print(json.dumps(significant(line)), flush=True)


if __name__ == "__main__":
    main()
