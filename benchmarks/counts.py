"""Counts of every size: whether fits end well, and how near predicted rates are to the true ones."""

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .measure import arguments, significant

__all__ = ["Counts", "draw", "fit_once", "main", "summary"]

_SURE = 1000.0  # true rate from which on a count tells it to a few per cent
_TESTS = 200


@dataclass(frozen=True)
class Counts:
    """Counts with smooth log rates, and how they are fitted."""

    X: np.ndarray
    y: np.ndarray
    rate: np.ndarray  # of the training rows
    X_test: np.ndarray  # beside training rows: what is asked there is what counts tell, not how rates go on elsewhere
    rate_test: np.ndarray
    X_new: np.ndarray  # from where training rows come
    rate_new: np.ndarray
    noise: str
    settings: dict[str, Any]


def draw(seed: int) -> Counts:
    """Make one of many problems: medians from 0.1 to a million, gentle to wild rates, clean to dirty counts."""
    rng = np.random.default_rng([seed, 20])
    n, p = int(30 * 50 ** rng.random()), int(rng.integers(1, 7))
    level, amplitude = np.log(10.0) * rng.uniform(-1.0, 6.0), rng.choice([0.1, 0.5, 1.0, 2.0])
    X = rng.standard_normal((n + _TESTS, p)) if rng.random() < 0.5 else rng.uniform(-1.7, 1.7, (n + _TESTS, p))
    X = np.concatenate([X, X[:n] + 0.01 * rng.standard_normal((n, p))])
    frequency, phase = rng.standard_normal((p, 4)) / np.sqrt(p), rng.uniform(0.0, 2.0 * np.pi, 4)
    smooth = np.sin(X @ frequency + phase) @ rng.standard_normal(4) / np.sqrt(2.0)
    rate = np.exp(level + amplitude * smooth)
    noise = str(rng.choice(["poisson", "poisson", "poisson", "overdispersed", "zero-inflated", "outliers"]))
    y = _noisy(rate[:n], noise, rng)
    settings = {
        "approximation": str(rng.choice(["projected", "projected", "factorised"])),
        "learn": None if rng.random() < 0.35 else "ep",
    }
    new, beside = slice(n, n + _TESTS), slice(n + _TESTS, None)
    return Counts(X[:n], y, rate[:n], X[beside], rate[beside], X[new], rate[new], noise, settings)


def _noisy(rate: np.ndarray, noise: str, rng: np.random.Generator) -> np.ndarray:
    if noise == "overdispersed":
        rate = rate * rng.gamma(0.5, 2.0, len(rate))
    y = rng.poisson(rate).astype(float)
    odd = rng.random(len(y))
    if noise == "zero-inflated":
        y[odd < 0.3] = 0.0
    if noise == "outliers":
        y[odd < 0.02] = np.round(100.0 * (y[odd < 0.02] + 1.0))
    return y


def fit_once(problem: Counts, n_active: int = 100) -> dict[str, Any]:
    """Fit a problem and say how it ended: an error, the warnings, and the median relative error of large rates."""
    from infovec import IVMRegressor

    model = IVMRegressor(likelihood="poisson", n_active=n_active, random_state=0, **problem.settings)
    start, error = time.perf_counter(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(problem.X, problem.y)
            mean, std = model.predict(problem.X_test, return_std=True)
            new = model.predict(problem.X_new)
        except Exception as reason:  # whatever it is, it is what is looked for
            error = f"{type(reason).__name__}: {reason}"
    seconds, clean = time.perf_counter() - start, error is None and problem.noise == "poisson"
    if error is None and not (np.all(np.isfinite(mean)) and np.all(np.isfinite(std)) and np.all(np.isfinite(new))):
        error = "predictions are not finite"
    return {
        "n": len(problem.y),
        "p": problem.X.shape[1],
        "median_count": float(np.median(problem.y)),
        "noise": problem.noise,
        **problem.settings,
        "seconds": seconds,
        "error": error,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
        "off_percent": _off(mean, problem.rate_test) if clean else None,
        "off_percent_new": _off(new, problem.rate_new) if clean else None,
    }


def _off(mean: np.ndarray, rate: np.ndarray) -> float | None:
    """Median relative error of large rates, in per cent."""
    sure = rate > _SURE
    return 100.0 * float(np.median(np.abs(mean[sure] / rate[sure] - 1.0))) if sure.any() else None


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Count what went wrong, by decade of the median count."""
    decades: dict[str, dict[str, Any]] = {}
    for line in lines:
        decade = f"1e{int(np.floor(np.log10(max(line['median_count'], 0.1))))}"
        entry = decades.setdefault(decade, {"problems": 0, "errors": 0, "unsettled": 0, "leaked": 0, "off_percent": []})
        entry["problems"] += 1
        entry["errors"] += line["error"] is not None
        entry["unsettled"] += any(w.startswith("ConvergenceWarning") for w in line["warnings"])
        entry["leaked"] += any(not w.startswith("ConvergenceWarning") for w in line["warnings"])
        entry["off_percent"] += [] if line["off_percent"] is None else [line["off_percent"]]
    for entry in decades.values():
        found = entry["off_percent"]
        entry["off_percent"] = {"median": float(np.median(found)), "most": max(found)} if found else None
    return {"summary": dict(sorted(decades.items(), key=lambda item: float(item[0])))}


def _lines(number: int, first: int, n_active: int) -> Iterator[dict[str, Any]]:
    for seed in range(first, first + number):
        yield {"seed": seed, **fit_once(draw(seed), n_active)}


def main() -> None:
    """Print a JSON line for every problem, and a summary."""
    parser = arguments(__doc__)
    parser.add_argument("--problems", type=int, default=200, help="how many (200)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first (0)")
    parser.add_argument("--active", type=int, default=100, help="active rows (100)")
    chosen = parser.parse_args()
    lines = []
    for line in _lines(3 if chosen.quick else chosen.problems, chosen.first, chosen.active):
        lines.append(line)
        print(json.dumps(significant(line)), flush=True)
    print(json.dumps(significant(summary(lines))), flush=True)


if __name__ == "__main__":
    main()
