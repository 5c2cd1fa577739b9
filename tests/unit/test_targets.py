"""Transforms of targets: densities, means and models, against other libraries, quadrature and fits by hand."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from fixed import IVMRegressor
from oracles import expected_by_panels, fd_gradient, gaussian_log_density, tilted_by_panels
from scipy import integrate, stats
from scipy.special import logsumexp, ndtr
from sklearn.base import clone

import infovec
from infovec.cli.commands import infovec as command_line
from infovec.errors import ParameterError
from infovec.estimators.targets import TARGETS
from infovec.evaluation import learning_curve
from infovec.kernels import RBF, Bias
from infovec.likelihoods import (
    Gaussian,
    Laplace,
    Likelihood,
    Log,
    Poisson,
    StudentT,
    Transformed,
    YeoJohnson,
    weighted,
)
from infovec.likelihoods.mixtures import central, cumulative, quantile
from infovec.machines.targets import Trial, some_rows, transform_for

POWERS = [0.0, 1e-9, 0.3, 1.0, 1.7, 2.0]
FORMS = [Log(), YeoJohnson(0.0), YeoJohnson(0.4, 2.0, 3.0), YeoJohnson(1.6, -1.0, 0.5)]
each_form = pytest.mark.parametrize("form", FORMS, ids=str)
NOISES = [Gaussian(0.3, bias=0.2), Laplace(0.2, bias=-0.1), StudentT(0.2, df=7.0, bias=0.1)]


def targets_of(form, n=7):
    return np.linspace(0.05, 9.0, n) if isinstance(form, Log) else np.linspace(-9.0, 9.0, n)


@pytest.mark.parametrize("power", POWERS)
def test_the_power_transform_is_scipys(power):
    y = np.concatenate([-np.logspace(-9, 3, 20), [0.0], np.logspace(-9, 3, 20)])
    form = YeoJohnson(power)
    np.testing.assert_allclose(form.of(y), stats.yeojohnson(y, power), rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose(form.inverse(form.of(y)), y, rtol=1e-9, atol=1e-15)
    z = form.of(y)
    profile = -0.5 * len(y) * np.log(np.var(z)) + np.sum(form.log_slope(y))
    assert profile == pytest.approx(stats.yeojohnson_llf(power, y), rel=1e-7)


@each_form
def test_the_slope_is_that_of_differences(form):
    y, step = targets_of(form), 1e-6
    slope = (form.of(y + step) - form.of(y - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(form.log_slope(y)), slope, rtol=1e-7)
    np.testing.assert_allclose(form.inverse(form.of(y)), y, rtol=1e-12, atol=1e-12)
    assert np.all(np.diff(form.of(y)) > 0.0)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@each_form
def test_densities_integrate_to_one_and_are_slopes_of_the_distribution(form, noise):
    likelihood, f = Transformed(noise, form), 0.4
    ends = np.append(form.inverse(np.array([-9.0, -2.0, f + noise.bias, 3.0, 9.0])), form.inverse(np.array(0.0)))
    total = sum(
        integrate.quad(lambda y: np.exp(likelihood.log_prob(np.array(y), f)), a, b, limit=200)[0]
        for a, b in pairwise(np.sort(ends))
    )
    inside = np.diff(noise.cdf(np.array([-9.0, 9.0]), f))[0]
    assert total == pytest.approx(inside, rel=1e-7)
    y, step = targets_of(form) + 0.013, 1e-6
    slope = (likelihood.cdf(y + step, f) - likelihood.cdf(y - step, f)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(likelihood.log_prob(y, f)), slope, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@each_form
def test_moments_equal_brute_force(form, noise):
    likelihood = Transformed(noise, form)
    y, mean, var = (v.ravel() for v in np.meshgrid(targets_of(form, 3), [-2.0, 0.3], [0.1, 2.0], indexing="ij"))
    log_z, g, nu = likelihood.tilted(y, mean, var)
    weight = np.full(len(y), 2.5)
    power = likelihood.tilted_power(y, mean, var, weight)
    for i in range(len(y)):
        centre = [form.of(y[i]) - noise.bias]
        expected = tilted_by_panels(lambda f, i=i: likelihood.log_prob(y[i], f), mean[i], var[i], centre)
        np.testing.assert_allclose([log_z[i], g[i], nu[i]], expected, rtol=1e-6, atol=1e-7)
        expected = tilted_by_panels(lambda f, i=i: 2.5 * likelihood.log_prob(y[i], f), mean[i], var[i], centre)
        np.testing.assert_allclose([part[i] for part in power], expected, rtol=1e-6, atol=1e-7)
        if isinstance(noise, Gaussian):
            mine = likelihood.expected_log_prob(y[i : i + 1], mean[i : i + 1], var[i : i + 1])[0]
            theirs = expected_by_panels(lambda f, i=i: likelihood.log_prob(y[i], f), mean[i], var[i])
            assert mine == pytest.approx(theirs, rel=1e-8)
    fd = fd_gradient(lambda t: likelihood.with_theta(t).tilted(y, mean, var).log_z, likelihood.theta)
    np.testing.assert_allclose(likelihood.d_log_z(y, mean, var), fd, rtol=1e-5, atol=1e-6)
    for mine, theirs in zip(
        likelihood.d_expected_log_prob(y, mean, var),
        Likelihood.d_expected_log_prob(likelihood, y, mean, var),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
    site = likelihood.site(y, mean, var, likelihood.tilted(y, mean, var))
    np.testing.assert_allclose(
        site.precision, noise.site(form.of(y), mean, var, noise.tilted(form.of(y), mean, var))[0]
    )
    if noise.conjugate:
        for mine, theirs in zip(likelihood.d_site(y), Likelihood.d_site(likelihood, y), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


def moments_by_quadrature(noise, form, mean, var):
    """Mean and variance of the target: an integral over its transform, whose density is an integral itself."""

    def density(z):
        return np.exp(noise.log_predictive(np.array([z]), np.array([mean]), np.array([var]))[0])

    centre, ends = mean + noise.bias, np.append(0.0, mean + noise.bias + np.array([-60.0, -8.0, -2.0, 2.0, 8.0, 60.0]))
    ends = np.sort(np.append(ends, centre))

    def moment(k):
        return sum(
            integrate.quad(lambda z: float(form.inverse(np.array(z))) ** k * density(z), a, b, limit=200)[0]
            for a, b in pairwise(ends)
        )

    return moment(1), moment(2) - moment(1) ** 2


@pytest.mark.parametrize(
    ("noise", "form"),
    [(NOISES[0], form) for form in FORMS]
    + [(NOISES[1], form) for form in FORMS]
    + [(StudentT(0.2, df=30.0, bias=0.1), YeoJohnson(power, 1.0, 2.0)) for power in (0.5, 1.2)],
    ids=str,
)
def test_means_equal_quadrature(noise, form):
    likelihood = Transformed(noise, form)
    for mean, var in [(-1.0, 0.05), (0.2, 0.8), (1.5, 0.3)]:
        found = likelihood.predict(np.array([mean]), np.array([var]))
        expected = moments_by_quadrature(noise, form, mean, var)
        assert found.mean[0] == pytest.approx(expected[0], abs=2e-5 * np.sqrt(expected[1]))
        assert found.var[0] == pytest.approx(expected[1], rel=2e-5)


def test_means_that_do_not_exist_are_infinite():
    one = np.ones(1)
    assert Transformed(StudentT(0.1, 4.0), Log()).predict(one, one).mean[0] == np.inf
    assert Transformed(Laplace(1.1), Log()).predict(one, one).mean[0] == np.inf
    half = Transformed(Laplace(0.7), Log()).predict(one, one)
    assert np.isfinite(half.mean[0])
    assert half.var[0] == np.inf
    some = Transformed(StudentT(0.1, 2.5), YeoJohnson(0.5)).predict(one, one)
    assert np.isfinite(some.mean[0])
    assert some.var[0] == np.inf
    assert np.all(Transformed(StudentT(0.1, 4.0), Log()).covariance(np.zeros(2), np.eye(2)) == np.inf)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@each_form
def test_quantiles_and_draws(form, noise):
    likelihood, mean, var = Transformed(noise, form), np.array([0.3, -0.5]), np.array([0.2, 0.4])
    for p in (0.025, 0.5, 0.9):
        y = quantile(likelihood, np.full(2, p), mean, var)
        np.testing.assert_allclose(y, form.inverse(quantile(noise, np.full(2, p), mean, var)))
        np.testing.assert_allclose(cumulative(likelihood, y, mean, var), p, atol=1e-6)
        drawn = likelihood.sample(
            mean + np.sqrt(var) * np.random.RandomState(1).randn(40_000, 2), np.random.RandomState(0)
        )
        np.testing.assert_allclose(np.mean(drawn < y, axis=0), p, atol=0.01)


def test_impossible_targets_and_parts_are_refused():
    log = Transformed(Gaussian(0.1), Log())
    y = np.array([1.0, -2.0])
    assert log.log_predictive(y, np.zeros(2), np.ones(2))[1] == -np.inf
    assert log.log_prob(y, np.zeros(2))[1] == -np.inf
    assert log.cdf(y, np.zeros(2))[1] == cumulative(log, y, np.zeros(2), np.ones(2))[1] == 0.0
    with pytest.raises(ParameterError, match=r"row 1 has -2.*yeo-johnson"):
        log.check_targets(y)
    with pytest.raises(ParameterError, match="Gaussian, Laplace or StudentT"):
        Transformed(Poisson(), Log())
    with pytest.raises(ParameterError, match="Log or YeoJohnson"):
        Transformed(Gaussian(), np.log)
    for wrong, message in [((2.5,), "from 0 to 2"), ((1.0, np.nan), "centre"), ((1.0, 0.0, 0.0), "scale")]:
        with pytest.raises(ParameterError, match=message):
            YeoJohnson(*wrong)


def data(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.exp(0.5 * np.sin(2.0 * X[:, 0]) + 0.7 * X[:, 1] + 0.2 * rng.normal(size=n))


X, Y = data()
NEW, YNEW = data(60, 1)
SETTINGS = {"n_active": 40, "random_state": 0, "learn": "ep"}


@pytest.mark.parametrize("weight", [None, np.random.default_rng(2).integers(0, 4, len(Y)).astype(float)])
@pytest.mark.parametrize("target", ["log", "yeo-johnson"])
def test_a_model_is_that_of_the_transforms(target, weight):
    model = IVMRegressor(target=target, **SETTINGS).fit(X, Y, weight)
    form = model.likelihood_.transform
    assert isinstance(form, Log if target == "log" else YeoJohnson)
    by_hand = IVMRegressor(**SETTINGS).fit(X, form.of(Y), weight)
    assert model.kernel_ == by_hand.kernel_
    assert model.likelihood_ == Transformed(by_hand.likelihood_, form)
    np.testing.assert_array_equal(model.active_, by_hand.active_)
    slope = np.sum((1.0 if weight is None else weight) * form.log_slope(Y))
    assert model.log_evidence_ == pytest.approx(by_hand.log_evidence_ + slope, abs=1e-8)
    shift = model.history_["criterion"][-1] - by_hand.history_["criterion"][-1]
    assert shift == pytest.approx(slope, abs=1e-6)
    expected = by_hand.log_density(NEW, form.of(YNEW)) + form.log_slope(YNEW)
    np.testing.assert_allclose(model.log_density(NEW, YNEW), expected, rtol=1e-9)
    q = (0.05, 0.5, 0.9)
    np.testing.assert_allclose(model.predict_quantiles(NEW, q), form.inverse(by_hand.predict_quantiles(NEW, q)))
    drawn = model.sample_y(NEW[:4], 20_000, random_state=0)
    mean, std = model.predict(NEW[:4], return_std=True)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=4.0 * np.max(std) / np.sqrt(20_000))
    together, cov = model.predict(NEW[:4], return_cov=True)
    np.testing.assert_allclose(together, mean, rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov)), std, rtol=1e-6)
    np.testing.assert_allclose(cov, np.cov(drawn), atol=0.08 * np.max(std) ** 2)


@pytest.mark.parametrize("target", ["auto", "log", "yeo-johnson"])
def test_the_unit_of_the_targets_does_not_matter(target):
    model = IVMRegressor(target=target, **SETTINGS).fit(X, Y)
    other = IVMRegressor(target=target, **SETTINGS).fit(X, 1000.0 * Y)
    np.testing.assert_allclose(other.predict(NEW), 1000.0 * model.predict(NEW), rtol=1e-6)
    assert other.log_evidence_ == pytest.approx(model.log_evidence_ - len(Y) * np.log(1000.0), abs=1e-4)
    if target == "yeo-johnson":
        moved = IVMRegressor(target=target, **SETTINGS).fit(X, Y - 7.0)
        np.testing.assert_allclose(moved.predict(NEW) + 7.0, model.predict(NEW), rtol=1e-6)


def repeated(X, y, weight):
    return np.repeat(X, weight, axis=0), np.repeat(y, weight)


def dense_evidence(trial, K, form, ratio):
    """The best log density of targets over the variance, by one dense Gaussian of all rows."""
    z = form.of(trial[1])
    z = z - z.mean()
    cov = K + ratio * np.eye(len(z))
    s2 = z @ np.linalg.solve(cov, z) / len(z)
    return gaussian_log_density(z, s2 * cov) + np.sum(form.log_slope(trial[1])), s2 * cov, z


@pytest.mark.parametrize("form", [YeoJohnson(0.3, 1.0, 2.0), Log()], ids=str)
def test_the_evidence_of_a_trial_and_rows_left_out_equal_dense_ones(form):
    kernel, some = RBF(1.5) + Bias(0.5), slice(0, 40)
    trial = Trial.of(X[some], Y[some], None, kernel, scaled=False)
    level = trial.level(form)
    K = kernel(X[some], X[some]) / 1.5 + 10.0
    value, cov, z = dense_evidence((X[some], Y[some]), K, form, level.ratio)
    assert level.evidence == pytest.approx(value, rel=1e-9)
    others = [dense_evidence((X[some], Y[some]), K, form, r)[0] for r in (0.5 * level.ratio, 2.0 * level.ratio)]
    assert max(others) < value + 0.05
    log_p, squares = trial.left_out(form)
    for i in (0, 7, 39):
        rest = np.delete(np.arange(40), i)
        solved = np.linalg.solve(cov[np.ix_(rest, rest)], np.stack([z[rest], cov[rest, i]], axis=1))
        mean, var = cov[i, rest] @ solved[:, 0], cov[i, i] - cov[i, rest] @ solved[:, 1]
        expected = stats.norm.logpdf(z[i], mean, np.sqrt(var)) + form.log_slope(Y[i])
        assert log_p[i] == pytest.approx(expected, rel=1e-7)
        middle = form.of(Y[some]).mean() + mean
        back = moments_by_quadrature(Gaussian(1e-12), form, middle, var)[0]
        assert squares[i] == pytest.approx((Y[i] - back) ** 2, rel=1e-3, abs=1e-6)


def test_a_trial_takes_weights_for_rows_given_several_times():
    kernel, form = RBF(1.5), YeoJohnson(0.3, 1.0, 2.0)
    weight = np.random.default_rng(3).integers(1, 4, 30)
    one = Trial.of(X[:30], Y[:30], weight.astype(float), kernel, scaled=True)
    many = Trial.of(*repeated(X[:30], Y[:30], weight), None, kernel, scaled=True)
    shift = [one.level(f).evidence - many.level(f).evidence for f in (form, Log(), YeoJohnson(1.7, 1.0, 2.0))]
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)
    assert one.level(form)[1:] == many.level(form)[1:]
    np.testing.assert_allclose(one.power(1.0, 2.0).power, many.power(1.0, 2.0).power)


def test_automatic_transforms_are_those_that_made_the_targets():
    assert IVMRegressor(target="auto", **SETTINGS).fit(X, Y).likelihood_.transform == Log()
    logs = np.log(Y)
    assert isinstance(IVMRegressor(target="auto", **SETTINGS).fit(X, logs).likelihood_, Gaussian)
    bent = YeoJohnson(0.4, 0.0, 0.5).inverse(logs)
    taken = IVMRegressor(target="auto", **SETTINGS).fit(X, bent).likelihood_.transform
    assert isinstance(taken, YeoJohnson)
    assert taken.power < 1.0
    held = (
        IVMRegressor(target="auto", **SETTINGS)
        .fit(X, bent)
        .log_density(NEW, YeoJohnson(0.4, 0.0, 0.5).inverse(np.log(YNEW)))
    )
    plain = IVMRegressor(**SETTINGS).fit(X, bent).log_density(NEW, YeoJohnson(0.4, 0.0, 0.5).inverse(np.log(YNEW)))
    assert held.mean() > plain.mean()


def test_no_logarithm_is_chosen_where_one_target_among_those_not_looked_at_is_zero() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = np.exp(12.0 + X[:, 0] + 0.4 * rng.normal(size=1000))
    chosen = infovec.IVMRegressor(target="auto", n_active=30, random_state=0).fit(X, y)
    assert isinstance(chosen.likelihood_.transform, Log)
    y[np.setdiff1d(np.arange(1000), some_rows(1000))[5]] = 0.0
    other = infovec.IVMRegressor(target="auto", n_active=30, random_state=0).fit(X, y)
    assert isinstance(other.likelihood_.transform, YeoJohnson)


def test_what_has_no_structure_is_left_alone():
    few = IVMRegressor(target="auto", **SETTINGS).fit(X[:20], Y[:20])
    assert isinstance(few.likelihood_, Gaussian)
    assert isinstance(IVMRegressor(target="auto", **SETTINGS).fit(X, np.full(len(X), 3.0)).likelihood_, Gaussian)
    for given in (
        {"kernel": RBF()},
        {"likelihood": Gaussian(0.1)},
        {"likelihood": "laplace"},
        {"likelihood": "poisson"},
    ):
        counts = np.rint(Y) if given.get("likelihood") == "poisson" else Y
        model = IVMRegressor(target="auto", **{**SETTINGS, **given}).fit(X, counts)
        assert not isinstance(model.likelihood_, Transformed)
    assert transform_for(Trial.of(X[:5], Y[:5], None, RBF(), True), True) is None


def test_some_rows_are_spread_without_a_period():
    np.testing.assert_array_equal(some_rows(7), np.arange(7))
    rows = some_rows(100_000)
    assert 380 <= len(rows) <= 400
    for period in (2, 7, 24, 365):
        share = np.bincount(rows % period, minlength=period) / len(rows)
        assert share.max() < 3.0 / period + 0.02


@pytest.mark.filterwarnings("ignore:.* so heavy that a target has no standard deviation")
@pytest.mark.parametrize("noise", ["laplace", "student_t"])
def test_noise_with_heavy_tails(noise):
    model = IVMRegressor(target="yeo-johnson", likelihood=noise, **SETTINGS).fit(X, Y)
    assert 0.5 <= model.likelihood_.transform.power <= 1.5
    plain = IVMRegressor(likelihood=noise, **SETTINGS).fit(X, Y)
    assert model.log_density(NEW, YNEW).mean() > plain.log_density(NEW, YNEW).mean()
    assert np.all(np.isfinite(model.predict(NEW)))


def test_a_mean_that_does_not_exist_is_told_once_and_the_median_stands_for_it(tmp_path):
    with pytest.warns(
        UserWarning, match=r"no mean: predict gives their median, and half of the interval with 68 % of"
    ) as told:
        model = IVMRegressor(target="log", likelihood="student_t", **SETTINGS).fit(X, Y)
    assert len(told) == 1
    mean, std = model.predict(NEW, return_std=True)
    noise, latent = model.likelihood_, model.predict_latent(NEW)
    low, median, high = (quantile(noise, ndtr(z), latent[0], latent[1] ** 2) for z in (-1.0, 0.0, 1.0))
    np.testing.assert_allclose(mean, median)
    np.testing.assert_allclose(std, 0.5 * (high - low))
    assert model.score(NEW, YNEW) > 0.5  # scikit-learn can work with it
    model.report(tmp_path / "report.html", NEW, YNEW)  # without a warning
    page = (tmp_path / "report.html").read_text()
    assert "nan" not in page.lower().replace("nano", "")


@pytest.mark.parametrize("noise", [Laplace(0.7), StudentT(0.1, 2.5), Laplace(1.1), StudentT(0.2, 4.0), Gaussian(0.2)])
@each_form
def test_what_stands_for_moments(form, noise):
    """The moments where they exist, else quantiles."""
    likelihood, mean, var = Transformed(noise, form), np.array([0.3, -0.5]), np.array([0.2, 0.4])
    middle, width = central(likelihood, mean, var)
    expected = likelihood.predict(mean, var)
    if np.isfinite(expected.mean).all():
        np.testing.assert_array_equal(middle, expected.mean)
    else:
        np.testing.assert_allclose(cumulative(likelihood, middle, mean, var), 0.5, atol=1e-8)
    if np.isfinite(expected.var).all():
        np.testing.assert_array_equal(width, np.sqrt(expected.var))
    low, high = (quantile(likelihood, p, mean, var) for p in (ndtr(-1.0), ndtr(1.0)))
    assert np.all(np.isfinite(width) & (width > 0.4 * (high - low)))


def test_what_cannot_be_transformed_is_refused():
    with pytest.raises(ParameterError, match="target must be one of"):
        IVMRegressor(target="sqrt").fit(X, Y)
    with pytest.raises(ParameterError, match=r"row 5 has -1.*yeo-johnson"):
        IVMRegressor(target="log").fit(X, np.where(np.arange(len(Y)) == 5, -1.0, Y), np.r_[0.0, np.ones(len(Y) - 1)])
    with pytest.raises(ParameterError, match="Poisson is another one"):
        IVMRegressor(target="log", likelihood="poisson").fit(X, np.rint(Y) + 1.0)
    with pytest.raises(ParameterError, match="sample_weight"):
        IVMRegressor(target="log", likelihood=weighted(Gaussian(), np.ones(len(Y)))).fit(X, Y)


def test_a_likelihood_that_names_its_transform():
    given = Transformed(Gaussian(0.05, bias=0.1), Log())
    fixed = {**SETTINGS, "learn": None, "kernel": RBF(1.5, 0.8)}
    model = IVMRegressor(likelihood=given, **fixed).fit(X, Y)
    assert model.likelihood_ == given
    by_hand = IVMRegressor(likelihood=given.likelihood, **fixed).fit(X, np.log(Y))
    np.testing.assert_allclose(model.predict_latent(NEW), by_hand.predict_latent(NEW), rtol=1e-6)
    named = IVMRegressor(likelihood=Gaussian(0.05, bias=0.1), target="log", **fixed).fit(X, Y)
    np.testing.assert_allclose(named.predict(NEW), model.predict(NEW))
    with pytest.raises(ParameterError, match="row 3"):
        IVMRegressor(likelihood=given).fit(X, np.where(np.arange(len(Y)) == 3, 0.0, Y))


@pytest.mark.parametrize(
    "settings",
    [{}, {"approximation": "factorised"}, {"move": True, "n_active": 12}, {"max_memory": "2MB"}, {"n_active": "auto"},
     {"kernel": "matern"}, {"kernel": RBF(1.5) + Bias()}, {"learn": None}, {"dtype": "float64"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("target", ["log", "yeo-johnson"])
def test_files_and_forms(tmp_path, target, settings):
    model = IVMRegressor(target=target, **{**SETTINGS, **settings}).fit(X, Y)
    assert model.score(NEW, YNEW) > 0.5
    model.save(tmp_path / "model.ivm")
    loaded = infovec.load(tmp_path / "model.ivm")
    assert loaded.likelihood_ == model.likelihood_
    assert loaded.get_params()["target"] == target
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    assert clone(model).target == target


def test_what_is_told_later():
    model = IVMRegressor(target="log", **SETTINGS).fit(X[:100], Y[:100])
    before = model.log_density(NEW, YNEW).mean()
    model.tell(X[100:], Y[100:])
    assert model.likelihood_.transform == Log()
    assert model.n_samples_fit_ == len(Y)
    by_hand = IVMRegressor(**SETTINGS).fit(X[:100], np.log(Y[:100])).tell(X[100:], np.log(Y[100:]))
    np.testing.assert_allclose(model.predict_latent(NEW), by_hand.predict_latent(NEW), rtol=1e-6)
    assert model.log_evidence_ == pytest.approx(by_hand.log_evidence_ - np.sum(np.log(Y)), abs=1e-6)
    assert model.log_density(NEW, YNEW).mean() > before
    again = infovec.IVMRegressor(target="log", **SETTINGS).partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    assert again.likelihood_.transform == Log()
    scores = model.score_candidates(NEW), by_hand.score_candidates(NEW)
    np.testing.assert_allclose(*scores, rtol=1e-6)


def test_rows_on_top_of_a_model_from_a_file(tmp_path):
    models = [IVMRegressor(target="log", **SETTINGS).fit(X[:140], Y[:140])]
    models.append(IVMRegressor(**SETTINGS).fit(X[:140], np.log(Y[:140])))
    for number, model in enumerate(models):
        model.save(tmp_path / f"{number}.ivm")
        targets = np.log(Y[140:]) if number else Y[140:]
        models[number] = infovec.load(tmp_path / f"{number}.ivm").tell(X[140:], targets)
    np.testing.assert_allclose(models[0].predict_latent(NEW), models[1].predict_latent(NEW), rtol=1e-6)
    assert models[0].log_evidence_ == pytest.approx(models[1].log_evidence_ - np.sum(np.log(Y)), abs=1e-6)


def test_what_columns_are_worth_does_not_depend_on_who_takes_the_logarithm():
    model, by_hand = IVMRegressor(target="log", **SETTINGS).fit(X, Y), IVMRegressor(**SETTINGS).fit(X, np.log(Y))
    np.testing.assert_allclose(model.feature_importances_, by_hand.feature_importances_, rtol=1e-6)
    np.testing.assert_allclose(model.relevances().relevance, by_hand.relevances().relevance, rtol=1e-6)


def test_a_model_that_grows():
    model = IVMRegressor(target="log", warm_start=True, **{**SETTINGS, "n_active": 20}).fit(X, Y)
    before = model.log_density(NEW, YNEW).mean()
    model.grow(20)
    assert model.likelihood_.transform == Log()
    assert len(model.active_) == 40
    assert model.log_density(NEW, YNEW).mean() > before - 0.05


def test_several_targets_have_transforms_of_their_own():
    both = np.stack([Y, np.log(Y)], axis=1)
    model = IVMRegressor(target="auto", **SETTINGS).fit(X, both)
    assert model.outputs_[0].likelihood_.transform == Log()
    assert isinstance(model.outputs_[1].likelihood_, Gaussian)
    mean, std = model.predict(NEW, return_std=True)
    assert mean.shape == std.shape == (len(NEW), 2)
    total = sum(one.log_density(NEW, t) for one, t in zip(model.outputs_, (YNEW, np.log(YNEW)), strict=True))
    np.testing.assert_allclose(model.log_density(NEW, np.stack([YNEW, np.log(YNEW)], axis=1)), total)


def test_images_and_smaller_models():
    turned = IVMRegressor(target="yeo-johnson", invariances=lambda rows: rows * [1.0, 1.0, -1.0], **SETTINGS).fit(X, Y)
    assert turned.score(NEW, YNEW) > 0.5
    small = IVMRegressor(target="log", **SETTINGS).fit(X, Y).compress(10)
    assert small.likelihood_.transform == Log()
    assert small.score(NEW, YNEW) > 0.3


def test_onnx_graphs_take_targets_back():
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from infovec.onnx_export import to_onnx

    for form in FORMS:
        likelihood = Transformed(Gaussian(0.05, bias=0.1), form)
        y = form.inverse(np.log(Y))
        model = IVMRegressor(RBF(1.5, 0.8), likelihood=likelihood, **{**SETTINGS, "learn": None}).fit(X, y)
        session = runtime.InferenceSession(to_onnx(model).SerializeToString())
        mean, std = session.run(["mean", "std"], {"X": NEW})
        expected = model.predict(NEW, return_std=True)
        np.testing.assert_allclose(mean, expected[0], rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(std, expected[1], rtol=1e-6)
    other = IVMRegressor(target="log", likelihood="laplace", **SETTINGS).fit(X, Y)
    with pytest.raises(ParameterError, match="target='identity'"):
        to_onnx(other)


def test_densities_of_models_integrate_to_one():
    model = IVMRegressor(target="yeo-johnson", **SETTINGS).fit(X, Y)
    grid = np.linspace(-20.0, 60.0, 20_001)
    log_p = model.log_density(np.repeat(NEW[:1], len(grid), axis=0), grid)
    assert logsumexp(log_p) + np.log(grid[1] - grid[0]) == pytest.approx(0.0, abs=1e-3)


def prices(seed, n, noise=0.25):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, np.exp(10.0 + x[:, 0] + np.sin(x[:, 1]) + noise * rng.normal(size=n))


@pytest.mark.parametrize("target", ["log", "yeo-johnson"])
def test_a_mean_that_the_transform_has_thrown_far_out_is_told_of_and_no_other(target, tmp_path):
    """Of two rows among 500 one is where nobody has been: the function may be anything there."""
    X, y = prices(0, 300)
    wide = RBF(1.0, 16.0 if target == "log" else 100.0) + Bias(100.0)  # in the unit of the transform
    model = IVMRegressor(kernel=wide, target=target, n_active=60, learn=None, random_state=0).fit(X, y)
    model.save(tmp_path / "m.ivm")
    new, targets = prices(1, 500)
    new = np.where(np.isin(np.arange(500), [70, 300])[:, None], 12.0, new * (np.abs(new) < 2))
    for one in (model, infovec.load(tmp_path / "m.ivm")):
        for call in (one.predict, lambda X, one=one: one.predict(X, return_cov=True)):
            with pytest.warns(UserWarning, match=r"row 70 \(and 1 more\) .* predict_quantiles\(X, 0\.5\)") as told:
                call(new)
            assert len(told) == 1
        assert ("target='yeo-johnson'" in str(told[0].message)) == (target == "log")
        with pytest.warns(UserWarning, match="row 70"):
            one.score(new, targets)
    middle = model.predict_quantiles(new[70:71], 0.5)
    assert y.min() < middle < y.max()
    model.predict(np.delete(new, [70, 300], axis=0))  # warnings are errors


def test_ordinary_extrapolation_is_told_of_where_not_knowing_the_function_makes_the_mean():
    """Some times the largest target, of which half is what the function might be; a known trend may go on."""
    X, y = prices(0, 300)
    model = infovec.IVMRegressor(target="log", n_active=60, random_state=0).fit(X, y)
    unknown, trend = np.array([[5.5, 5.5]]), np.array([[5.0, 0.0]])
    with pytest.warns(UserWarning, match="nearly all targets that the fit knows are from"):
        mean = model.predict(unknown)
    assert 3.0 * y.max() < mean < 15.0 * y.max()
    assert model.predict_quantiles(unknown, 0.5) < 0.5 * mean
    assert model.predict(trend) > 3.0 * y.max()  # warnings are errors


def test_the_learning_curve_tells_of_no_means_of_few_active_rows():
    """Models of the first active rows know next to nothing of most rows, which is no news of the model."""
    X, y = prices(0, 300)
    model = IVMRegressor(kernel=RBF(1.0, 16.0) + Bias(100.0), target="log", n_active=60, learn=None).fit(X, y)
    new, targets = prices(1, 200)
    near = np.all(np.abs(new) < 1.5, axis=1)
    model.predict(new[near])  # warnings are errors
    curve = learning_curve(model, new[near], targets[near])
    assert curve.loss[-1] == pytest.approx(-model.log_density(new[near], targets[near]).mean())


@pytest.mark.parametrize("noise", [0.25, 2.5])
@pytest.mark.parametrize("target", ["log", "yeo-johnson"])
def test_targets_over_powers_of_ten_have_large_means_by_right(target, noise):
    X, y = prices(0, 300, noise)
    model = IVMRegressor(target=target, n_active=60, random_state=0).fit(X, y)
    new, _ = prices(1, 2000)
    mean, middle = model.predict(new), model.predict_quantiles(new, 0.5)  # warnings are errors
    assert noise < 1 or target != "log" or (mean / middle).max() > 5


def test_the_command_line_takes_transforms(tmp_path):
    table = np.column_stack([X, Y])
    np.savetxt(tmp_path / "prices.csv", table, delimiter=",", header="a,b,c,price", comments="")
    options = ["fit", str(tmp_path / "prices.csv"), "-t", "price", "-o", str(tmp_path / "m.ivm"), "--quiet"]
    for transform in TARGETS:
        result = CliRunner().invoke(command_line, [*options, "--active", "40", "--transform", transform])
        assert result.exit_code == 0, result.output
        likelihood = infovec.load(tmp_path / "m.ivm").likelihood_
        assert isinstance(likelihood, Transformed) == (transform != "identity")
    result = CliRunner().invoke(
        command_line, ["evaluate", str(tmp_path / "m.ivm"), str(tmp_path / "prices.csv"), "--json"]
    )
    assert result.exit_code == 0, result.output
    model = infovec.load(tmp_path / "m.ivm")
    figures = json.loads(result.stdout)
    log_density = model.log_density(pd.DataFrame(X, columns=list("abc")), Y).mean()
    assert figures["log_density"]["value"] == pytest.approx(log_density, rel=1e-4)


def test_a_cluster_of_one_process_gives_the_same_model():
    dask = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        far = IVMRegressor(target="auto", **{**SETTINGS, "learn": "ep"}).fit(
            dask.from_array(X, 40), dask.from_array(Y, 40)
        )
    near = IVMRegressor(target="auto", **SETTINGS).fit(X, Y)
    assert far.likelihood_.transform == near.likelihood_.transform == Log()
    np.testing.assert_allclose(far.predict(NEW), near.predict(NEW), rtol=1e-3)
