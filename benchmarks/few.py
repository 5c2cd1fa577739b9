"""Real sets with 10 to 100 rows to train: what is predicted by IVMClassifier() and IVMRegressor(), and how surely.

Every draw has training rows of its own, with both classes among them, and at most 1000 other rows to test. With
"flips" a fifth of all labels is exchanged. Losses are the mean log loss of two classes, and for numbers the mean
negative log density of the target in units of its deviation. Sides:

* infovec: the estimator with its defaults.
* gp: the Gaussian process of scikit-learn with ConstantKernel() * RBF(), for numbers + WhiteKernel(), on standardised
  columns and targets.
* gp_each: the same with a length scale for each column.
* nothing: frequencies of the classes, or a normal distribution with mean and deviation of the training targets.

Defaults were chosen on the first half of the sets (and on the made ones of ``benchmarks.small``), the other confirms.
"""

import json
import time
import warnings
from typing import Any

import numpy as np

from .measure import arguments, significant
from .tasks import arrays

__all__ = ["CLASSES", "NUMBERS", "class_losses", "draw", "main", "number_losses"]

CLASSES = {
    "chosen": ("heart", "pima", "banana", "synth", "crabs", "wdbc"),
    "confirmed": ("sonar", "ionosphere", "australian", "german", "twonorm", "spambase", "ivm_unitsquare"),
}
NUMBERS = {
    "chosen": ("housing", "autompg", "yacht", "concrete"),
    "confirmed": ("abalone", "machine_cpu", "bank8fm", "airfoil"),
}
SIZES = {"classes": (10, 20, 40), "numbers": (20, 50, 100)}
TEST_ROWS, EXCHANGED = 1000, 0.2
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def draw(name: str, kind: str, n: int, seed: int) -> Rows:
    """Return training inputs and targets, test inputs and targets."""
    data = arrays(name)
    parts = [part for part in ("", "_train", "_test", "_valid") if f"X{part}" in data]
    X = np.concatenate([data[f"X{part}"] for part in parts]).astype(np.float64)
    y = np.concatenate([data[f"y{part}"] for part in parts])
    rng = np.random.default_rng([seed, n, *name.encode()])
    while True:
        order = rng.permutation(len(y))[: n + TEST_ROWS]
        t = y[order] if kind == "numbers" else y[order].astype(np.intp)
        if kind == "flips":
            t = np.where(rng.random(len(t)) < EXCHANGED, 1 - t, t)
        if kind == "numbers" or len(np.unique(t[:n])) == 2:
            return X[order[:n]], t[:n], X[order[n:]], t[n:]


def class_losses(rows: Rows) -> dict[str, float]:
    """Return the test log loss of every side, and the CPU seconds of infovec."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from sklearn.metrics import log_loss
    from sklearn.preprocessing import StandardScaler

    from infovec import IVMClassifier

    X, y, Z, t = rows
    start = time.process_time()
    model = IVMClassifier(random_state=0).fit(X, y)
    seconds, scaler = time.process_time() - start, StandardScaler().fit(X)
    proba = {"infovec": model.predict_proba(Z), "nothing": np.tile(np.bincount(y) / len(y), (len(t), 1))}
    for side, kernel in (("gp", RBF()), ("gp_each", RBF(np.ones(X.shape[1])))):
        peer = GaussianProcessClassifier(ConstantKernel() * kernel, random_state=0).fit(scaler.transform(X), y)
        proba[side] = peer.predict_proba(scaler.transform(Z))
    return {side: float(log_loss(t, p, labels=[0, 1])) for side, p in proba.items()} | {"seconds": seconds}


def number_losses(rows: Rows) -> dict[str, float]:
    """Return the mean negative log density of every side, squared errors as shares, and CPU seconds of infovec."""
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.preprocessing import StandardScaler

    from infovec import IVMRegressor

    X, y, Z, t = rows
    y, t, unit = y - t.mean(), t - t.mean(), t.std()
    y, t = y / unit, t / unit
    start = time.process_time()
    model = IVMRegressor(random_state=0).fit(X, y)
    seconds, scaler, mean = time.process_time() - start, StandardScaler().fit(X), {"infovec": model.predict(Z)}
    density = {"infovec": model.log_density(Z, t), "nothing": norm.logpdf(t, y.mean(), y.std())}
    mean["nothing"] = np.full(len(t), y.mean())
    for side, kernel in (("gp", RBF()), ("gp_each", RBF(np.ones(X.shape[1])))):
        peer = GaussianProcessRegressor(ConstantKernel() * kernel + WhiteKernel(), normalize_y=True, random_state=0)
        mean[side], std = peer.fit(scaler.transform(X), y).predict(scaler.transform(Z), return_std=True)
        density[side] = norm.logpdf(t, mean[side], std)
    losses = {side: -float(np.mean(values)) for side, values in density.items()}
    return losses | {f"left_{side}": float(np.mean((t - m) ** 2)) for side, m in mean.items()} | {"seconds": seconds}


def _compare(name: str, kind: str, n: int, seeds: range) -> dict[str, Any]:
    """Return the mean over the draws of every number of every side."""
    judge = number_losses if kind == "numbers" else class_losses
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn: parameters at their bounds
        found = [judge(draw(name, kind, n, seed)) for seed in seeds]
    mean = {side: float(np.mean([one[side] for one in found])) for side in found[0]}
    return {"set": name, "kind": kind, "n": n, "draws": len(found), **mean}


def main() -> None:
    """Print one JSON line for each set, kind and number of rows, and one for each half of the sets."""
    parser = arguments(__doc__)
    parser.set_defaults(repeats=25)
    parser.add_argument("what", choices=("classes", "numbers"))
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of training rows")
    parser.add_argument("--half", choices=("chosen", "confirmed"), nargs="+", default=["chosen", "confirmed"])
    options = parser.parse_args()
    seeds = range(options.first, options.first + (2 if options.quick else options.repeats))
    halves, kinds = (CLASSES, ("clean", "flips")) if options.what == "classes" else (NUMBERS, ("numbers",))
    for half in options.half:
        for n in options.sizes or SIZES[options.what]:
            lines = []
            for name, kind in ((name, kind) for name in halves[half] for kind in kinds):
                lines.append(_compare(name, kind, n, seeds))
                print(json.dumps(significant(lines[-1])), flush=True)
            numbers = [key for key in lines[0] if key not in ("set", "kind", "n", "draws")]
            mean = {key: float(np.mean([line[key] for line in lines])) for key in numbers}
            print(json.dumps(significant({"half": half, "n": n, **mean})), flush=True)


if __name__ == "__main__":
    main()
