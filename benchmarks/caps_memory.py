"""Whether every form of every estimator keeps to ``max_memory``, or says at once that it cannot."""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from infovec.errors import ParameterError
from infovec.runtime import for_each

from .forms import forms, problem
from .measure import significant, watched

__all__ = ["measured", "summary"]

_MOST = 1.05  # of max_memory, to pass
_WARM = 300  # rows of the fit before the measurement: threads and tables that a process makes once are not the fit's
_PRODUCT = 2000, 500  # shape of a product on every thread before it: linear algebra keeps buffers for each of them


def measured(name: str, rows: int, cap: str, active: int, seconds: float) -> dict[str, Any]:
    """Fit one form in this process; return peak memory over the limit, or why it was refused."""
    form = next(form for form in forms() if form.name == name)
    X, y = problem(form.targets, rows)
    settings = {"max_time": seconds, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # time that is too short for convergence is no matter here
        form.make(n_active=min(active, 50), **settings).fit(*problem(form.targets, _WARM))
        _buffers()
        model = form.make(n_active=active, max_memory=cap, **settings)
        start, clock = time.perf_counter(), time.perf_counter
        time.perf_counter = time.process_time  # a fit has all of its time however busy the machine is
        try:
            cost = watched(lambda: model.fit(X, y))
        except ParameterError as refusal:
            return {"refused": str(refusal), "seconds": clock() - start}
        finally:
            time.perf_counter = clock
        planned = form.make(n_active=active, max_memory=cap, **settings).plan(X, y).memory
    limit = _bytes(cap)
    return {
        "ratio": 2**20 * cost.peak_memory_mb / limit, "peak_mb": 2**20 * cost.peak_memory_mb / 1e6,
        "planned": planned / limit, "seconds": cost.seconds, "n_active": len(model.active_), "stop": model.stop_reason_,
    }  # fmt: skip


def _buffers() -> None:
    """Let linear algebra make the buffers that it has for each thread, and keeps for good, in both precisions."""

    def product(dtype: str) -> None:
        A = np.ones(_PRODUCT, dtype=dtype)
        A.T @ A

    kinds = ["float32", "float64"]
    for_each(product, 4 * (os.cpu_count() or 1) * kinds)
    for kind in kinds:
        product(kind)


def _bytes(cap: str) -> float:
    return float(cap[:-2]) * {"MB": 1e6, "GB": 1e9}[cap[-2:]]


def alone(*arguments: Any) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, "--one", json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"failed": f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst ratio and where it was, and how many were above the limit, refused or failed."""
    kept = [result for result in results if "ratio" in result]
    worst = max(kept, key=lambda result: result["ratio"], default=None)
    return {
        "fits": len(results),
        "worst_ratio": worst and worst["ratio"],
        "worst": worst and [worst[key] for key in ("form", "rows", "cap")],
        "above": [[r["form"], r["rows"], r["cap"], r["ratio"]] for r in kept if r["ratio"] > _MOST],
        "planned_above": sum(result["planned"] > 1.0 for result in kept),
        "refused": sum("refused" in result for result in results),
        "failed": sum("failed" in result for result in results),
    }


def main() -> None:
    """Print a line for each form, number of rows and limit, and a summary; exit with 1 if something is above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", nargs="+", default=[""], help="parts of the names of forms to measure (default all)")
    parser.add_argument("--rows", nargs="+", type=int, default=[100_000, 200_000])
    parser.add_argument("--caps", nargs="+", default=["60MB", "100MB", "300MB", "1GB"])
    parser.add_argument("--active", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20.0, help="max_time: memory is measured, so slow forms end")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(significant(measured(*json.loads(options.one)))))
        return
    results = []
    for form in forms():
        if not any(part in form.name for part in options.forms):
            continue
        for rows in options.rows:
            for cap in options.caps:
                found = alone(form.name, rows, cap, options.active, options.seconds)
                results.append({"form": form.name, "rows": rows, "cap": cap, **found})
                print(json.dumps(results[-1]), flush=True)
    total = summary(results)
    print(json.dumps({"summary": total}))
    sys.exit(bool(total["above"] or total["failed"]))


if __name__ == "__main__":
    main()
