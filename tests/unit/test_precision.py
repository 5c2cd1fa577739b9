"""Single precision predicts as well as double, or is not used: log loss, near duplicates, extreme kernels."""

import tracemalloc

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor
from oracles import DenseADF
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1, make_moons
from sklearn.model_selection import train_test_split

from infovec.kernels import RBF, Bias, Matern
from infovec.kernels.geometry import distances_to
from infovec.likelihoods import Gaussian, Poisson, Probit, StudentT
from infovec.numerics.sharpness import rows_left
from infovec.selection.precision import sufficient_precision


def moons(n=2000):
    X, y = make_moons(n, noise=0.35, random_state=0)
    return 0.7, *train_test_split(X, y, test_size=0.4, random_state=0)


def digits():
    X, y = load_digits(return_X_y=True)
    return 30.0, *train_test_split(X, y == 8, test_size=0.4, random_state=0)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return 5.0, *train_test_split(X, y, test_size=0.5, random_state=0)


def friedman(n=2000):
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
    monkeypatch.setattr("infovec.machines.prepare.SMALL_STUBS", 0)  # single precision even for few rows
    double, single = (loss(dtype, X, y, Z, t, kernel, n_active, **settings) for dtype in ("float64", "float32"))
    assert single == pytest.approx(double, rel=0.01)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("factor", "variance"),
    [(1, 1e4), (1, 1e6), (0.01, 1e6), (0.1, 100), (10, 100), (10, 1e4), (10, 1e6), (100, 100), (100, 1e6)],
)
@pytest.mark.parametrize("task", TASKS)
def test_log_loss_hardly_depends_on_the_precision(task, factor, variance, copies, monkeypatch):
    scale, X, Z, y, t = TASKS[task]()
    X, y = doubled(X, y) if copies == 2 else (X, y)
    compare(monkeypatch, X, y, Z, t, RBF(factor * scale, variance) + Bias(0.1 * variance), 100)


@pytest.mark.parametrize("way", [{"block_size": 1}, {"selection": "shrinking"}, {"selection": "refilled"}])
def test_nor_in_other_ways_of_selection(way, monkeypatch):
    scale, X, Z, y, t = moons()
    compare(monkeypatch, X, y, Z, t, Matern(30.0 * scale, 1e5, nu=2.5) + Bias(1e4), 220, **way)


@pytest.mark.parametrize(("factor", "variance"), [(1, 100), (10, 1e4), (100, 1e6), (0.01, 1)])
def test_digits_of_usps(factor, variance, dataset, monkeypatch):
    data = dataset("usps")
    X, y, Z, t = data["X_train"][::3], data["y_train"][::3] == 8, data["X_test"][::2], data["y_test"][::2] == 8
    compare(monkeypatch, X, y, Z, t, RBF(10.0 * factor, variance) + Bias(0.1), 150)


@pytest.mark.parametrize(("factor", "variance"), [(1, 3), (1, 1e4), (10, 100), (100, 1e6), (0.01, 1e6)])
def test_robot_arm(factor, variance, dataset, monkeypatch):
    data = dataset("kin8nm")
    X, y = data["X"], (data["y"] - data["y"].mean()) / data["y"].std()
    X, Z, y, t = train_test_split(X, y, train_size=2500, test_size=1000, random_state=0)
    compare(monkeypatch, X, y, Z, t, RBF(factor * np.sqrt(np.sum(X.var(axis=0))), variance) + Bias(0.1 * variance), 150)


@pytest.mark.parametrize(
    ("factor", "variance", "expected"),
    [(1, 100, "float32"), (1, 1e6, "float32"), (0.5, 1, "float32"), (10, 1, "float32"), (10, 100, "float64"),
     (100, 1e6, "float64"), (0.01, 100, "float64")],
)  # fmt: skip
def test_precision_is_raised_only_where_needed(factor, variance, expected):
    scale, X, _, y, _ = digits()
    given = X, 2.0 * y - 1.0, np.random.default_rng(0).random(len(y)), RBF(factor * scale, variance)
    assert sufficient_precision("float32", *given, Probit()) == expected
    assert sufficient_precision("float64", *given, Probit()) == "float64"
    single = sparse.csr_matrix(X.astype(np.float32))
    assert sufficient_precision("float32", single, *given[1:], Probit()) == expected


def test_noise_decides_which_precision_is_needed():
    scale, X, _, y, _ = friedman()
    given = X, y, np.random.default_rng(0).random(len(y)), RBF(3.0 * scale, 1.0)
    assert sufficient_precision("float32", *given, Gaussian(1.0)) == "float32"
    assert sufficient_precision("float32", *given, Gaussian(1e-3)) == "float64"
    one_each = Gaussian(np.where(np.arange(len(y)) % 2, 1e-3, 1e-4))
    assert sufficient_precision("float32", *given, one_each) == "float64"


@pytest.mark.parametrize(
    "likelihood", [Gaussian(0.1), Probit(), Poisson(), StudentT(0.3)], ids=lambda v: type(v).__name__
)
def test_rows_left_are_those_of_dense_moment_matching(likelihood):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    y = np.sign(X[:, 0]) if isinstance(likelihood, Probit) else np.round(2.0 + np.sin(X[:, 0]))
    K = RBF(1.0, 3.0)(X)
    dense, left = DenseADF(K), np.arange(25)
    for _ in range(8):
        _, g, nu = likelihood.tilted(y, dense.mean, np.diagonal(dense.cov).copy())
        i = left[np.argmax((np.diagonal(dense.cov) * nu)[left])]
        dense.include(i, g[i], nu[i])
        left = np.setdiff1d(left, i)
    var = np.diagonal(dense.cov).copy()
    nu = likelihood.tilted(y, dense.mean, var)[2]
    found = list(rows_left(lambda i: K[i], np.diagonal(K), lambda mean, var: likelihood.tilted(y, mean, var), 8))
    assert len(found) == 8
    np.testing.assert_allclose(found[-1].sharpness, 3.0 * nu[left], rtol=1e-7)
    np.testing.assert_allclose(found[-1].reduction, -0.5 * np.log(1.0 - var * nu)[left], rtol=1e-7)


def test_the_plan_knows_of_raised_precision(monkeypatch):
    monkeypatch.setattr("infovec.machines.prepare.SMALL_STUBS", 0)
    scale, X, _, y, _ = friedman()
    settings = {"likelihood": Gaussian(0.1), "approximation": "factorised", "n_active": 100, "random_state": 0}
    raised = IVMRegressor(kernel=RBF(100.0 * scale, 1e4), **settings).plan(X, y)
    single = IVMRegressor(kernel=RBF(scale, 0.1), **settings).plan(X, y)
    assert (raised.dtype, single.dtype) == ("float64", "float32")
    assert raised.memory > 1.3 * single.memory
    capped = IVMRegressor(kernel=RBF(100.0 * scale, 1e4), max_memory=int(0.8 * raised.memory), **settings).plan(X, y)
    assert capped.memory <= 0.8 * raised.memory


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("norm", [1.0, 1e2, 1e4])
def test_distances_of_near_duplicates_in_single_precision(norm, form):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 20))
    Z *= norm / np.linalg.norm(Z, axis=1, keepdims=True)
    Z = np.vstack([Z, 0.1 * Z[:20]]).astype(np.float32)
    X = (Z[::3] + 0.05 * rng.standard_normal((27, 20))).astype(np.float32)
    exact = np.sum((X[:, None].astype(np.float64) - Z.astype(np.float64)) ** 2, axis=2)
    D = distances_to(form(Z))(form(X))
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("unit", [1e-18, 1e-3, 1.0, 1e3, 1e18])
@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_distances_with_scaled_columns(large, ard, unit, offset, dtype, monkeypatch):
    if large:
        monkeypatch.setattr("infovec.kernels.geometry._LARGE", 0)
    rng = np.random.default_rng(1)
    X, Z = (offset + rng.standard_normal((n, 12)) for n in (9, 40))
    X, Z = (unit * X).astype(dtype), (unit * Z).astype(dtype)
    factor = (np.geomspace(0.1, 3.0, 12) if ard else 0.7) / unit
    exact = np.sum((factor * (X[:, None].astype(np.float64) - Z.astype(np.float64))) ** 2, axis=2)
    D = distances_to(Z, factor)(X)
    assert D.dtype == dtype
    np.testing.assert_allclose(D, exact, rtol=1e-4 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("length_scale", [40.0, np.linspace(20.0, 60.0, 500)], ids=["one", "each"])
def test_a_kernel_bound_to_centred_rows_keeps_no_copy_of_them(length_scale):
    Z = np.random.default_rng(0).standard_normal((2200, 500)).astype(np.float32)

    def kept(inputs):
        tracemalloc.start()
        try:
            block = RBF(length_scale, 2.0).on(inputs)
            size = tracemalloc.get_traced_memory()[0]
            np.testing.assert_allclose(block(inputs[:2]).diagonal(), 2.0, rtol=1e-4)
            return size / inputs.nbytes
        finally:
            tracemalloc.stop()

    assert kept(Z) < 0.02
    assert kept(Z + np.float32(10.0)) > 0.9  # moved to their mean
