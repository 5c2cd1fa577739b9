"""The projected posterior against its peers: error or squared error, log loss or log density, seconds, memory.

Inputs are standardised for all (images and a9a are left as they are). infovec learns its kernel by the evidence, and
that time counts; with ``families`` it learns four of them (Gaussian with one length scale or one for each column, with
and without a linear part) and takes the one of the largest evidence, and all that time counts; with ``fixed`` it takes
the kernel named in the table below. On kin40k every column has a length scale of its own. GPyTorch trains on a9a until
its log loss on the test rows is 0.322, or time is up. Of the other peers only the final fit is timed: their kernel
width and regularisation come from a grid of 4 by 3, tried on 3000 training rows with a third held out.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .measure import arguments, medians, run_alone, significant, watched
from .sides import installed
from .tasks import Task, arrays, family, load

__all__ = ["SETS", "fit_once", "main"]

SIDES = ("projected", "families", "fixed", "factorised", "nystroem", "calibrated", "gpytorch")


@dataclass(frozen=True)
class Set:
    """A data set: ``real`` targets or two classes, active rows, and a fixed kernel v exp(-gamma |x - z|^2)."""

    name: str
    d: int = 500
    real: bool = False
    standardise: bool = True
    gamma: float | None = None
    variance: float | None = None
    ard: bool = False
    target: float | None = None  # log loss at which GPyTorch may stop


SETS = {
    s.name: s
    for s in (
        Set("a9a", standardise=False, gamma=0.02, variance=5.0, target=0.322), Set("ijcnn1"), Set("spambase"),
        Set("banana"), Set("twonorm"), Set("mnist", d=1000, standardise=False, gamma=0.03, variance=200.0),
        Set("kin40k", d=1000, real=True, ard=True), Set("protein", real=True),
    )
}  # fmt: skip


def rows_of(chosen: Set, quick: bool) -> tuple[Any, Any, Any, Any]:
    """Return training inputs and targets, test inputs and targets."""
    if chosen.name == "mnist":
        X, y, Z, t = load(family("mnist")[0])
    else:
        data = arrays(chosen.name)
        if "X_train" in data:
            X, y, Z, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
        else:
            order = np.random.default_rng(0).permutation(len(data["y"]))
            k = int(0.7 * len(order))
            X, y, Z, t = data["X"][order[:k]], data["y"][order[:k]], data["X"][order[k:]], data["y"][order[k:]]
    X, Z = X.astype(np.float32), Z.astype(np.float32)
    if chosen.standardise:
        mean, std = X.mean(axis=0), X.std(axis=0)
        X, Z = ((V - mean) / np.where(std > 0, std, 1.0) for V in (X, Z))
    y, t = ((v - y.mean()) / y.std() if chosen.real else v == y.max() for v in (y, t))
    return (X[:600], y[:600], Z[:600], t[:600]) if quick else (X, y, Z, t)


class ByEvidence:
    """Several kernels are learned, the one of the largest evidence is kept."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    def fit(self, X: Any, y: Any) -> Any:
        """Fit all models and return the best one."""
        return max((model.fit(X, y) for model in self.models), key=lambda model: model.log_evidence_)


def _families(chosen: Set, p: int) -> ByEvidence:
    from infovec import IVMClassifier, IVMRegressor
    from infovec.kernels import RBF, Bias, Linear

    estimator, variance = (IVMRegressor, 1.0) if chosen.real else (IVMClassifier, 20.0)
    scales = (2.0 * p) ** 0.5, np.full(p, (2.0 * p) ** 0.5)
    kernels = [k for scale in scales for k in (RBF(scale, variance), RBF(scale, variance) + Linear(1.0 / p))]
    return ByEvidence([estimator(k + Bias(1.0), n_active=chosen.d, random_state=0) for k in kernels])


def _infovec(chosen: Set, side: str, p: int) -> Any:
    from infovec import IVMClassifier, IVMRegressor
    from infovec.kernels import RBF, Bias

    settings: dict[str, Any] = {"n_active": chosen.d, "random_state": 0}
    if side == "fixed":
        settings |= {"kernel": RBF((2 * chosen.gamma) ** -0.5, chosen.variance) + Bias(0.1), "learn": None}
    elif chosen.ard:
        settings["kernel"] = RBF(np.full(p, (2.0 * p) ** 0.5)) + Bias(1.0)
    if side == "factorised":
        settings["approximation"] = "factorised"
    return (IVMRegressor if chosen.real else IVMClassifier)(**settings)


def _peer(chosen: Set, side: str, gamma: float, strength: float) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    from .peers import nystroem_logistic, nystroem_ridge

    if side == "calibrated":
        machine = SVC(C=strength, gamma=gamma, cache_size=2000)
        if installed("sklearnex"):
            import sklearnex.svm

            machine = sklearnex.svm.SVC(C=strength, gamma=gamma, cache_size=2000)
        return CalibratedClassifierCV(machine, ensemble=False)
    if chosen.real:
        return nystroem_ridge(chosen.d, gamma, 1.0 / strength)
    return nystroem_logistic(chosen.d, gamma, strength)


def _tuned(chosen: Set, side: str, X: Any, y: Any) -> Any:
    """Return the peer with the best of 4 widths and 3 strengths on a part of the rows."""
    rows = np.random.default_rng(1).permutation(len(y))[:3000]
    fit, check = rows[: 2 * len(rows) // 3], rows[2 * len(rows) // 3 :]
    unit = 1.0 / (2.0 * float(np.sum(X.var(axis=0))))
    tried = []
    part = replace(chosen, d=min(chosen.d, len(fit) // 2))
    for gamma in (0.3 * unit, unit, 3.0 * unit, 10.0 * unit):
        for strength in (1.0, 10.0, 100.0):
            model = _peer(part, side, gamma, strength).fit(X[fit], y[fit])
            tried.append((_scores(chosen, model, X[check], y[check])["loss"], gamma, strength))
    return _peer(chosen, side, *min(tried)[1:])


def _scores(chosen: Set, model: Any, Z: Any, t: Any) -> dict[str, Any]:
    """Error in percent and log loss, or squared error and minus the mean log density of standardised targets."""
    if not chosen.real:
        proba = np.clip(model.predict_proba(Z), 1e-15, 1.0)
        wrong = model.classes_[proba.argmax(axis=1)] != t
        return {
            "error": 100.0 * float(wrong.mean()),
            "loss": -float(np.log(proba[np.arange(len(t)), t.astype(int)]).mean()),
        }
    try:
        mean, std = model.predict(Z, return_std=True)
    except TypeError:  # ridge regression has no error bars
        mean = model.predict(Z)
        std = np.sqrt(np.mean((t - mean) ** 2))
    density = -0.5 * (((t - mean) / std) ** 2 + np.log(2 * np.pi * std**2))
    return {"error": float(np.mean((t - mean) ** 2)), "loss": -float(density.mean())}


def fit_once(task: Task, side: str, quick: bool, seconds: float) -> dict[str, Any]:
    """Fit one side on one data set and return what it cost and how good it is."""
    chosen = SETS[task.name]
    X, y, Z, t = rows_of(chosen, quick)
    if side == "gpytorch":
        from .peers import SGPRRegressor, SVGPClassifier, warm_up

        warm_up()
        if chosen.target:
            model = SVGPClassifier(n_inducing=chosen.d, seconds=seconds, target=chosen.target).fit(X, y, Z, t)
            return {**_scores(chosen, model, Z, t), "seconds": model.seconds_}
        peer = SGPRRegressor if chosen.real else SVGPClassifier
        model = peer(n_inducing=chosen.d, seconds=seconds)
    elif side in ("nystroem", "calibrated"):
        model = _tuned(chosen, side, X, y)
    elif side == "families":
        model = _families(chosen, X.shape[1])
    else:
        model = _infovec(chosen, side, X.shape[1])
    fitted = []
    cost = watched(lambda: fitted.append(model.fit(X, y)))
    return {**_scores(chosen, fitted[0], Z, t), "seconds": cost.seconds, "peak_memory_mb": cost.peak_memory_mb}


def main() -> None:
    """Print one JSON line for each data set."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--seconds", type=float, default=120.0, help="training time of GPyTorch (120)")
    options = parser.parse_args()
    for name in options.sets:
        chosen, found = SETS[name], {}
        task = Task(name, name, 0, chosen.d, 0.0, 0.0, 0.0, 0.0)
        sides = [s for s in options.sides if not (s == "fixed" and chosen.gamma is None)]
        sides = [s for s in sides if not (s == "calibrated" and chosen.real)]
        runs = [{s: run_alone(fit_once, task, s, options.quick, options.seconds) for s in sides}
                for _ in range(options.repeats)]  # fmt: skip
        for side in sides:
            results = [run[side] for run in runs]
            failed = [r for r in results if "failed" in r]
            found[side] = failed[0] if failed else medians(results)
        print(json.dumps(significant({"set": name, "d": chosen.d, "sides": found})), flush=True)


if __name__ == "__main__":
    main()
