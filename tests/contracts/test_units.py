"""What a number is measured in must not matter: every form of the regressor, in other units of y and of the columns."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import infovec
from infovec import IVMClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    FromFunction,
    Linear,
    MainEffects,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Relevance,
    White,
)
from infovec.learning import Learning
from infovec.likelihoods import Gaussian, Laplace, Likelihood, Poisson, StudentT, weighted
from infovec.machines.defaults import REAL_LIKELIHOODS

WITH_UNITS = [name for name, make in REAL_LIKELIHOODS.items() if make(np.ones(3), None).in_unit(0.0, 2.0) is not None]
FORMS = [
    {}, {"approximation": "factorised"}, {"learn": None}, {"approximation": "factorised", "learn": "active_set"},
    {"learn": "variational"}, {"blur": False}, {"score": "variance"}, {"n_active": "auto"},
]  # fmt: skip
UNITS = [(1e-12, 0.0), (1e-5, 0.0), (1e6, 0.0), (1e12, 0.0), (1.0, 1e6), (3e7, -2e6)]  # and offsets, in deviations


def diabetes(n=120):
    X, y = load_diabetes(return_X_y=True)
    return X[:n], y[:n], X[n : n + 60]


def told(model, X, y, Z, unit=1.0, offset=0.0, weight=None):
    """Predictions in the unit of y, and the evidence of y itself."""
    offset = offset * y.std() * unit
    model.fit(X, unit * y + offset, weight)
    mean, std = model.predict(Z, return_std=True)
    counted = len(y) if weight is None else weight.sum()
    return np.stack([(mean - offset) / unit, std / unit]), model.log_evidence_ + counted * np.log(unit)


def check_same(found, expected, y, rtol=1e-6):
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=rtol * y.std())
    assert found[1] == pytest.approx(expected[1], abs=1e-4)


def test_the_likelihoods_that_have_units():
    assert sorted(WITH_UNITS) == ["gaussian", "laplace", "student_t"]  # what else comes must be thought about here


@pytest.mark.parametrize("likelihood", WITH_UNITS)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_unit_of_the_targets(form, likelihood):
    X, y, Z = diabetes(150 if form.get("n_active") == "auto" else 60)
    model = IVMRegressor(likelihood=likelihood, random_state=0, **{"n_active": 25, "dtype": "float64", **form})
    expected = told(model, X, y, Z)
    for unit, offset in UNITS if not form else UNITS[::5]:
        check_same(told(model, X, y, Z, unit, offset), expected, y)


@pytest.mark.parametrize("name", ["autompg", "housing", "machine_cpu", "yacht", "concrete"])
def test_real_sets_in_other_units(name, dataset):
    data = dataset(name)
    X, y = data["X"][::2], data["y"][::2].astype(np.float64)
    X, y, Z = X[:250], y[:250], data["X"][1::2][:100]
    columns = 10.0 ** np.random.default_rng(0).uniform(-8, 8, X.shape[1])
    for dtype, rtol in (("float64", 1e-6), ("float32", 1e-3)):
        model = IVMRegressor(n_active=60, dtype=dtype, random_state=0)
        expected = told(model, X, y, Z)
        check_same(told(model, columns * X, y, columns * Z), expected, y, rtol)
        for unit, offset in UNITS[::5]:
            check_same(told(model, X, y, Z, unit, offset), expected, y, rtol)


def test_single_precision_in_other_units(monkeypatch):
    monkeypatch.setattr("infovec.machines.prepare.SMALL_STUBS", 0)
    monkeypatch.setattr("infovec.machines.machine.SMALL_STUBS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y, Z = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=500), rng.normal(size=(100, 3))
    model = IVMRegressor(n_active=80, random_state=0)
    expected = told(model, X, y, Z)
    assert model.dtype_ == "float32"
    for unit, offset, columns in (
        (1e-9, 0.0, 1.0),
        (1e9, 0.0, 1.0),
        (1.0, 1e6, 1.0),
        (1.0, 0.0, np.array([1e-8, 1, 1e8])),
    ):
        found = told(model, columns * X, y, columns * Z, unit, offset)
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-3 * y.std())


@pytest.mark.parametrize("estimator", [IVMRegressor, IVMClassifier, infovec.IVMOrdinalClassifier])
def test_the_units_of_the_columns(estimator):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(150, 5)), rng.normal(size=(40, 5))
    y = X[:, 0] + np.sin(2 * X[:, 1])
    y = y if estimator is IVMRegressor else (y > 0) + (y > 1) * (estimator is not IVMClassifier)
    model = estimator(n_active=40, random_state=0)

    def predicted(columns):
        model.fit(columns * X, y)
        return model.predict(columns * Z) if estimator is IVMRegressor else model.predict_proba(columns * Z)

    expected = predicted(1.0)
    for seed in range(2):
        columns = 10.0 ** np.random.default_rng(seed).uniform(-8, 8, 5)
        np.testing.assert_allclose(predicted(columns), expected, atol=1e-6)


def test_what_the_user_gives_keeps_its_unit():
    X, y, Z = diabetes()
    kernel, likelihood = RBF(0.1, 4000.0) + Bias(900.0), Gaussian(3000.0, bias=120.0)
    model = IVMRegressor(kernel=kernel, likelihood=likelihood, learn=None, n_active=40, random_state=0).fit(X, y)
    assert model.kernel_ == kernel == model.posterior_.kernel
    assert model.likelihood_ == likelihood
    K = kernel(X[model.active_])  # a dense Gaussian process on the active rows alone, in units of y
    factorised = IVMRegressor(
        kernel=kernel, likelihood=likelihood, approximation="factorised", learn=None, n_active=40, random_state=0
    ).fit(X, y)  # fmt: skip
    active = factorised.active_
    K = kernel(X[active]) + 3000.0 * np.eye(40)
    k = kernel(Z, X[active])
    mean, std = factorised.predict(Z, return_std=True)
    np.testing.assert_allclose(mean, 120.0 + k @ np.linalg.solve(K, y[active] - 120.0), rtol=1e-8)
    left = kernel.diag(Z) - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T))
    np.testing.assert_allclose(std**2, left + 3000.0, rtol=1e-8)
    np.testing.assert_allclose(factorised.site_precision_, 1 / 3000.0, rtol=1e-12)
    np.testing.assert_allclose(factorised.site_mean_, y[active] - 120.0, rtol=1e-9)


def test_evidence_is_that_of_the_targets_in_their_unit():
    X, y, _ = diabetes(80)
    kernel, noise = RBF(0.1, 4000.0), 3000.0
    model = IVMRegressor(kernel=kernel, likelihood=Gaussian(noise), learn=None, n_active=80, random_state=0).fit(X, y)
    K = kernel(X) + noise * np.eye(80)
    exact = -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1] + 80 * np.log(2 * np.pi))
    assert model.log_evidence_ == pytest.approx(exact, rel=1e-9)
    weight = np.full(80, 2.0)
    twice = IVMRegressor(kernel=kernel, likelihood=Gaussian(noise), learn=None, n_active=80).fit(X, y, weight)
    K2 = kernel(X) + noise / 2 * np.eye(80)
    log_z = -0.5 * (y @ np.linalg.solve(K2, y) + np.linalg.slogdet(K2)[1] + 80 * np.log(2 * np.pi))
    change = 80 * (
        -0.5 * np.log(2 * np.pi * noise) * 2 + 0.5 * np.log(2 * np.pi * noise / 2)
    )  # p^2 against N(., s / 2)
    assert twice.log_evidence_ == pytest.approx(log_z + change, rel=1e-9)


def test_steps_of_learning_are_in_the_unit_of_the_targets():
    X, y, _ = diabetes()
    for approximation in ("projected", "factorised"):
        model = IVMRegressor(n_active=60, approximation=approximation, random_state=0)
        one = model.fit(X, y).history_["criterion"]
        other = model.fit(X, 1000.0 * y).history_["criterion"]
        np.testing.assert_allclose(other, one - len(y) * np.log(1000.0), rtol=1e-6)


def test_weights_and_units_together():
    X, y, Z = diabetes()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    model = IVMRegressor(n_active=40, random_state=0)
    expected = told(model, X, y, Z, weight=weight)
    check_same(told(model, X, y, Z, 1e7, 100.0, weight), expected, y)


KERNELS = [
    RBF(0.5, 2.0), Matern(0.5, 2.0), Exponential(0.5, 2.0), RationalQuadratic(0.5, 2.0), Linear(2.0), Bias(2.0),
    Polynomial(2, 1.0, 2.0), MLP(2.0), Periodic(RBF(1.0, 2.0)), White(2.0), Relevance(RBF(1.0, 2.0), np.full(2, 0.5)),
    MainEffects(RBF(0.5, 2.0)),
    RBF() + Linear(), RBF() * Linear(), 3.0 * RBF(), FromFunction(lambda A, B: A @ B.T), Precomputed(np.eye(5)),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_multiples_of_kernels_are_of_the_same_form(kernel):
    X = np.random.default_rng(0).normal(size=(5, 2))
    if isinstance(kernel, Precomputed):
        X = np.arange(5.0)[:, None]
    twice = kernel.times(2.5)
    assert type(twice) is type(kernel)
    assert twice.parameter_names == kernel.parameter_names
    np.testing.assert_allclose(twice(X), 2.5 * kernel(X), rtol=1e-12)


def test_a_kernel_that_cannot_be_multiplied_is_fitted_as_it_is():
    class Own(RBF):
        amplitude = None

    X, y, Z = diabetes()
    assert (Own() + Bias()).times(2.0) is None
    product = Own() * RBF()
    np.testing.assert_allclose(product.times(2.0)(X[:5]), 2.0 * product(X[:5]), rtol=1e-12)
    model = IVMRegressor(kernel=Own(0.1, 5000.0) + Bias(1000.0), n_active=40, random_state=0).fit(X, y)
    assert isinstance(model.kernel_.left, Own)
    assert np.mean((model.predict(Z) - y.mean()) ** 2) < 2 * y.var()


NOISE = [Gaussian(0.3, 0.7), Gaussian(np.array([0.1, 0.2, 0.4]), 0.7), Laplace(0.4, -1.0), StudentT(0.4, 3.0, 2.0),
         weighted(Laplace(0.4, 1.0), [1.0, 2.0, 0.5])]  # fmt: skip


@pytest.mark.parametrize("likelihood", NOISE, ids=str)
def test_noise_in_another_unit(likelihood):
    y, f, centre, scale = np.array([1.0, -2.0, 0.3]), np.array([0.2, -1.0, 3.0]), 1.3, 0.2
    there = likelihood.in_unit(centre, scale)
    weight = np.asarray(getattr(likelihood, "weight", 1.0))
    density = there.log_prob((y - centre) / scale, f / scale) - weight * np.log(scale)
    np.testing.assert_allclose(density, likelihood.log_prob(y, f), rtol=1e-12)
    back = there.in_unit(-centre / scale, 1.0 / scale)
    np.testing.assert_allclose(back.log_prob(y, f), likelihood.log_prob(y, f), rtol=1e-12)


def test_what_has_no_unit_says_so():
    class Own(Likelihood):
        def log_prob(self, y, f):
            return -np.abs(y - f)

        def predict(self, mean, var):
            return mean, var

    assert Own().in_unit(0.0, 2.0) is None
    assert Poisson().in_unit(0.0, 2.0) is None


def test_targets_beyond_all_numbers():
    X, y, _ = diabetes()
    for unit in (1e153, 1e200, 1e-160):
        with pytest.raises(ParameterError, match="another unit"):
            IVMRegressor(n_active=20).fit(X, unit * y)


def test_bounds_that_were_asked_for_are_in_the_unit_of_the_targets():
    X, y, _ = diabetes()
    learning = Learning(bounds={"likelihood.variance": (4000.0, 4100.0)})
    model = IVMRegressor(learn=learning, n_active=40, random_state=0).fit(X, y)
    assert 3999.999 <= model.likelihood_.variance <= 4100.001


def test_going_on_with_targets_in_another_unit_begins_anew():
    X, y, Z = diabetes()
    model = IVMRegressor(n_active=20, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_active=30).fit(X, 2.0 * y)
    fresh = IVMRegressor(n_active=30, random_state=0).fit(X, 2.0 * y)
    np.testing.assert_allclose(model.predict(Z), fresh.predict(Z), rtol=1e-10)


def test_bounds_and_priors_of_length_scales_are_in_the_units_of_the_columns():
    X, y, _ = diabetes()
    X = 1000.0 * X
    learning = Learning(bounds={"kernel.left.length_scale": (90.0, 110.0)})
    model = IVMRegressor(learn=learning, n_active=40, random_state=0).fit(X, y)
    scales = np.atleast_1d(model.kernel_.left.length_scale)
    assert np.all((scales > 89.999) & (scales < 110.001))
