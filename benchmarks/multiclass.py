"""More than two classes: every form of infovec against its peers, in error, log loss, seconds and memory.

Data sets with an official split are tested on it; of the others a random part is held out (half of digits, three tenths
of the rest), the same for all sides; ``--splits`` draws it several times and the medians count. Inputs are
standardised, but for images. infovec has its defaults, and learning counts. Of the peers only the final fit is timed:
kernel width and regularisation come from a grid of 4 by 3, tried on 3000 training rows with a third held out.
With ``--results`` every single result is also appended to a file, and those that are there are not measured again.
With ``--scaling`` it measures how seconds grow with the number of classes, on rows of letter.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from .measure import arguments, run_alone, significant, watched
from .tasks import Task, arrays

__all__ = ["SETS", "fit_once", "main"]

FORMS = ("ovr", "factorised", "probit", "softmax", "variational")  # the second one: "ovr" with that posterior
SIDES = (*FORMS, "nystroem", "calibrated", "boosting")
COUNTS = (2, 4, 8, 13, 26)


@dataclass(frozen=True)
class Set:
    """A data set: rows to hold out where it has no split of its own, and whether its columns are pixels."""

    name: str
    held_out: float | None = None
    pixels: bool = False


SETS = {
    s.name: s
    for s in (
        Set("digits", 0.5, pixels=True), Set("glass", 0.3), Set("vowel"), Set("segment", 0.3), Set("optdigits"),
        Set("satimage"), Set("usps", pixels=True), Set("isolet"), Set("letter", 0.3), Set("mnist", pixels=True),
    )
}  # fmt: skip


def rows_of(name: str, split: int, most: int | None) -> tuple[Any, Any, Any, Any]:
    """Return training inputs and labels, test inputs and labels; at most so many rows to train on."""
    chosen = SETS[name]
    if name == "digits":
        from sklearn.datasets import load_digits

        data = dict(zip(("X", "y"), load_digits(return_X_y=True), strict=True))
    else:
        data = arrays(name)
    order = np.random.default_rng(split)
    if "X_train" in data:
        X, y, Z, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    else:
        rows = order.permutation(len(data["y"]))
        k = round((1.0 - (chosen.held_out or 0.3)) * len(rows))
        X, y, Z, t = data["X"][rows[:k]], data["y"][rows[:k]], data["X"][rows[k:]], data["y"][rows[k:]]
    if most and most < len(y):
        rows = order.permutation(len(y))[:most]
        X, y = X[rows], y[rows]
    X, Z = X.astype(np.float64), Z.astype(np.float64)
    if not chosen.pixels:
        mean, std = X.mean(axis=0), X.std(axis=0)
        X, Z = ((V - mean) / np.where(std > 0, std, 1.0) for V in (X, Z))
    return X.astype(np.float32), y, Z.astype(np.float32), t


def _peer(side: str, d: int, gamma: float, strength: float) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    from .peers import nystroem_logistic

    if side == "calibrated":
        return CalibratedClassifierCV(SVC(C=strength, gamma=gamma, cache_size=2000), ensemble=False)
    return nystroem_logistic(d, gamma, strength)


def _tuned(side: str, d: int, X: Any, y: Any) -> Any:
    """Return the peer with the best of 4 widths and 3 strengths on a part of the rows."""
    rows = np.random.default_rng(1).permutation(len(y))[:3000]
    fit, check = rows[: 2 * len(rows) // 3], rows[2 * len(rows) // 3 :]
    unit, tried = 1.0 / (2.0 * float(np.sum(X.var(axis=0)))), []
    for gamma in (0.3 * unit, unit, 3.0 * unit, 10.0 * unit):
        for strength in (1.0, 10.0, 100.0):
            try:
                model = _peer(side, min(d, len(fit) // 2), gamma, strength).fit(X[fit], y[fit])
            except ValueError:  # a class with too few rows to calibrate on
                continue
            tried.append((_scores(model, X[check], y[check])["loss"], gamma, strength))
    return _peer(side, min(d, len(y)), *(min(tried)[1:] if tried else (unit, 10.0)))


def _scores(model: Any, Z: Any, t: Any) -> dict[str, float]:
    """Error in percent, log loss in nats."""
    log_proba = np.log(np.clip(model.predict_proba(Z), 1e-15, 1.0))
    column = np.searchsorted(model.classes_, t).clip(0, len(model.classes_) - 1)
    known = model.classes_[column] == t
    chosen = np.where(known, log_proba[np.arange(len(t)), column], np.log(1e-15))
    wrong = model.classes_[log_proba.argmax(axis=1)] != t
    return {"error": 100.0 * float(wrong.mean()), "loss": -float(chosen.mean())}


def _form(side: str) -> dict[str, str]:
    return {"approximation": "factorised"} if side == "factorised" else {"multi_class": side}


def _model(side: str, d: int, X: Any, y: Any) -> Any:
    if side in FORMS:
        from infovec import IVMClassifier

        return IVMClassifier(**_form(side), n_active=d, random_state=0)
    if side == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0)
    return _tuned(side, d, X, y)


def fit_once(task: Task, side: str, split: int) -> dict[str, Any]:
    """Fit one side on one split of a data set and return what it cost and how good it is."""
    X, y, Z, t = rows_of(task.name, split, task.rows)
    model = _model(side, task.n_active, X, y)
    cost = watched(lambda: model.fit(X, y))
    return {**_scores(model, Z, t), "seconds": cost.seconds, "peak_memory_mb": cost.peak_memory_mb}


def fit_some(task: Task, side: str, n_classes: int) -> dict[str, Any]:
    """Fit one side to the first classes of letter, as many rows for any number of them, with a fixed kernel."""
    from infovec import IVMClassifier
    from infovec.kernels import RBF, Bias

    X, y, _, _ = rows_of("letter", 0, None)
    rows = np.flatnonzero(y < n_classes)
    X, y = X[rows[: task.rows]], y[rows[: task.rows]]
    model = IVMClassifier(RBF(2.0, 100.0) + Bias(10.0), n_active=task.n_active, learn=None, **_form(side))
    return {"seconds": watched(lambda: model.fit(X, y)).seconds}


@dataclass(frozen=True)
class Results:
    """Results as lines of JSON in a file, if there is one."""

    path: Path | None

    def get(self, task: Task, side: str, split: int) -> dict[str, Any]:
        """Return a result that is there, or measure it; failures are tried again."""
        key = {"set": task.name, "active": task.n_active, "rows": task.rows, "side": side, "split": split}
        lines = self.path.read_text().splitlines() if self.path and self.path.exists() else []
        for entry in map(json.loads, lines):
            if all(entry[name] == value for name, value in key.items()):
                found: dict[str, Any] = entry["result"]
                return found
        result = run_alone(fit_once, task, side, split)
        if self.path and "failed" not in result:
            with self.path.open("a") as file:
                file.write(json.dumps(significant({**key, "result": result})) + "\n")
        return result


def _medians(results: list[dict[str, Any]]) -> dict[str, Any]:
    failed = [r for r in results if "failed" in r]
    return failed[0] if failed else {key: median(r[key] for r in results) for key in results[0]}


def main() -> None:
    """Print one JSON line for each data set."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--splits", type=int, default=5, help="of data sets without one of their own")
    parser.add_argument("--rows", type=int, help="train on so many rows at most")
    parser.add_argument("--active", type=int, default=500, help="active rows, or Nystroem features")
    parser.add_argument("--results", type=Path, help="file of JSON lines to append to, and to go on from")
    parser.add_argument("--scaling", action="store_true", help="seconds for 2 to 26 classes, and the slope")
    options = parser.parse_args()
    rows, d = (300, 50) if options.quick else (options.rows, options.active)
    if options.scaling:
        _scaling([s for s in options.sides if s in FORMS], rows or 1400, d, options.repeats)
        return
    results = Results(options.results)
    for name in options.sets:
        task = Task(name, name, 0, d, 0.0, 0.0, 0.0, 0.0, rows=rows)
        splits = range(1 if SETS[name].held_out is None or options.quick else options.splits)
        found = {side: _medians([results.get(task, side, k) for k in splits]) for side in options.sides}
        print(json.dumps(significant({"set": name, "active": d, "rows": rows, "sides": found})), flush=True)


def _scaling(sides: list[str], rows: int, d: int, repeats: int) -> None:
    """Print seconds by number of classes, and the slope of their logarithms from four classes on."""
    task = Task("letter", "letter", 0, d, 0.0, 0.0, 0.0, 0.0, rows=rows)
    for side in sides:
        seconds = {C: _medians([run_alone(fit_some, task, side, C) for _ in range(repeats)]) for C in COUNTS}
        times = [seconds[C].get("seconds", np.nan) for C in COUNTS[1:]]
        slope = float(np.polyfit(np.log(COUNTS[1:]), np.log(times), 1)[0])
        print(json.dumps(significant({"side": side, "rows": rows, "active": d, "seconds": seconds, "slope": slope})))


if __name__ == "__main__":
    main()
