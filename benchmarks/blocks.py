"""Loss and training time of blocked selection against one row at a time, at equal size and kernel."""

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian

from .measure import significant
from .tasks import arrays

__all__ = ["compare", "main"]

WAYS: dict[str, dict[str, Any]] = {
    "exact": {"block_size": 1, "pool_size": None, "selection": "all"},
    "all": {"selection": "all"},
    "shrinking": {"selection": "shrinking"},
}


class Problem(NamedTuple):
    """Rows to train and to test on, and the fixed model."""

    name: str
    X: np.ndarray
    y: np.ndarray
    Z: np.ndarray
    t: np.ndarray
    model: dict[str, Any]


def problems() -> Iterator[Problem]:
    """Yield three digits of USPS against the rest, two binary tasks, and two regressions on standardised targets."""
    usps = arrays("usps")
    X, Z = usps["X_train"].astype(np.float64), usps["X_test"].astype(np.float64)
    for digit in (3, 5, 8):
        kernel = {"kernel": RBF(10.0, 100.0) + Bias(0.1)}
        yield Problem(f"usps-{digit}", X, usps["y_train"] == digit, Z, usps["y_test"] == digit, kernel)
    for name in ("spambase", "banana", "kin8nm", "abalone"):
        data = arrays(name)
        X, y = data["X"].astype(np.float64), data["y"]
        model: dict[str, Any] = {}
        if str(data["task"]) == "regression":
            y = (y - y.mean()) / y.std()
            model = {"likelihood": Gaussian(0.1)}
        X, Z, y, t = train_test_split(X, y, test_size=0.3, random_state=0)
        yield Problem(name, X, y, Z, t, model)


def loss(problem: Problem, n_active: int, seed: int, way: dict[str, Any]) -> tuple[float, float]:
    """Return the mean test loss and the seconds of one fit."""
    estimator = IVMRegressor if "likelihood" in problem.model else IVMClassifier
    fixed = {"approximation": "factorised", "learn": None, "random_state": seed}
    model = estimator(n_active=n_active, **fixed, **problem.model, **way)
    start = time.perf_counter()
    model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    if isinstance(model, IVMRegressor):
        return -float(np.mean(model.log_density(problem.Z, problem.t))), seconds
    column = np.searchsorted(model.classes_, problem.t)
    return -float(np.mean(model.predict_log_proba(problem.Z)[np.arange(len(column)), column])), seconds


def compare(problem: Problem, n_active: int, seeds: int) -> dict[str, Any]:
    """Return the medians over seeds, the ways taking turns."""
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for seed in range(seeds):
        for way, settings in WAYS.items():
            found[way].append(loss(problem, n_active, seed, settings))
    median = {way: np.median(values, axis=0) for way, values in found.items()}
    exact = median["exact"][0]
    return {
        "task": problem.name,
        "n": len(problem.y),
        "d": n_active,
        "loss": {way: significant(float(v[0])) for way, v in median.items()},
        "seconds": {way: significant(float(v[1])) for way, v in median.items()},
        "worse_percent": {way: round(100 * float(v[0] - exact) / abs(exact), 2) for way, v in median.items()},
    }


def main() -> None:
    """Print one JSON line for each task."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blocks", description=__doc__)
    parser.add_argument("--active", type=int, default=500, help="size of the active set")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    for problem in problems():
        print(json.dumps(compare(problem, arguments.active, arguments.seeds)), flush=True)


if __name__ == "__main__":
    main()
