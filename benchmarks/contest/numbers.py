"""Who takes part in the table with numbers: infovec at its defaults, peers at theirs, and the same peers tuned.

Peers that predict a number only get a normal distribution around it, as wide as their errors in cross-validation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .rows import Rows

__all__ = ["NUMBER_SIDES", "judge_numbers"]

Predict = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | float]]
NUMBER_SIDES = ("infovec", "svr", "ridge", "nystroem", "boosting", "forest", "gp", "svr-default", "boosting-default",
                "forest-default", "frequencies")  # fmt: skip
FOLDS, FEATURES = 3, 300


def _svr(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.svm import SVR

    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.1 / p, 0.3 / p, 1.0 / p, 3.0 / p], "epsilon": [0.03, 0.1]}
    return SVR(cache_size=500), grid


def _ridge(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.linear_model import Ridge

    return Ridge(), {"alpha": np.logspace(-3, 3, 13).tolist()}


def _nystroem(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from ..peers import nystroem_ridge

    gamma = [0.03 / p, 0.1 / p, 0.3 / p, 1.0 / p]
    grid = {"nystroem__gamma": gamma, "ridge__alpha": [1e-4, 1e-3, 1e-2, 1e-1]}
    return nystroem_ridge(min(FEATURES, n // 2), 1.0 / p, 1e-2), grid


def _boosting(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.ensemble import HistGradientBoostingRegressor

    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [5, 31], "max_iter": [100, 300]}
    return HistGradientBoostingRegressor(random_state=0), grid


def _forest(n: int, p: int) -> tuple[Any, dict[str, Any]]:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=0), {"min_samples_leaf": [1, 3, 10], "max_features": [0.35, 1.0]}


PEERS = {"svr": _svr, "ridge": _ridge, "nystroem": _nystroem, "boosting": _boosting, "forest": _forest}


def _predictor(side: str, X: np.ndarray, y: np.ndarray) -> Predict:
    """Fit a side to targets of mean zero and deviation one; return what predicts means and deviations."""
    from sklearn.dummy import DummyRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.model_selection import GridSearchCV, cross_val_predict

    n, p = X.shape
    if side == "gp":
        kernel = ConstantKernel(1.0) * RBF(np.sqrt(p)) + WhiteKernel(0.1)
        gp = GaussianProcessRegressor(kernel, random_state=0).fit(X, y)
        return lambda Z: gp.predict(Z, return_std=True)
    if side == "frequencies":
        model = DummyRegressor().fit(X, y)
    else:
        model, grid = PEERS[side.removesuffix("-default")](n, p)
        if not side.endswith("-default"):
            search = GridSearchCV(model, grid, cv=FOLDS, scoring="neg_mean_squared_error").fit(X, y)
            model = search.best_estimator_
    width = float(np.sqrt(np.mean((y - cross_val_predict(model, X, y, cv=5)) ** 2)))
    model.fit(X, y)
    return lambda Z: (model.predict(Z), max(width, 1e-6))


def judge_numbers(side: str, rows: Rows) -> dict[str, float]:
    """Fit a side; return its negative log density, its squared error in percent of the variance, and CPU seconds.

    The density is of targets whose deviation among the training rows is one. The calibration error is the distance of
    the shares of targets in central intervals from 10 to 90 % from what they should be, in percent.
    """
    from scipy.stats import norm

    from infovec import IVMRegressor

    from ..measure import cpu_seconds

    X, y, Z, t = rows
    y, t = (y - y.mean()) / y.std(), (t - y.mean()) / y.std()
    levels = np.linspace(0.1, 0.9, 9)
    if side == "infovec":
        with cpu_seconds() as spent:
            model = IVMRegressor(random_state=0).fit(X, y)
        mean, density = model.predict(Z), model.log_density(Z, t)
        low, high = (model.predict_quantiles(Z, 0.5 + sign * 0.5 * levels) for sign in (-1.0, 1.0))
    else:
        with cpu_seconds() as spent:
            predict = _predictor(side, X, y)
        mean, deviation = predict(Z)
        density = norm.logpdf(t, mean, deviation)
        reach = np.multiply.outer(np.broadcast_to(deviation, mean.shape), norm.ppf(0.5 + 0.5 * levels))
        low, high = mean[:, None] - reach, mean[:, None] + reach
    inside = np.mean((t[:, None] >= low) & (t[:, None] <= high), axis=0)
    return {
        "loss": -float(np.mean(density)),
        "error": 100.0 * float(np.mean((t - mean) ** 2) / np.var(t)),
        "calibration": 100.0 * float(np.mean(np.abs(inside - levels))),
        "seconds": spent(),
    }
