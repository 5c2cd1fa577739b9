"""What regression promises, on real and made data: units that do not matter, intervals that hold, low noise.

    python -m benchmarks.regression units       ten real sets, y in units of 1e-12 to 1e12 and far from zero; columns
    python -m benchmarks.regression coverage    68 and 95 % intervals on twelve real and eight made sets
    python -m benchmarks.regression table       R² and CPU seconds of IVMRegressor() and its peers at their defaults
    python -m benchmarks.regression targets     the same of IVMRegressor(target=...), with the log density; medians
    python -m benchmarks.regression kernels     the same of IVMRegressor(kernel=...)
    python -m benchmarks.regression noise       noise of 1e-1 to 1e-6 of the signal, single precision against double

Quantiles are those of ``predict_quantiles``; beside them what the mean and the standard deviation of ``predict`` would
give if residuals were normal. Small sets are split several times.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .tasks import arrays

__all__ = [
    "COVERAGE_SETS", "MADE", "UNIT_SETS", "coverage", "main", "noise", "rows_of", "settings", "table", "units",
]  # fmt: skip

UNIT_SETS = ("autompg", "housing", "machine_cpu", "yacht", "concrete", "airfoil", "abalone", "bank8fm", "kin8nm",
             "triazines")  # fmt: skip
COVERAGE_SETS = ("housing", "autompg", "machine_cpu", "yacht", "concrete", "airfoil", "abalone", "bank8fm", "kin8nm",
                 "cpu_small", "california", "elevators")  # fmt: skip
CHOSEN_ON = ("machine_cpu", "housing", "concrete", "airfoil", "wisconsin_prog", "bank8fm", "kin8nm", "pol")
CONFIRMED_ON = ("yacht", "autompg", "triazines", "pyrimidines", "abalone", "california", "cpu_small", "bike",
                "elevators", "protein")  # fmt: skip
SETTINGS = {
    "targets": ("target", ("identity", "auto", "yeo-johnson")),
    "kernels": ("kernel", ("rbf", "matern", "rbf + matern", "auto")),
}
TABLE_SETS = (*COVERAGE_SETS, "bike", "pol", "pumadyn32nm")
PEERS = ("infovec", "ridge", "boosting", "forest", "gp")
MOST_GP = 1000  # rows of GaussianProcessRegressor, which looks at all of them
UNITS = ((1e-12, 0.0), (1e-5, 0.0), (1e4, 0.0), (1e8, 0.0), (1e12, 0.0), (1.0, 1e6))
LEVELS = (0.16, 0.84, 0.025, 0.975)


def _wave(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)


def _friedman(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(size=(n, 8))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + rng.normal(size=n)


def _linear(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 5))
    return X, X @ np.arange(5.0) + 2.0 * rng.normal(size=n)


def _nothing(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, 3)), rng.normal(size=n)


def _heavy(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.cos(2 * X[:, 0]) * X[:, 1] + 0.2 * rng.standard_t(4, size=n)


def _skewed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.exponential(size=n)


def _steps(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sign(X[:, 0]) + np.sign(X[:, 1] - 0.5) + 0.3 * rng.normal(size=n)


def _growing(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(0, 3, (n, 2))
    return X, np.exp(0.5 * X[:, 0]) + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n)


MADE: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "wave": _wave, "friedman": _friedman, "linear": _linear, "nothing": _nothing, "heavy": _heavy, "skewed": _skewed,
    "steps": _steps, "growing": _growing,
}  # fmt: skip


def rows_of(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training inputs and targets, test inputs and targets: n rows to train, at most 70 % of the set."""
    rng = np.random.default_rng(seed)
    if name in MADE:
        X, y = MADE[name](rng, n + 2000)
    else:
        data = arrays(name)
        parts = [part for part in ("", "_train", "_test", "_valid") if f"X{part}" in data]
        X, y = (np.concatenate([data[f"{c}{part}"] for part in parts]).astype(np.float64) for c in "Xy")
        order = rng.permutation(len(y))
        X, y, n = X[order], y[order], min(n, 7 * len(y) // 10)
    return X[:n], y[:n], X[n : n + 3000], y[n : n + 3000]


def _fit(X: np.ndarray, y: np.ndarray, **settings: object) -> object:
    from infovec import IVMRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return IVMRegressor(random_state=0, **settings).fit(X, y)


def _told(X: np.ndarray, y: np.ndarray, Z: np.ndarray, unit: float, offset: float, **settings: object) -> np.ndarray:
    """Means and deviations predicted from targets in another unit, in the unit of y."""
    model = _fit(X, unit * y + offset, **settings)
    return np.stack(model.predict(Z, return_std=True)) / unit - [[offset / unit], [0.0]]


def units(sets: tuple[str, ...], most: int) -> Iterator[str]:
    """Largest change of predictions, in deviations of y, over units of y, its offset, and units of the columns."""
    for name in sets:
        X, y, Z, _ = rows_of(name, most, 0)
        columns = 10.0 ** np.random.default_rng(1).uniform(-8, 8, X.shape[1])
        for likelihood in ("gaussian", "laplace", "student_t"):
            for dtype in ("float64", "float32"):
                given = {"likelihood": likelihood, "dtype": dtype}
                whole = _told(X, y, Z, 1.0, 0.0, **given)
                other = [_told(X, y, Z, unit, offset * y.std() * unit, **given) for unit, offset in UNITS]
                other.append(_told(columns * X, y, columns * Z, 1.0, 0.0, **given))
                shown = " ".join(f"{np.max(np.abs(part - whole)) / y.std():.0e}" for part in other)
                yield f"{name:14s} {len(y):5d} {likelihood:10s} {dtype}  {shown}"


def coverage(sets: tuple[str, ...], sizes: tuple[int, ...]) -> Iterator[str]:
    """Share of test targets in intervals, in percent."""
    for name in sets:
        for n in sizes:
            found = []
            for seed in range(1 if n >= 2000 and name not in MADE else 3 if n >= 500 else 20 if n <= 50 else 8):
                X, y, Z, t = rows_of(name, n, seed)
                if len(y) < 0.7 * n:
                    break
                model = _fit(X, y)
                a, b, c, d = model.predict_quantiles(Z, LEVELS).T
                mean, std = model.predict(Z, return_std=True)
                off = np.abs(t - mean) / std
                inside = ((t >= a) & (t <= b), (t >= c) & (t <= d), off < 0.9945, off < 1.96)
                found.append([100 * np.mean(part) for part in inside])
            if found:
                p68, p95, s68, s95 = np.mean(found, axis=0)
                yield (
                    f"{name:14s} {len(y):5d} rows, {len(found):2d} splits: 68 % {p68:5.1f}, 95 % {p95:5.1f}; "
                    f"by mean and std {s68:5.1f}, {s95:5.1f}"
                )


def peer(side: str, p: int) -> Any:
    """Return a regressor at its defaults; the Gaussian process of scikit-learn learns a kernel, as its own does not."""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from infovec import IVMRegressor

    if side == "gp":
        kernel = ConstantKernel(1.0) * RBF(np.full(p, np.sqrt(p))) + WhiteKernel(0.1)
        return make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel, normalize_y=True, random_state=0))
    return {
        "infovec": IVMRegressor(random_state=0),
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
        "boosting": HistGradientBoostingRegressor(random_state=0),
        "forest": RandomForestRegressor(random_state=0),
    }[side]


def table(sets: tuple[str, ...], n: int, splits: int, sides: tuple[str, ...] = PEERS) -> Iterator[str]:
    """R² of test rows and CPU seconds of every side, means over splits; in the end mean ranks in R²."""
    ranks: dict[str, list[float]] = {side: [] for side in sides}
    for name in sets:
        found: dict[str, np.ndarray] = {}
        for side in sides:
            runs = []
            for seed in range(splits):
                X, y, Z, t = rows_of(name, n, seed)
                if side == "gp" and len(y) > MOST_GP:
                    break
                model, began = peer(side, X.shape[1]), time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, y)
                cpu = time.process_time() - began
                runs.append((1.0 - np.mean((t - model.predict(Z)) ** 2) / np.var(t), cpu))
            if runs:
                found[side] = np.mean(runs, axis=0)
        for side, (r2, _) in found.items():
            ranks[side].append(1.0 + sum(other > r2 for other, _ in found.values()))
        shown = ", ".join(f"{side} {r2:.3f} {cpu:.1f} s" for side, (r2, cpu) in found.items())
        yield f"{name:14s} {len(y):5d} x {X.shape[1]:2d}: {shown}"
    yield "mean rank in R²: " + ", ".join(f"{side} {np.mean(values):.2f}" for side, values in ranks.items() if values)


def settings(name: str, values: tuple[str, ...], sets: tuple[str, ...], n: int, splits: int) -> Iterator[str]:
    """R² and negative log density of test rows, and CPU seconds, for values of a setting: medians over splits."""
    for one in sets:
        shown = []
        for value in values:
            runs = []
            for seed in range(splits):
                X, y, Z, t = rows_of(one, n, seed)
                began = time.process_time()
                model = _fit(X, y, **{name: value})
                cpu = time.process_time() - began
                runs.append((model.score(Z, t), -model.log_density(Z, t).mean(), cpu))
            r2, loss, cpu = np.median(runs, axis=0)
            shown.append(f"{value} {r2:.3f} {loss:.3f} {cpu:.1f} s")
        yield f"{one:14s} {len(y):5d} x {X.shape[1]:2d}: {', '.join(shown)}"


def noise(sizes: tuple[int, ...], levels: tuple[float, ...], n_active: int) -> Iterator[str]:
    """Error against the noise-free function in units of its deviation, single precision against double."""
    for n in sizes:
        for level in levels:
            rng = np.random.default_rng(n)
            X, Z = rng.uniform(-2, 2, (n, 4)), rng.uniform(-2, 2, (1000, 4))
            f, g = (np.sin(A[:, 0]) + 0.5 * np.cos(1.3 * A[:, 1]) + 0.3 * A[:, 2] * A[:, 3] for A in (X, Z))
            y, shown = f + level * f.std() * rng.normal(size=n), []
            for dtype in ("float64", "float32"):
                start = time.perf_counter()
                model = _fit(X, y, dtype=dtype, n_active=n_active)
                error = np.sqrt(np.mean((model.predict(Z) - g) ** 2)) / g.std()
                shown.append(f"{dtype} ({model.dtype_}) {error:.2e} {time.perf_counter() - start:5.1f} s")
            yield f"{n:6d} rows, noise {level:.0e}: {', '.join(shown)}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("units", "coverage", "table", *SETTINGS, "noise"))
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--noise", nargs="+", type=float, default=[1e-1, 1e-2, 1e-3, 1e-4, 1e-6])
    parser.add_argument("--active", type=int, default=500)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sides", nargs="+", choices=PEERS, default=list(PEERS))
    given = parser.parse_args()
    if given.part == "units":
        lines = units(tuple(given.sets or UNIT_SETS), max(given.sizes or [500]))
    elif given.part == "coverage":
        lines = coverage(tuple(given.sets or (*COVERAGE_SETS, *MADE)), tuple(given.sizes or (20, 50, 200, 500, 2000)))
    elif given.part == "table":
        lines = table(tuple(given.sets or TABLE_SETS), max(given.sizes or [2000]), given.splits, tuple(given.sides))
    elif given.part in SETTINGS:
        chosen = given.sets or (*CHOSEN_ON, *CONFIRMED_ON)
        lines = settings(*SETTINGS[given.part], tuple(chosen), max(given.sizes or [2000]), given.splits)
    else:
        lines = noise(tuple(given.sizes or (500, 2500, 20000)), tuple(given.noise), given.active)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
