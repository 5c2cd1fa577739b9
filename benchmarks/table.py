"""Default classifiers on fifteen data sets: log loss, error, seconds and ranks of IVMClassifier() and its tuned peers.

Every set is cut to 8000 random rows at most, split into 70 % to train and 30 % to test, and standardised by the
training rows. IVMClassifier has its defaults. The peers are tuned on the training rows by cross-validation over the
grids below, the SVC by its errors and then calibrated, the others by their log loss; GaussianProcessClassifier learns
by its evidence and only takes part up to 2000 training rows. Seconds are of fitting, with the tuning.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .measure import arguments, run_alone, significant, watched
from .sides import installed
from .tasks import Task, arrays

__all__ = ["SETS", "SIDES", "fit_once", "main", "ranks", "rows_of", "summary"]

SETS = (
    "sonar", "crabs", "heart", "ionosphere", "ivm_unitsquare", "wdbc", "australian", "pima", "german", "synth",
    "spambase", "banana", "twonorm", "ijcnn1", "a9a",
)  # fmt: skip
SIDES = ("infovec", "svc", "logistic", "nystroem", "boosting", "gp")
MOST_ROWS, SHARE, MOST_GP = 8000, 0.7, 2000
FEATURES = 500  # of Nystroem
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray], Any]


def rows_of(name: str, split: int, quick: bool) -> Rows:
    """Return standardised training inputs and classes, test inputs and classes."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    data = arrays(name)
    parts = [part for part in ("", "_train", "_test") if f"X{part}" in data]
    X = np.concatenate([data[f"X{part}"] for part in parts]).astype(np.float64)
    y = np.concatenate([data[f"y{part}"] for part in parts]).astype(np.intp)
    kept = np.random.default_rng(split).permutation(len(y))[: 200 if quick else MOST_ROWS]
    X, Z, y, t = train_test_split(X[kept], y[kept], train_size=SHARE, random_state=split, stratify=y[kept])
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(Z), t


def machine(side: str, n: int, p: int) -> Fit:
    """Return the function that tunes and fits a side, with everything that it needs imported."""
    if side == "infovec":
        from infovec import IVMClassifier

        return IVMClassifier(random_state=0).fit
    if side == "gp":
        from sklearn.gaussian_process import GaussianProcessClassifier
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        return GaussianProcessClassifier(ConstantKernel(1.0) * RBF(np.sqrt(p)), random_state=0).fit
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV

    peers = {"svc": _svc, "logistic": _logistic, "nystroem": _nystroem, "boosting": _boosting}
    model, grid, cv = peers[side](n, p)
    if side != "svc":
        return GridSearchCV(model, grid, cv=cv, scoring="neg_log_loss").fit
    search = GridSearchCV(model, grid, cv=cv, refit=False)
    return lambda X, y: CalibratedClassifierCV(
        model.set_params(**search.fit(X, y).best_params_), ensemble=False
    ).fit(X, y)  # fmt: skip


def _svc(n: int, p: int) -> tuple[Any, dict[str, Any], int]:
    from sklearn.svm import SVC

    if installed("sklearnex"):
        from sklearnex.svm import SVC
    return SVC(cache_size=1000), {"C": [0.3, 1.0, 10.0, 100.0], "gamma": [0.1 / p, 0.3 / p, 1.0 / p, 3.0 / p]}, 5


def _logistic(n: int, p: int) -> tuple[Any, dict[str, Any], int]:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=10_000), {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0]}, 5


def _nystroem(n: int, p: int) -> tuple[Any, dict[str, Any], int]:
    from .peers import nystroem_logistic

    pipe = nystroem_logistic(min(FEATURES, n // 2), 1.0, 1.0)
    gamma = [0.03 / p, 0.1 / p, 0.3 / p, 1.0 / p]
    return pipe, {"nystroem__gamma": gamma, "logisticregression__C": [0.1, 1.0, 10.0, 100.0]}, 3


def _boosting(n: int, p: int) -> tuple[Any, dict[str, Any], int]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [5, 31], "max_iter": [50, 150]}
    return HistGradientBoostingClassifier(random_state=0), grid, 3


def fit_once(task: Task, side: str, split: int, quick: bool) -> dict[str, Any]:
    """Tune and fit one side on one data set; return log loss, error in percent, seconds and those of the CPU."""
    from sklearn.metrics import log_loss

    X, y, Z, t = rows_of(task.file, split, quick)
    fit, fitted, began = machine(side, len(y), X.shape[1]), list[Any](), time.process_time()
    cost = watched(lambda: fitted.append(fit(X, y)))
    cpu = time.process_time() - began  # which other programs change little
    (model,) = fitted
    proba = model.predict_proba(Z)
    error = 100.0 * float(np.mean(model.classes_[proba.argmax(axis=1)] != t))
    return {"log_loss": float(log_loss(t, proba)), "error_percent": error, "seconds": cost.seconds, "cpu_seconds": cpu}


def compare(name: str, splits: int, quick: bool, sides: Sequence[str] = SIDES) -> dict[str, Any]:
    """Return the means over the splits of every side, and their ranks."""
    X, y = rows_of(name, 0, quick)[:2]
    task, skipped, found = Task(name, name, 0, 0, 0.0, 0.0, 0.0, 0.0), dict[str, str](), dict[str, Any]()
    for side in sides:
        if side == "gp" and len(y) > MOST_GP:
            continue
        results = [run_alone(fit_once, task, side, split, quick) for split in range(splits)]
        if failed := [result["failed"] for result in results if "failed" in result]:
            skipped[side] = failed[0]
        else:
            found[side] = {key: float(np.mean([result[key] for result in results])) for key in results[0]}
    rank = {key: ranks({side: result[key] for side, result in found.items()}) for key in ("log_loss", "error_percent")}
    return {"set": name, "n": len(y), "p": X.shape[1], "sides": found, "rank": rank, "skipped": skipped}


def ranks(losses: dict[str, float]) -> dict[str, float]:
    """Return the rank of every side, 1 for the lowest loss; equal ones share the mean of their ranks."""
    values = np.array(list(losses.values()))
    return {side: float(np.sum(values < loss) + 0.5 * (np.sum(values == loss) + 1.0)) for side, loss in losses.items()}


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean ranks over the sets that a side took part in, how often it was worst, and its seconds in all."""
    total: dict[str, dict[str, float]] = {}
    for side in SIDES:
        took_part = [line for line in lines if side in line["sides"]]
        if took_part:
            mean = {key: float(np.mean([line["rank"][key][side] for line in took_part]))
                    for key in ("log_loss", "error_percent")}  # fmt: skip
            worst = sum(_worst(line, side) for line in took_part)
            seconds = float(np.sum([line["sides"][side]["seconds"] for line in took_part]))
            total[side] = {
                "mean_rank_log_loss": mean["log_loss"], "mean_rank_error": mean["error_percent"],
                "times_worst_log_loss": worst, "seconds": seconds, "sets": len(took_part),
            }  # fmt: skip
    return {"summary": total}


def _worst(line: dict[str, Any], side: str) -> bool:
    losses = {name: result["log_loss"] for name, result in line["sides"].items()}
    return len(losses) > 1 and losses[side] == max(losses.values())


def main() -> None:
    """Print one JSON line for each data set, and one for all."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=1)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    options = parser.parse_args()
    lines = []
    for name in options.sets:
        lines.append(compare(name, options.repeats, options.quick, options.sides))
        print(json.dumps(significant(lines[-1])), flush=True)
    print(json.dumps(significant(summary(lines))), flush=True)


if __name__ == "__main__":
    main()
