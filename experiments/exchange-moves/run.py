"""What sweeps and exchange moves do to the factorised posterior: error and log loss over many sets."""

import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.data import stored
from experiments.report import claim, compare
from infovec import IVMClassifier, IVMRegressor

from .figures import draw

__all__ = ["CHOICE", "CONFIRMATION", "FULL", "QUICK", "WAYS", "Sizes", "run"]

CHOICE = ("banana", "heart", "german", "ionosphere", "spambase", "housing")
CONFIRMATION = ("pima", "australian", "sonar", "wdbc", "twonorm", "concrete")
NUMBERS = ("housing", "concrete")
WAYS = {None: "as selected", "sweeps": "sweeps", "entropy": "exchange by entropy", "exchange": "exchange by evidence",
        "both": "exchange by evidence, sweeps"}  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    splits: int
    rows: int  # to train, at most
    test_rows: int
    active: int
    choice: tuple[str, ...]
    confirmation: tuple[str, ...]


FULL = Sizes(5, 600, 2000, 50, CHOICE, CONFIRMATION)
QUICK = Sizes(1, 250, 500, 25, ("heart",), ("pima",))


def run(quick: bool, sizes: Sizes | None = None) -> list[Row]:
    """Fit every set in every way; choose the default on one half of the sets, confirm it on the other."""
    sizes = sizes or (QUICK if quick else FULL)
    found = {name: _set(name, sizes) for name in (*sizes.choice, *sizes.confirmation)}
    rows = []
    for name, ways in found.items():
        for way, (error, loss, *_) in ways.items():
            rows.append(compare(f"{name}, {WAYS[way]}: error", None, error))
            rows.append(compare(f"{name}, {WAYS[way]}: log loss", None, loss))
    change = {half: {way: _change(found, names, way) for way in WAYS}
              for half, names in (("choice", sizes.choice), ("confirmation", sizes.confirmation))}  # fmt: skip
    for half, by_way in change.items():
        rows += [compare(f"{half}: mean change of log loss, {WAYS[way]}", None, by_way[way]) for way in WAYS if way]
    best = min(WAYS, key=lambda way: change["choice"][way])
    rows.append(claim(f"chosen: {WAYS[best]}; confirmed: change of log loss", "< 0", change["confirmation"][best],
                      best is None or change["confirmation"][best] < 0.0))  # fmt: skip
    sweeps = _change(found, (*sizes.choice, *sizes.confirmation), "sweeps")
    rows.append(claim("sweeps alone: change of log loss, all sets", "decline: > 0", sweeps, sweeps > 0.0))
    falls = min(evidence for ways in found.values() for *_, evidence in [ways["exchange"]])
    rows.append(claim("smallest change of the log evidence by exchanges", ">= 0", falls, falls >= 0.0))
    draw(found, WAYS)
    return rows


def _set(name: str, sizes: Sizes) -> dict[str | None, tuple[float, ...]]:
    """Mean error, log loss, seconds and change of the log evidence over the splits, in every way."""
    figures: dict[str | None, list[tuple[float, ...]]] = {way: [] for way in WAYS}
    for split in range(sizes.splits):
        for way, numbers in _split(name, split, sizes).items():
            figures[way].append(numbers)
    means = {way: tuple(np.mean(numbers, axis=0)) for way, numbers in figures.items()}
    said = ", ".join(f"{WAYS[way]} {error:.4f} {loss:.4f} ({s:.1f} s)" for way, (error, loss, s, _) in means.items())
    print(f"{name}: {said}", file=sys.stderr)
    return means


def _split(name: str, split: int, sizes: Sizes) -> dict[str | None, tuple[float, ...]]:
    X, y = _data(name)
    order = np.random.default_rng(split).permutation(len(y))
    n = min(sizes.rows, len(y) // 2)
    train, test = order[:n], order[n : n + sizes.test_rows]
    made: type[IVMClassifier] | type[IVMRegressor] = IVMRegressor if name in NUMBERS else IVMClassifier
    settings: dict[str, Any] = {"n_active": sizes.active, "approximation": "factorised", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        learned = made(**settings, refine=None).fit(X[train], y[train])
        found = {}
        for way in WAYS:
            start = time.perf_counter()
            model = made(kernel=learned.kernel_, likelihood=learned.likelihood_, learn=None, refine=way, **settings)
            model.fit(X[train], y[train])
            seconds = time.perf_counter() - start
            change = model.log_evidence_ - learned.log_evidence_
            found[way] = (*_judged(model, X[test], y[test]), seconds, change)
    return found


def _judged(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Share of errors, or root mean square of the residuals over the deviation, and the log loss."""
    if isinstance(model, IVMRegressor):
        error = np.sqrt(np.mean((model.predict(X) - y) ** 2)) / np.std(y)
        return float(error), float(-np.mean(model.log_density(X, y)))
    proba = model.predict_proba(X)
    own = np.maximum(proba[np.arange(len(y)), np.searchsorted(model.classes_, y)], 1e-12)
    return float(np.mean(model.classes_[proba.argmax(axis=1)] != y)), float(-np.mean(np.log(own)))


def _change(found: dict[str, dict[str | None, tuple[float, ...]]], names: tuple[str, ...], way: str | None) -> float:
    return float(np.mean([found[name][way][1] - found[name][None][1] for name in names]))


def _data(name: str) -> tuple[np.ndarray, np.ndarray]:
    file = stored(name)
    if "X" in file:
        return file["X"].astype(np.float64), file["y"]
    X, y = (np.concatenate([file[f"{part}_train"], file[f"{part}_test"]]) for part in "Xy")
    return X.astype(np.float64), y
