"""Single precision predicts as well as double, or is not used: log loss, near duplicates, extreme kernels."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1, make_moons
from sklearn.model_selection import train_test_split

from infovec import IVMClassifier, IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian


def moons(n=3000):
    X, y = make_moons(n, noise=0.35, random_state=0)
    return 0.7, *train_test_split(X, y, test_size=0.4, random_state=0)


def digits():
    X, y = load_digits(return_X_y=True)
    return 30.0, *train_test_split(X, y == 8, test_size=0.4, random_state=0)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return 5.0, *train_test_split(X, y, test_size=0.5, random_state=0)


def friedman(n=3000):
    X, y = make_friedman1(n, n_features=6, noise=0.3, random_state=0)
    y = (y - y.mean()) / y.std()
    return 1.0, *train_test_split(X, y, test_size=0.4, random_state=0)


TASKS = {"moons": moons, "digits": digits, "cancer": cancer, "friedman": friedman}


def doubled(X, y):
    """Every row twice, the second time changed in the seventh digit."""
    rng = np.random.default_rng(5)
    order = rng.permutation(2 * len(y))
    X = np.vstack([X, X * (1.0 + 1e-6 * rng.standard_normal(X.shape))])
    return X[order], np.concatenate([y, y])[order]


def loss(dtype, X, y, Z, t, kernel, n_active, **settings):
    """Mean negative log probability of the test rows; what is predicted must be possible."""
    real = y.dtype.kind == "f"
    estimator = IVMRegressor if real else IVMClassifier
    model = estimator(
        kernel=kernel, likelihood=Gaussian(0.1) if real else "probit", approximation="factorised", learn=None,
        n_active=n_active, dtype=dtype, random_state=0, **settings,
    ).fit(X, y)  # fmt: skip
    mean, std = model.predict_latent(Z)
    assert np.all(np.isfinite(mean))
    assert np.all(std > 0.0)
    assert len(model.active_) == n_active
    if real:
        return -np.mean(model.log_density(Z, t))
    return -np.mean(model.predict_log_proba(Z)[np.arange(len(t)), np.searchsorted(model.classes_, t)])


def compare(monkeypatch, X, y, Z, t, kernel, n_active, **settings):
    monkeypatch.setattr("infovec.estimators.training._SMALL_STUBS", 0)  # single precision even for few rows
    double, single = (loss(dtype, X, y, Z, t, kernel, n_active, **settings) for dtype in ("float64", "float32"))
    assert single == pytest.approx(double, rel=0.01)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("factor", "variance"),
    [(1, 1), (1, 100), (1, 1e4), (1, 1e6), (0.01, 100), (0.1, 100), (10, 100), (100, 100), (0.01, 1e6), (0.1, 1e4),
     (10, 1e4), (10, 1e6), (100, 1e4), (100, 1e6)],
)  # fmt: skip
@pytest.mark.parametrize("task", TASKS)
def test_log_loss_hardly_depends_on_the_precision(task, factor, variance, copies, monkeypatch):
    scale, X, Z, y, t = TASKS[task]()
    X, y = doubled(X, y) if copies == 2 else (X, y)
    compare(monkeypatch, X, y, Z, t, RBF(factor * scale, variance) + Bias(0.1 * variance), 120)
