"""Training time of infovec against that of one matrix product with as many operations, and how it grows.

Training with d active ones of n rows and p columns takes n d^2 operations for the posterior and 2 n d p for the
kernel, a multiplication and an addition counted as two. A product of (d, k) and (k, n) takes 2 d k n: as many
with k = d / 2 + p.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from .measure import arguments, run_alone, significant, watched
from .sides import build
from .tasks import Task, family, load, shrunk

__all__ = ["fit_once", "growth", "limit", "main", "product_once"]

GROWTH_ROWS = (5000, 10000, 20000, 40000, 60000)
GROWTH_ACTIVE = (250, 500, 1000, 2000)


def fit_once(task: Task, selection: str) -> dict[str, Any]:
    """Return the seconds of one fit, and the number of columns."""
    X, y, _, _ = load(task)
    model = build("infovec", task).set_params(selection=selection)
    return {"seconds": watched(lambda: model.fit(X, y)).seconds, "p": X.shape[1]}


def product_once(task: Task, p: int) -> dict[str, Any]:
    """Return the seconds of one float32 product with as many operations as the fit, and their number."""
    n, d = task.rows or 0, task.n_active
    k = d // 2 + p
    random = np.random.default_rng(0)
    A, B = random.random((d, k), dtype=np.float32), random.random((k, n), dtype=np.float32)
    out = np.zeros((d, n), dtype=np.float32)  # its pages are touched by the first product, which is not timed
    np.matmul(A, B, out=out)
    return {"seconds": watched(lambda: np.matmul(A, B, out=out)).seconds, "operations": 2 * d * k * n}


def limit(task: Task, repeats: int, selection: str) -> dict[str, Any]:
    """Return the seconds of fit and product, taken in turn, and their ratio."""
    fits, products = [], []
    for _ in range(repeats):
        fits.append(_checked(run_alone(fit_once, task, selection)))
        products.append(_checked(run_alone(product_once, task, fits[0]["p"])))
    fit, product = _seconds(fits), _seconds(products)
    gflop = products[0]["operations"] / 1e9
    return {
        "measure": "limit", "selection": selection,
        "task": task.name, "n": task.rows, "d": task.n_active, "p": fits[0]["p"],
        "gflop": gflop, "fit_seconds": fit, "product_seconds": product,
        "product_gflop_per_second": gflop / product, "ratio": fit / product,
    }  # fmt: skip


def growth(tasks: Sequence[Task], against: str, sizes: Sequence[int], repeats: int, selection: str) -> dict[str, Any]:
    """Return the seconds of fits of growing size and the slope of their logarithm against that of the size."""
    rounds = [[_checked(run_alone(fit_once, task, selection)) for task in tasks] for _ in range(repeats)]
    seconds = [_seconds(fits) for fits in zip(*rounds, strict=True)]
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    fixed = {"d": tasks[0].n_active} if against == "n" else {"n": tasks[0].rows}
    return {
        "measure": f"growth with {against}",
        "selection": selection,
        **fixed,
        against: list(sizes),
        "seconds": seconds,
        "slope": slope,
    }


def _checked(result: dict[str, Any]) -> dict[str, Any]:
    if "failed" in result:
        raise SystemExit(f"The measured process failed: {result['failed']}")
    return result


def _seconds(results: Sequence[dict[str, Any]]) -> float:
    return median(result["seconds"] for result in results)


def main() -> None:
    """Print a JSON line for the limit, one for the growth with n and one for that with d."""
    parser = arguments(__doc__)
    parser.add_argument("--selection", default="auto", help='which rows are considered: "auto" shrinks, "all" does not')
    chosen = parser.parse_args()
    (task,) = family("mnist")
    if chosen.quick:
        task, scale = shrunk(task), 20
    else:
        scale = 1
    rows, active = [n // scale for n in GROWTH_ROWS], [d // scale for d in GROWTH_ACTIVE]
    by_rows = [replace(task, rows=n, n_active=500 // scale) for n in rows]
    by_active = [replace(task, rows=20000 // scale, n_active=d) for d in active]
    print(json.dumps(significant(limit(task, chosen.repeats, chosen.selection))), flush=True)
    print(json.dumps(significant(growth(by_rows, "n", rows, chosen.repeats, chosen.selection))), flush=True)
    print(json.dumps(significant(growth(by_active, "d", active, chosen.repeats, chosen.selection))), flush=True)


if __name__ == "__main__":
    main()
