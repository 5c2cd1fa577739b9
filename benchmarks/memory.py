"""Whether training keeps its memory cap, and what the cap and the ways of looking at rows cost in error and time."""

import json
from dataclasses import replace
from typing import Any

from sklearn.metrics import log_loss

from .measure import arguments, medians, run_alone, significant, watched
from .sides import build
from .tasks import Task, family, load, shrunk

__all__ = ["capped", "main"]

CAPS = ("400MB", "1GB", "2GB")


def capped(task: Task, cap: str, selection: str) -> dict[str, Any]:
    """Fit infovec under a cap; return what was planned and what it took."""
    X, y, X_test, y_test = load(task)
    model = build("infovec", task).set_params(max_memory=cap, selection=selection)
    plan = model.plan(X, y)
    cost = watched(lambda: model.fit(X, y))
    return {
        "error_percent": 100 * float((model.predict(X_test) != y_test).mean()),
        "log_loss": float(log_loss(y_test, model.predict_proba(X_test))),
        "seconds": cost.seconds,
        "planned_seconds": plan.seconds,
        "peak_memory_mb": cost.peak_memory_mb,
        "planned_memory_mb": plan.memory / 2**20,
    }


def main() -> None:
    """Print one JSON line for each cap."""
    options = arguments(__doc__).parse_args()
    task = replace(family("mnist", digits=[9])[0], rows=None, n_active=3000)
    task = shrunk(task) if options.quick else task
    for cap, selection in [*((cap, "all") for cap in CAPS), ("2GB", "shrinking"), ("2GB", "refilled")]:
        found = [run_alone(capped, task, cap, selection) for _ in range(options.repeats)]
        result = {"n_active": task.n_active, "max_memory": cap, "selection": selection, **medians(found)}
        print(json.dumps(significant(result)), flush=True)


if __name__ == "__main__":
    main()
