"""How seconds of a fit grow with rows and with classes: IVMClassifier() beside its peers, all at their defaults.

The problem is scikit-learn's ``make_classification`` with 20 columns, 10 of them informative; all sizes take their rows
from the same draw, and are tested on the same 5000 others. Nothing is tuned: SVC calibrated by cross-validation,
gradient boosting, and 500 Nystroem features of scaled columns with logistic regression are as scikit-learn has them.
GaussianProcessClassifier learns one length scale and a variance of scaled columns, as its own default learns nothing;
SVGP of GPyTorch, 500 inducing inputs and 100 epochs, is for two classes. With ``--against`` the ``src`` folder of
another version takes part, in turn with this one.

Where another program wants the cores, threads that wait for each other can take many times as long: on two busy cores
GaussianProcessClassifier took 43 s for 500 rows, with one thread 0.6 s. So measure with ``--threads 1`` unless the
machine is idle. Threads of OpenMP give way while they wait (``OMP_WAIT_POLICY=passive``, unless it is set).
"""

import argparse
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .defaults import BEFORE, SIDES, import_from, machine, takes_part
from .measure import arguments, medians, run_alone, significant, watched
from .tasks import Task

__all__ = ["compare", "fit_once", "main", "rows_of"]

COLUMNS, INFORMATIVE, TEST_ROWS, POOL = 20, 10, 5000, 100_000
SIZES, CLASSES, ROWS = (100, 500, 2000, 10_000, 50_000, 100_000), (2, 5, 10, 20), 2000


def rows_of(n: int, n_classes: int) -> tuple[Any, Any, Any, Any]:
    """Return training inputs and classes, test inputs and classes; fewer rows are the first of more."""
    from sklearn.datasets import make_classification

    total = TEST_ROWS + max(n, POOL)
    X, y = make_classification(total, COLUMNS, n_informative=INFORMATIVE, n_classes=n_classes, random_state=0)
    train, test = slice(TEST_ROWS, TEST_ROWS + n), slice(TEST_ROWS)
    return X[train].copy(), y[train].copy(), X[test].copy(), y[test].copy()


def fit_once(task: Task, side: str, n_classes: int, source: str | None = None) -> dict[str, Any]:
    """Fit one side to ``task.rows`` rows; return its seconds, those of the CPU, peak memory and test log loss."""
    from sklearn.metrics import log_loss

    if source:
        import_from(source)
    X, y, Z, t = rows_of(task.rows or ROWS, n_classes)
    model, cpu = machine(side, *X.shape), list[float]()  # seconds of the CPU, which other programs change little

    def fit() -> None:
        began = time.process_time()
        model.fit(X, y)
        cpu.append(time.process_time() - began)

    cost = watched(fit)
    loss = float(log_loss(t, model.predict_proba(Z), labels=range(n_classes)))
    return {"seconds": cost.seconds, "cpu_seconds": cpu[0], "log_loss": loss, "peak_memory_mb": cost.peak_memory_mb}


def compare(sides: Iterable[str], n: int, n_classes: int, repeats: int, against: str | None = None) -> dict[str, Any]:
    """Return the medians of every side that takes part, in turns, the order reversed in every other one."""
    task = Task("speed", "", 0, 0, 0.0, 0.0, 0.0, 0.0, rows=n)
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides if takes_part(side, n, n_classes)}
    for turn in range(repeats):
        for side in list(runs)[:: -1 if turn % 2 else 1]:
            runs[side].append(run_alone(fit_once, task, side, n_classes, against if side == BEFORE else None))
    skipped = {side: r["failed"] for side, results in runs.items() for r in results[::-1] if "failed" in r}
    found = {side: medians(results) for side, results in runs.items() if side not in skipped}
    own = found.get("infovec", {}).get("seconds")
    ratios = {side: r["seconds"] / own for side, r in found.items() if side != "infovec"} if own else {}
    how = {"n": n, "classes": n_classes, "repeats": repeats}
    return {**how, "sides": found, "ratio_seconds": ratios, "skipped": skipped}


def _measured(options: argparse.Namespace, rows: int) -> Iterable[dict[str, Any]]:
    """Every problem once, though two classes of ``rows`` rows belong to both curves."""
    sides = [*options.sides, *([BEFORE] if options.against else [])]
    for n, C in dict.fromkeys([(n, 2) for n in options.sizes] + [(rows, C) for C in options.classes]):
        yield significant(compare(sides, n, C, options.repeats, options.against))


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="training rows of two classes")
    parser.add_argument("--classes", nargs="*", type=int, default=list(CLASSES), help=f"of {ROWS} training rows")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--threads", type=int, help="of every side; as many as the libraries take unless given")
    parser.add_argument("--against", metavar="PATH", help='src folder of another version, the side "infovec before"')
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw CPU seconds against rows and classes")
    parser.add_argument("--read", type=Path, metavar="FILE", help="draw lines printed before instead of measuring")
    options = parser.parse_args()
    if options.against:
        options.against = str(Path(options.against).resolve())
        if not (Path(options.against) / "infovec").is_dir():
            parser.error(f"there is no infovec in {options.against}")
    if options.quick:
        options.sizes, options.classes, options.repeats = [60, 120], [2, 3], 1
    return options


def _set_threads(count: int | None) -> None:
    """Say to all processes that are started how many threads they may have; None is up to the libraries."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if count:
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(count)))


def main() -> None:
    """Print one JSON line for each problem, and draw them."""
    options, lines = _options(), list[dict[str, Any]]()
    _set_threads(options.threads)
    rows = 120 if options.quick else ROWS
    if options.read:
        lines = [json.loads(line) for line in options.read.read_text().splitlines()]
    for line in [] if options.read else _measured(options, rows):
        lines.append(line)
        print(json.dumps(line), flush=True)
    if options.figure:
        from .drawing import draw

        draw(options.figure, lines, rows)


if __name__ == "__main__":
    main()
