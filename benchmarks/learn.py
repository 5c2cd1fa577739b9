"""Seconds until a test loss is reached, everything learned: infovec, GPyTorch, and a grid search of SVC.

``usps``: USPS, one digit against the rest (4), log loss. GPyTorch's SVGP is watched on the test rows while it trains;
``SVC`` is tuned by cross-validation over the grid of ``benchmarks.table`` and calibrated, which is one point.
``pumadyn``: pumadyn-32nm with a length scale for each input, minus the mean log density of the standardised target, and
the mean square error. GPyTorch's SGPR, as infovec on both tasks, is fitted anew with every budget of seconds, which is
what somebody in a hurry would do: a point is a whole fit, from the data to a model that predicts.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from .contest.classes import fit_of
from .measure import arguments, run_alone, significant, watched
from .peers import missing
from .tasks import Task, arrays, family, load, shrunk

__all__ = ["classify", "first_at_most", "main", "regress", "sooner"]

TASKS = ("usps", "pumadyn")
BUDGETS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, None)  # of infovec; None is its default, as long as it takes
SHARES = (0.05, 0.1, 0.3, 1.0)  # of the seconds of SGPR
INDUCING = 500
Point = dict[str, Any]


def classify(task: Task, side: str, seconds: float | None) -> dict[str, Any]:
    """Fit one side, infovec within some seconds; return the points of its curve."""
    from sklearn.metrics import log_loss

    X, y, Z, t = load(task, "float64" if side == "svc" else "float32")
    if side == "svgp":
        from .peers import SVGPClassifier, warm_up

        warm_up()
        model = SVGPClassifier(n_inducing=task.n_active, seconds=seconds, every=(seconds or 100.0) / 30.0)
        model.fit(X, y, Z, t)
        return {"points": [{"seconds": at, "loss": loss} for at, loss in model.history_]}
    if side == "svc":
        fit = fit_of("svc", *X.shape)
    else:
        from infovec import IVMClassifier

        fit = IVMClassifier(n_active=task.n_active, max_time=seconds, random_state=0).fit
    fitted = list[Any]()
    cost = watched(lambda: fitted.append(fit(X, y)))
    proba = fitted[0].predict_proba(Z)
    error = 100.0 * float(np.mean(proba.argmax(axis=1) != t))
    return {"points": [{"seconds": cost.seconds, "loss": float(log_loss(t, proba)), "error_percent": error}]}


def regress(task: Task, side: str, seconds: float | None) -> dict[str, Any]:
    """The same for pumadyn, with a length scale for each input."""
    data = arrays(task.file)
    X, y, Z, t = (data[key].astype(np.float64)[: task.rows] for key in ("X_train", "y_train", "X_test", "y_test"))
    y, t = ((v - y.mean()) / y.std() for v in (y, t))
    if side == "sgpr":
        from .peers import SGPRRegressor, warm_up

        warm_up()
        model: Any = SGPRRegressor(n_inducing=task.n_active, iterations=10**6, seconds=seconds)
    else:
        from infovec import IVMRegressor
        from infovec.kernels import RBF

        p = X.shape[1]
        kernel = RBF(np.full(p, np.sqrt(p)), 1.0)
        model = IVMRegressor(kernel=kernel, n_active=task.n_active, max_time=seconds, random_state=0)
    cost = watched(lambda: model.fit(X, y))
    mean, std = model.predict(Z, return_std=True)
    loss = 0.5 * float(np.mean(((t - mean) / std) ** 2 + np.log(2.0 * np.pi * std**2)))
    return {"points": [{"seconds": cost.seconds, "loss": loss, "mse": float(np.mean((t - mean) ** 2))}]}


def first_at_most(points: list[Point], loss: float) -> float | None:
    """Return the fewest seconds after which the loss was no more than this, or None."""
    return min((point["seconds"] for point in points if point["loss"] <= loss), default=None)


def sooner(curves: dict[str, list[Point]]) -> dict[str, Any]:
    """For each peer: the loss of its last point, the seconds to it, those of infovec to the same loss, their ratio."""
    found = {}
    for side, points in curves.items():
        if side != "infovec" and points and curves.get("infovec"):
            end = points[-1]
            own = first_at_most(curves["infovec"], end["loss"])
            found[side] = {
                "loss": end["loss"], "seconds": end["seconds"], "infovec_seconds": own,
                "ratio": None if own is None else end["seconds"] / own,
            }  # fmt: skip
    return found


def curve(work: Any, task: Task, side: str, budgets: tuple[float | None, ...]) -> tuple[list[Point], str | None]:
    """Return the points of all budgets, each in a process of its own, and what failed if anything did."""
    results = [run_alone(work, task, side, seconds) for seconds in budgets]
    points = [point for result in results for point in result.get("points", [])]
    return points, next((result["failed"] for result in results if "failed" in result), None)


def compare(name: str, seconds: float, quick: bool) -> dict[str, Any]:
    """Measure all sides on one task."""
    own = (0.5, None) if quick else BUDGETS
    shares = SHARES[-1:] if quick else SHARES
    if name == "usps":
        (task,) = family("usps")
        work, plan = classify, {"infovec": own, "svc": (None,), "svgp": (seconds,)}
    else:
        task = Task(name, "pumadyn32nm", 0, INDUCING, 0.0, 0.0, 0.0, 0.0)
        work, plan = regress, {"infovec": own, "sgpr": tuple(share * seconds for share in shares)}
    task = shrunk(task) if quick else replace(task, n_active=INDUCING)
    curves, skipped = dict[str, list[Point]](), dict[str, str]()
    for side, budgets in plan.items():
        reason = missing() if side in ("svgp", "sgpr") else None
        if not reason:
            curves[side], reason = curve(work, task, side, budgets)
        if reason:
            skipped[side] = reason
    return {"task": task.name, "d": task.n_active, "curves": curves, "sooner": sooner(curves), "skipped": skipped}


def main() -> None:
    """Print a JSON line for each task, as often as asked for."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=1)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seconds", type=float, help="training time of GPyTorch (150; 3 with --quick)")
    options = parser.parse_args()
    for name in options.tasks:
        for _ in range(options.repeats):
            line = compare(name, options.seconds or (3.0 if options.quick else 150.0), options.quick)
            print(json.dumps(significant(line)), flush=True)


if __name__ == "__main__":
    main()
