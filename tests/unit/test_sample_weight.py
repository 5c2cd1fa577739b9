"""Weights of rows and of classes given to estimators: what they mean, and that a weight is a repetition."""

import numpy as np
import polars as pl
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from oracles import tilted_by_panels
from scipy.special import ndtri
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infovec
from infovec.kernels import RBF, White
from infovec.learning import Learning
from infovec.likelihoods import Gaussian, Ordinal, Probit, weighted
from infovec.machines.defaults import REAL_LIKELIHOODS, column_spreads, default_kernel, ordinal
from infovec.machines.sample import Sample
from infovec.numerics.normal import log_interval, truncated
from infovec.numerics.power_table import power_table
from infovec.numerics.powers import by_quadrature, ndtr_power_moments


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.3 * rng.normal(size=n), rng.integers(0, 4, size=n)


def test_powers_of_the_cumulative_gaussian_equal_brute_force():
    means, variances = (-60.0, -8.0, -1.0, 0.3, 4.0, 20.0), (1e-3, 0.5, 2.3, 10.0, 1e4)
    grid = np.array([(m, v, w) for m in means for v in variances for w in (1e-3, 0.3, 1.5, 5.5, 50.0)])
    mean, var, power = grid.T
    found = ndtr_power_moments(mean, var, power)
    for i, (m, v, w) in enumerate(grid):
        expected = tilted_by_panels(lambda z, w=w: w * Probit().log_prob(1.0, z), m, v)
        units = np.array([1.0, np.sqrt(v), v])
        np.testing.assert_allclose(units * [part[i] for part in found], units * expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("power", [0.1, 1 / 9, 0.2, 0.25, 0.6, 1.0, 2.0, 5.0])
def test_tables_of_powers_equal_quadrature(power):
    means, variances = (-60.0, -8.0, -2.9, -1.0, 0.3, 4.0, 20.0), (0.0, 1e-9, 1e-3, 0.5, 2.3, 10.0, 1e4, 1e9)
    mean, var = (part.ravel() for part in np.meshgrid(means, variances))
    many = ndtr_power_moments(*(np.tile(part, 4) for part in (mean, var, np.full(mean.size, power))))
    assert power_table.cache_info().currsize
    found = [part[: mean.size] for part in many]
    quadrature = by_quadrature(mean, var, np.full(mean.size, power))
    for units, part, expected in zip((1.0, np.sqrt(1.0 + var), 1.0 + var), found, quadrature, strict=True):
        np.testing.assert_allclose(units * part, units * expected, rtol=3e-6, atol=3e-6)
    for i in np.flatnonzero((var >= 1e-3) & (var <= 1e4)):
        expected = tilted_by_panels(lambda z: power * Probit().log_prob(1.0, z), mean[i], var[i])
        units = np.array([1.0, np.sqrt(var[i]), var[i]])
        np.testing.assert_allclose(units * [part[i] for part in found], units * expected, rtol=3e-6, atol=3e-6)


def test_tables_are_made_for_powers_of_many_rows_only():
    power_table.cache_clear()
    X, y, _ = data(300)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    IVMClassifier(n_active=20, random_state=0).fit(X, y > 0, sample_weight=weight)  # a table for each would take long
    assert power_table.cache_info().misses == 0
    IVMClassifier(n_active=20, random_state=0).fit(X, y > 0, sample_weight=np.where(y > 0, 1.7, 1.0 - 0.2 * weight))
    assert power_table.cache_info().misses == 0
    X, y, _ = data(1000)
    IVMClassifier(n_active=20, random_state=0).fit(X, y > 0, sample_weight=np.where(y > 0, 1.7, 0.8))
    assert power_table.cache_info().misses == 2
    crowd = np.repeat(np.linspace(0.5, 3.0, 40), 250)
    ndtr_power_moments(np.zeros(crowd.size), np.ones(crowd.size), crowd)
    assert power_table.cache_info().misses == 2 + 16


@pytest.mark.parametrize("likelihood", [Ordinal([-1.0, 0.2, 2.0], slope=3.0), Probit(0.4, 2.0)], ids=str)
def test_powers_far_above_the_tables(likelihood):
    for y in likelihood.labels:
        for mean, var, w in ((-3.0, 0.5, 700.0), (0.5, 40.0, 200.0)):
            row = np.array([y]), np.array([mean]), np.array([var])
            found = weighted(likelihood, np.array([w])).tilted(*row)
            centres = [*getattr(likelihood, "thresholds", [0.0]), -getattr(likelihood, "bias", 0.0)]
            expected = tilted_by_panels(lambda f, y=y, w=w: w * likelihood.log_prob(y, f), mean, var, centres)
            np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-5, atol=1e-6)


def test_log_probability_of_intervals():
    lower = np.array([-np.inf, -30.0, -5.0, -0.01, 2.0, 20.0, 3.0, -np.inf])
    upper = np.array([-20.0, -29.0, 5.0, 0.01, np.inf, 20.5, 3.04, np.inf])
    np.testing.assert_allclose(log_interval(lower, upper), truncated(lower, upper).log_z, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("Estimator", [infovec.IVMClassifier, infovec.IVMRegressor, infovec.IVMOrdinalClassifier])
def test_a_weight_is_a_repetition(Estimator):
    X, y, weight = data(24)
    if Estimator is not infovec.IVMRegressor:
        y = np.digitize(y, [0.0])
    again = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weight))
    told = Estimator(random_state=0).fit(X, y, sample_weight=weight)
    repeated = Estimator(random_state=0).fit(X[again], y[again])
    np.testing.assert_allclose(told.predict_latent(X)[0], repeated.predict_latent(X)[0], rtol=1e-9)
    assert told.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-9)
    assert np.all(weight[told.active_] > 0)
    np.testing.assert_array_equal(told.active_vectors_, X[told.active_])
    np.testing.assert_array_equal(told.active_vectors_, X[again][repeated.active_])
    assert told.likelihood_ == repeated.likelihood_
    assert not isinstance(told.likelihood_, infovec.likelihoods.Weighted)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_weights_of_zero_and_one_leave_rows_out(approximation):
    X, y, weight = data()
    settings = {"n_active": 10, "random_state": 0, "approximation": approximation}
    told = weight > 0
    one = IVMClassifier(**settings).fit(X, y > 0, sample_weight=told)
    other = IVMClassifier(**settings).fit(X[told], y[told] > 0)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.active_, np.flatnonzero(told)[other.active_])
    np.testing.assert_array_equal(one.history_["row"], one.active_)
    first = IVMClassifier(**settings, initial=[0, 5, 9, 11]).fit(X, y > 0, sample_weight=weight)
    assert list(first.active_[:4])[: int(told[[0, 5, 9, 11]].sum())] == [i for i in (0, 5, 9, 11) if told[i]]
    assert one.n_samples_fit_ == len(X)


def test_defaults_are_those_of_repeated_rows():
    X, y, weight = data(31)
    again, told = np.repeat(np.arange(31), weight), weight > 0
    counts, w = np.round(np.exp(y)), weight[told].astype(float)
    for name, make in REAL_LIKELIHOODS.items():
        t = counts if name == "poisson" else y
        np.testing.assert_allclose(make(t[told], w).theta, make(t[again], None).theta, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(column_spreads(X[told], w), column_spreads(X[again]), rtol=1e-12)
    assert default_kernel(X[told], 2.0, w).theta == pytest.approx(default_kernel(X[again], 2.0).theta)
    grades = np.digitize(y, [-0.5, 0.5]).astype(float)
    cuts = ordinal(grades[told], 3, 5.0, w).thresholds, ordinal(grades[again], 3, 5.0).thresholds
    np.testing.assert_allclose(*cuts)


def test_weights_beside_rows_that_differ_anyway():
    X, y, weight = data()
    noise = np.linspace(0.1, 1.0, len(y))
    settings = {"kernel": RBF(), "n_active": 1.0, "dtype": "float64", "random_state": 0}
    told = weight > 0
    for approximation in ("projected", "factorised"):
        one = IVMRegressor(likelihood=Gaussian(noise), approximation=approximation, **settings)
        other = IVMRegressor(likelihood=Gaussian(noise[told] / weight[told]), approximation=approximation, **settings)
        one.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(one.predict(X), other.fit(X[told], y[told]).predict(X), rtol=1e-6, atol=1e-9)
    twice = IVMRegressor(likelihood=weighted(Gaussian(0.3), 2.0), **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        twice.predict(X),
        IVMRegressor(likelihood=Gaussian(0.3), **settings).fit(X, y, sample_weight=2 * weight).predict(X),
        rtol=1e-6,
    )
    counts = np.where(np.arange(len(y)) == 38, -1.0, 1.0)
    with pytest.raises(ValueError, match="row 38 has -1"):
        IVMRegressor(likelihood="poisson").fit(X, counts, sample_weight=np.arange(len(y)))


def test_white_noise_keeps_equal_rows_apart():
    X, y, _ = data(10)
    again = np.repeat(np.arange(10), 2)
    sample = Sample.of(X[again], y[again]).merged(RBF(), "gaussian")
    assert len(sample.rows) == 10
    np.testing.assert_array_equal(sample.weight, 2.0)
    np.testing.assert_array_equal(sample.find(np.array([1, 0, 7])), sample.place[[1, 7]])
    np.testing.assert_array_equal(X[again][sample.rows][sample.place], X[again])
    assert Sample.of(X[again], y[again]).merged(RBF() + White(), "gaussian").weight is None
    halves = Sample.of(X[again], y[again], np.full(20, 0.5)).merged(RBF(), "gaussian")
    assert halves.weight is None
    np.testing.assert_array_equal(halves.X, X)


def test_patterns_of_learning_do_not_see_the_weights():
    X, y, weight = data()
    model = infovec.IVMClassifier(learn=Learning(fixed=["likelihood.bias"]), n_active=10, random_state=0)
    model.fit(X, y > 0, sample_weight=weight)
    share = np.average(y > 0, weights=weight)
    assert model.likelihood_.bias == pytest.approx(ndtri(share))


def test_searches_and_growth_with_weights(tmp_path):
    X, y, weight = data()
    search = GridSearchCV(IVMClassifier(random_state=0), {"n_active": [3, 8]}, cv=3)
    assert search.fit(X, y > 0, sample_weight=weight + 1).best_params_["n_active"] in (3, 8)
    model = IVMClassifier(n_active=5, warm_start=True, random_state=0, class_weight={False: 1.0, True: 2.0})
    model.fit(X, y > 0, sample_weight=weight).grow(4)
    assert len(model.active_) == 9
    assert np.all(weight[model.active_] > 0)
    before = list(model.active_[:9])
    assert list(model.set_params(n_active=12).fit(X, y > 0, sample_weight=weight).active_[:9]) == before
    model.save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": [1.0, 2.0]}, "one weight for each of the 40 rows"),
        ({"sample_weight": np.full(40, -1.0)}, "must not be negative: row 0 has -1"),
        ({"sample_weight": np.zeros(40)}, "zero for all rows"),
        ({"sample_weight": np.full(40, np.nan)}, "NaN"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "numbers from 0"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "one class only"),
    ],
)  # fmt: skip
def test_weights_that_cannot_be(given, message):
    X, y, _ = data()
    model = IVMClassifier(class_weight=given.get("class_weight"))
    with pytest.raises(ValueError, match=message):
        model.fit(X, (y > 0).astype(int), sample_weight=given.get("sample_weight"))


def test_frames_of_polars():
    X, y, weight = data()
    frame = pl.DataFrame({"height": X[:, 0], "width": X[:, 1]})
    label = pl.Series("kind", np.where(y > 0, "tall", "short"))
    pipeline = make_pipeline(StandardScaler(), IVMClassifier(n_active=10, random_state=0)).set_output(
        transform="polars"
    )
    pipeline.fit(frame, label, ivmclassifier__sample_weight=pl.Series(weight))
    assert list(pipeline[-1].feature_names_in_) == ["height", "width"]
    expected = make_pipeline(StandardScaler(), IVMClassifier(n_active=10, random_state=0))
    expected.fit(X, label.to_numpy(), ivmclassifier__sample_weight=weight)
    np.testing.assert_array_equal(pipeline.predict(frame), expected.predict(X))
    with pytest.raises(ValueError, match="Row 3, column 'width'"):
        IVMClassifier().fit(frame.with_columns(width=pl.Series(np.where(np.arange(40) == 3, np.inf, 0.0))), label)
    ordered = pl.Series(["low", "high", "middle", "low"] * 10, dtype=pl.Enum(["low", "middle", "high"]))
    grades = IVMOrdinalClassifier(n_active=5).fit(frame, ordered)
    assert list(grades.categories_) == ["low", "middle", "high"]
    assert list(grades.classes_) == ["high", "low", "middle"]
