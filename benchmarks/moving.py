"""What active inputs that move are worth, and smaller models by ``compress``: loss and CPU seconds.

The rule of ``move="auto"`` was chosen on CHOICE, with up to 2000 training rows; CONFIRMATION tells whether it holds.
"""

import argparse
import json
import time
from typing import Any

import numpy as np

from .measure import significant
from .tasks import arrays

__all__ = ["CHOICE", "CONFIRMATION", "compressed", "main", "moved", "split"]

CHOICE = (
    "banana:20", "banana:100", "twonorm:20", "twonorm:60", "wdbc:20", "kin8nm:100", "abalone:60", "elevators:20",
    "german:20", "pima:20", "kin40k:200",
)  # fmt: skip
CONFIRMATION = (
    "spambase:60", "ijcnn1:60", "waveform:20", "a9a:60", "bank8fm:60", "california:60", "protein:60", "concrete:60",
    "airfoil:60", "cpu_small:60", "pol:60", "pumadyn32nm:60", "optdigits:60", "segment:60", "satimage:60",
)  # fmt: skip
SMALLER = ("banana", "spambase", "twonorm", "waveform", "ijcnn1", "elevators", "abalone", "kin8nm")


def split(name: str, rows: int, seed: int = 0) -> tuple[Any, Any, Any, Any, bool]:
    """Return training and test rows, columns and numbers standardised by the training rows; whether they are numbers.

    A set that comes in two parts keeps them; of others 30 % are test rows.
    """
    data, rng = arrays(name), np.random.default_rng(seed)
    if "X_train" in data:
        X, y, Z, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    else:
        order = rng.permutation(len(data["y"]))
        fit, test = np.split(order, [int(0.7 * len(order))])
        X, y, Z, t = data["X"][fit], data["y"][fit], data["X"][test], data["y"][test]
    some = rng.permutation(len(y))[:rows] if rows else slice(None)
    X, y, real = X[some].astype(float), y[some], str(data.get("task", "")) == "regression"
    mean, std = X.mean(axis=0), X.std(axis=0)
    X, Z = ((V - mean) / np.where(std > 0.0, std, 1.0) for V in (X, Z.astype(float)))
    if real:
        y, t = ((v - y.mean()) / y.std() for v in (y.astype(float), t.astype(float)))
    return X, y, Z, t, real


def _scores(model: Any, Z: Any, t: Any, real: bool) -> dict[str, float]:
    """Share of errors and log loss, or squared error and minus the mean log density."""
    if real:
        mean, std = model.predict(Z, return_std=True)
        density = -0.5 * (((t - mean) / std) ** 2 + np.log(2.0 * np.pi * std**2))
        return {"error": float(np.mean((t - mean) ** 2)), "loss": -float(np.mean(density))}
    proba, place = model.predict_proba(Z), np.searchsorted(model.classes_, t)
    own = np.maximum(proba[np.arange(len(t)), place], 1e-15)
    return {"error": float(np.mean(proba.argmax(axis=1) != place)), "loss": -float(np.mean(np.log(own)))}


def _timed(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _model(real: bool, d: int, move: Any) -> Any:
    from infovec import IVMClassifier, IVMRegressor

    return (IVMRegressor if real else IVMClassifier)(n_active=d, random_state=0, move=move)


def moved(name: str, d: int, rows: int, ways: list[str], seed: int = 0) -> dict[str, Any]:
    """Fit with active inputs that stay, move, or move where the rule says so."""
    X, y, Z, t, real = split(name, rows, seed)
    found: dict[str, Any] = {"set": name, "rows": len(y), "d": d}
    for way in ways:
        model = _model(real, d, {"stay": False, "move": True, "auto": "auto"}[way])
        model, seconds = _timed(lambda model=model: model.fit(X, y))
        found[way] = {**_scores(model, Z, t, real), "cpu_seconds": seconds, "moved": model.moved_}
    return found


def compressed(name: str, d: int, rows: int, share: float, seed: int = 0) -> dict[str, Any]:
    """Fit with d active rows, and make the model smaller."""
    X, y, Z, t, real = split(name, rows, seed)
    model, fit = _timed(lambda: _model(real, d, False).fit(X, y))
    small, seconds = _timed(lambda: model.compress(share))
    (before, slow), (after, fast) = (_timed(lambda m=m: _scores(m, Z, t, real)) for m in (model, small))
    few = _scores(_model(real, max(1, round(share * d)), False).fit(X, y), Z, t, real)
    return {
        "set": name, "rows": len(y), "nats": model.log_evidence_ - small.log_evidence_,
        "active": [len(model.active_), len(small.active_)],
        "loss": [before["loss"], after["loss"]], "error": [before["error"], after["error"]],
        "percent": 100.0 * (after["loss"] / before["loss"] - 1.0), "loss_of_a_fit_of_that_size": few["loss"],
        "cpu_seconds": {"fit": fit, "compress": seconds}, "predict_seconds": [slow, fast],
    }  # fmt: skip


def main() -> None:
    """Print one JSON line for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("moved", "compressed"))
    parser.add_argument("--sets", nargs="+", help="names; with the number of active rows after a colon for `moved`")
    parser.add_argument("--ways", nargs="+", default=["stay", "move", "auto"])
    parser.add_argument("--rows", type=int, default=2000, help="for training; 0 takes all")
    parser.add_argument("--active", type=int, default=500)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    sets = asked.sets or ([*CHOICE, *CONFIRMATION] if asked.what == "moved" else SMALLER)
    for name in sets:
        file, _, d = name.partition(":")
        if asked.what == "moved":
            found = moved(file, int(d or asked.active), asked.rows, asked.ways, asked.seed)
        else:
            found = compressed(file, int(d or asked.active), asked.rows, asked.share, asked.seed)
        print(json.dumps(significant(found)), flush=True)


if __name__ == "__main__":
    main()
