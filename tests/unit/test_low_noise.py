"""Single precision is used where it is enough, for every posterior, and what little variance is left is told."""

import mpmath
import numpy as np
import pytest

from infovec import IVMClassifier, IVMRegressor
from infovec.inference import make_basis, predict_bytes, sharp_sites, too_sharp
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian, Poisson, Probit
from infovec.likelihoods.parts import row_bytes
from infovec.numerics.cholesky import inverse_lower
from infovec.posterior import ProjectedPosterior
from infovec.runtime import work_within
from infovec.shards import Beliefs, ProjectedShard


def smooth(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = rng.uniform(-2, 2, (n, 3)), rng.uniform(-2, 2, (300, 3))
    f, g = (np.sin(A[:, 0]) + 0.5 * np.cos(1.3 * A[:, 1]) + 0.3 * A[:, 2] for A in (X, Z))
    return X, f + noise * f.std() * rng.normal(size=n), Z, g


@pytest.fixture
def single(monkeypatch):
    """Single precision even for few rows."""
    for place in ("prepare", "training"):
        monkeypatch.setattr(f"infovec.estimators.{place}.SMALL_STUBS", 0)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-6])
@pytest.mark.usefixtures("single")
def test_default_fits_are_as_good_as_in_double_precision(noise, approximation):
    X, y, Z, g = smooth(400, noise)
    error = {}
    for dtype in ("float64", "float32"):
        model = IVMRegressor(n_active=100, dtype=dtype, approximation=approximation, random_state=0).fit(X, y)
        error[dtype] = np.sqrt(np.mean((model.predict(Z) - g) ** 2))
    assert error["float32"] < 1.1 * error["float64"]
    assert noise > 0.01 or model.dtype_ == "float64"


@pytest.mark.parametrize("noise", [0.3, 0.1, 0.05])
@pytest.mark.usefixtures("single")
def test_single_precision_with_active_rows_that_nearly_repeat_each_other(noise):
    X, y, Z, _ = smooth(1200, noise)
    kernel, found = RBF(2.0, 1.0) + Bias(0.1), {}
    for dtype in ("float64", "float32"):
        model = IVMRegressor(
            kernel=kernel, likelihood=Gaussian(noise**2), learn=None, n_active=150, score="random", dtype=dtype,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        found[dtype] = *model.predict_latent(Z), model.log_evidence_
    assert model.dtype_ == "float32"
    (mean, std, evidence), (mean32, std32, evidence32) = found["float64"], found["float32"]
    assert np.sqrt(np.mean(((mean32 - mean) / std) ** 2)) < 0.03
    assert np.sqrt(np.mean((std32 / std - 1.0) ** 2)) < 0.05
    assert evidence32 == pytest.approx(evidence, abs=2.0)


@pytest.mark.usefixtures("single")
def test_the_precision_that_was_used_is_told():
    X, y, _, _ = smooth(300, 0.5)
    settings = {"n_active": 40, "random_state": 0}
    assert IVMRegressor(**settings).fit(X, y).dtype_ == "float32"
    assert IVMRegressor(dtype="float64", **settings).fit(X, y).dtype_ == "float64"
    sharp = IVMRegressor(kernel=RBF(1.0, 1.0), likelihood=Gaussian(1e-6), learn=None, **settings).fit(X, y)
    assert sharp.dtype_ == "float64"
    counts = np.random.default_rng(0).poisson(1e6 * np.exp(0.1 * y)).astype(float)
    assert IVMRegressor(likelihood="poisson", **settings).fit(X, counts).dtype_ == "float64"
    labels = np.digitize(y, [-0.5, 0.5])
    for form in ({}, {"multi_class": "probit"}, {"multi_class": "variational"}, {"approximation": "factorised"}):
        model = IVMClassifier(learn=None, kernel=RBF(1.0, 1.0), **settings, **form).fit(X, labels)
        assert model.dtype_ in ("float32", "float64")
    huge = IVMClassifier(kernel=RBF(8.0, 1e9), learn=None, **settings).fit(X, labels)
    assert huge.dtype_ == "float64"


def needed_within(limit):
    with work_within(limit):
        return predict_bytes(3000, 3, 60, 8, 0, row_bytes(Gaussian(0.1)))


@pytest.mark.usefixtures("single")
def test_double_precision_that_does_not_fit_is_warned_of():
    X, y, _, _ = smooth(3000, 0.5)
    settings = {"kernel": RBF(1.0, 1.0), "n_active": 60, "random_state": 0, "learn": None}
    short = predict_bytes(3000, 3, 60, 8, 0)
    while needed_within(short) <= short:  # with less memory loops take fewer rows at once
        short = int(0.99 * short)
    assert IVMRegressor(likelihood=Gaussian(0.1), max_memory=short, **settings).plan(X, y).dtype == "float32"
    model = IVMRegressor(likelihood=Gaussian(1e-6), max_memory=short, **settings)
    with pytest.warns(UserWarning, match="single precision is not enough"):
        assert model.plan(X, y).dtype == "float32"


def test_sharpness_by_hand():
    X, y = 100.0 * np.arange(10.0)[:, None], np.arange(10.0)
    priority = np.linspace(0, 1, 10)
    for noise, expected in ((2e-3, False), (5e-4, True)):
        assert sharp_sites(X, y, priority, RBF(1.0, 1.0), Gaussian(noise)) is expected
    assert not sharp_sites(X, np.sign(y - 4.5), priority, RBF(1.0, 1e6), Probit())
    assert sharp_sites(X, 1e6 + y, priority, RBF(1.0, 1.0), Poisson(np.log(1e6)))
    assert not sharp_sites(X, y, priority, RBF(1.0, 1.0) + Bias(1e9), Gaussian(2e-3))  # what rows share does not count
    kernel = RBF(1.0, 2.0)
    shard = ProjectedShard(np.arange(10), X, y, kernel, Gaussian(1.0), "float32")
    shard.project(make_basis(kernel, np.arange(3), X[:3], "float32"))
    weak = Beliefs(np.eye(3), np.zeros(3))
    shard.precision[:] = 4e2  # times the prior variance: below the limit
    assert not too_sharp(shard, weak)
    assert too_sharp(shard, weak, sharpest=300.0)
    assert too_sharp(shard, Beliefs(4e3 * np.eye(3), np.zeros(3)))
    shard.precision[:] = 1e3
    assert too_sharp(shard, weak)
    shard.dtype = "float64"
    assert not too_sharp(shard, weak)


def test_projections_in_single_precision_do_not_suffer_from_rows_that_are_alike():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    active, kernel = np.arange(80), RBF(1.5, 1.0)
    V = {}
    for dtype in ("float64", "float32"):
        basis = make_basis(kernel, active, X[active].astype(dtype), "float32")
        shard = ProjectedShard(np.arange(400), X.astype(dtype), X[:, 0], kernel, Gaussian(1.0), dtype)
        shard.project(basis)
        V[dtype] = np.concatenate([shard.features(chunk) for chunk in shard.chunks])
    assert V["float32"].dtype == np.float32
    exact = kernel(X.astype(np.float32).astype(np.float64), X[active].astype(np.float32).astype(np.float64))
    exact[active, active] = 1.0
    L = make_basis(kernel, active, X[active].astype(np.float32), "float32").L
    np.testing.assert_allclose(V["float32"], exact @ inverse_lower(L).T, atol=3e-6)


def test_variances_that_are_next_to_nothing_beside_the_prior():
    rng = np.random.default_rng(0)
    X, Z, kernel, noise = rng.uniform(-1, 1, (14, 1)), rng.uniform(-1, 1, (6, 1)), RBF(0.6, 1e6), 1e-5
    L = make_basis(kernel, np.arange(14), X, "float64").L
    K = kernel(X)
    V = np.linalg.solve(L, K)
    Q = np.linalg.cholesky(np.eye(14) + V @ V.T / noise)
    found = ProjectedPosterior(kernel, X, L, Q, np.zeros(14)).predict(Z)[1]
    with mpmath.workdps(60):

        def k(A, B):
            square = lambda a, b: (mpmath.mpf(float(a)) - mpmath.mpf(float(b))) ** 2  # noqa: E731
            return mpmath.matrix([[1e6 * mpmath.exp(-square(a, b) / (2 * mpmath.mpf(0.6) ** 2)) for b in B] for a in A])

        A, C = k(X[:, 0], X[:, 0]), k(Z[:, 0], X[:, 0])
        for i in range(14):
            A[i, i] += noise
        solved = [mpmath.lu_solve(A, C[i, :].T) for i in range(6)]
        exact = [float(1e6 - (C[i, :] * solved[i])[0]) for i in range(6)]
    np.testing.assert_allclose(found, exact, rtol=0.05, atol=1e-6)
    assert np.all(found > 0.0)


def test_variances_where_rounding_makes_the_posterior_wider_than_the_prior():
    rng = np.random.default_rng(0)
    X, kernel = rng.uniform(-1, 1, (30, 1)), RBF(0.5, 1.0)
    L = make_basis(kernel, np.arange(30), X, "float32").L
    V = np.linalg.solve(L, kernel(X))
    M = np.eye(30) + 1e4 * V @ V.T
    rounded = M.astype(np.float32).astype(np.float64) - 1e-4 * np.eye(30)  # eigenvalues of one that fell below it
    exact, found = (
        ProjectedPosterior(kernel, X, L, np.linalg.cholesky(A), np.zeros(30)).predict(X)[1] for A in (M, rounded)
    )
    np.testing.assert_allclose(found, exact, rtol=0.02)
