"""Whether every form of every estimator keeps to ``max_time``, on a clock that other programs do not move."""

import argparse
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from .measure import significant

__all__ = ["allowed", "fit_once", "main", "summary"]

_SHARE, _MORE = 1.1, 0.5  # of max_time, and seconds beyond it, that a fit may take
_ROWS, _SECONDS, _CLASSES = (8000, 30_000, 200_000), (2.0, 5.0), (5, 10)
_COUPLED = "many-"  # how the names of forms begin for which the number of classes matters most
_TESTED = 500  # rows that the model is asked about
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def allowed(max_time: float) -> float:
    """Seconds that a fit may take under a limit."""
    return _SHARE * max_time + _MORE


def fit_once(name: str, n: int, max_time: float, n_classes: int, n_active: int = 500) -> dict[str, Any]:
    """Fit a form under a limit; return the CPU seconds it took, why it ended, and what predictions are worth.

    The clock of the fit is that of its process, so that it has all of its time however busy the machine is.

    Parameters
    ----------
    name : str
        Of the form.
    n : int
        Training rows.
    max_time : float
        Seconds.
    n_classes, n_active : int
    """
    import numpy as np

    from .forms import forms, problem

    form = next(form for form in forms() if form.name == name)
    X, y = problem(form.targets, n + _TESTED, n_classes=n_classes)
    model = form.make(n_active=n_active, max_time=max_time, n_jobs=1, random_state=0)
    start, clock = time.process_time(), time.perf_counter
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        time.perf_counter = time.process_time  # on a machine left alone they are the same
        try:
            model.fit(X[:n], y[:n])
        finally:
            time.perf_counter = clock
    seconds = time.process_time() - start
    test, target = X[n:], y[n:]
    told_of = model.predict_proba(test) if hasattr(model, "predict_proba") else model.predict(test)
    least = np.mean((target - np.mean(y[:n])) ** 2) if form.targets in ("real", "counts") else 1.0
    if form.targets in ("real", "counts"):  # share of the variance that is explained
        quality = 1.0 - float(np.mean((model.predict(test) - target) ** 2) / least)
    else:  # by how much the share of right answers exceeds that of the most frequent class
        quality = float(np.mean(model.predict(test) == target) - np.max(np.bincount(target)) / len(target))
    return {
        "cpu_seconds": seconds, "allowed": allowed(max_time), "active": len(model.active_),
        "stop_reason": model.stop_reason_, "finite": bool(np.all(np.isfinite(told_of))), "quality": quality,
        "warnings": [f"{w.category.__name__}: {w.message}"[:200] for w in told],
    }  # fmt: skip


def summary(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst excess over what is allowed, and the fits above it, or that failed.

    Parameters
    ----------
    lines : sequence of dict
        One for each fit, as they are printed.
    """
    done = [line for line in lines if "failed" not in line]
    over = {line["fit"]: line["cpu_seconds"] for line in done if line["cpu_seconds"] > line["allowed"]}
    bad = [line["fit"] for line in lines if "failed" in line or not line["finite"]]
    excess = max((line["cpu_seconds"] - line["allowed"] for line in done), default=0.0)
    return {"fits": len(lines), "worst_excess": excess, "above": over, "unusable": bad}


def _tasks(options: argparse.Namespace) -> Iterator[tuple[str, int, float, int]]:
    from .forms import forms

    for n in options.rows:
        for form in forms():
            if not any(part in form.name for part in options.forms):
                continue
            for C in options.classes if form.name.startswith(_COUPLED) else options.classes[:1]:
                for max_time in options.seconds:
                    yield form.name, n, max_time, C


def main() -> int:
    """Print one JSON line for each fit and a summary; return 1 if a fit took too long, failed or told nonsense."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", nargs="+", default=[""], help="parts of names of forms; any of them is enough")
    parser.add_argument("--rows", type=int, nargs="+", default=_ROWS, help="training rows")
    parser.add_argument("--seconds", type=float, nargs="+", default=_SECONDS, help="max_time")
    parser.add_argument("--classes", type=int, nargs="+", default=_CLASSES, help="the first also for ordered classes")
    parser.add_argument("--active", type=int, default=500, help="active rows asked for")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # before linear algebra starts in the processes below
    lines = []
    # A process for each fit: what one of them leaves in memory, such as tables, would save another one time.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, n, max_time, C in _tasks(options):
            line = {"fit": f"{name}, {n} rows, {C} classes, {max_time:g} s"}
            try:
                line |= pool.submit(fit_once, name, n, max_time, C, options.active).result()
            except Exception as error:
                line["failed"] = f"{type(error).__name__}: {error}"
            lines.append(line)
            print(json.dumps(significant(line)), flush=True)
    found = summary(lines)
    print(json.dumps(significant({"summary": found})), flush=True)
    return 1 if found["above"] or found["unusable"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
