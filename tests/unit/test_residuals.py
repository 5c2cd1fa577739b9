"""Quantiles of targets: the distribution of each likelihood, what residuals say of it, and intervals that hold."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtri

from infovec import IVMRegressor
from infovec.errors import ParameterError
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
from infovec.likelihoods.mixtures import cumulative, quantile
from infovec.likelihoods.tails import log_density, residual_density
from infovec.machines.defaults import REAL_LIKELIHOODS
from infovec.numerics.residuals import LEVELS, normal_scores, score_quantiles

CASES = [Gaussian(0.3, 0.5), Laplace(0.4, -1.0), StudentT(0.3, 3.0, 1.0), Poisson(1.0), weighted(Laplace(0.4), 3.0)]


def test_no_real_likelihood_is_left_out():
    named = {type(make(np.ones(3), None)) for make in REAL_LIKELIHOODS.values()}
    assert named <= {type(case) for case in CASES}


@pytest.mark.parametrize("likelihood", CASES, ids=str)
def test_cumulative_probabilities_equal_adaptive_quadrature(likelihood):
    mean, var = np.array([0.3, -1.0, 2.0, 0.0]), np.array([0.5, 1e-3, 2.0, 0.1])
    y = np.array([1.0, 2.0, 7.0, 0.0]) if isinstance(likelihood, Poisson) else np.array([0.9, -2.0, 3.0, 0.1])
    found = cumulative(likelihood, y, mean, var)
    for i in range(4):
        sd = np.sqrt(var[i])
        exact = integrate.quad(
            lambda f, i=i: float(likelihood.cdf(y[i], f)) * stats.norm.pdf(f, mean[i], np.sqrt(var[i])),
            mean[i] - 9 * sd, mean[i] + 9 * sd, limit=200, points=[mean[i]],
        )[0]  # fmt: skip
        assert found[i] == pytest.approx(exact, abs=2e-3)
    p = np.array([0.01, 0.3, 0.7, 0.99])
    np.testing.assert_allclose(cumulative(likelihood, quantile(likelihood, p, mean, var), mean, var), p, atol=1e-9)


def test_cumulative_probabilities_given_the_function():
    f = np.linspace(-2, 2, 5)
    np.testing.assert_allclose(Gaussian(0.3, 0.5).cdf(1.0, f), stats.norm.cdf(1.0, f + 0.5, np.sqrt(0.3)))
    np.testing.assert_allclose(Laplace(0.4, 0.5).cdf(1.0, f), stats.laplace.cdf(1.0, f + 0.5, 0.4))
    np.testing.assert_allclose(StudentT(0.4, 3.0).cdf(1.0, f), stats.t.cdf(1.0, 3.0, f, 0.4))
    rate = np.exp(f + 1.0)
    half = Poisson(1.0).cdf(3.0, f)  # between those of fewer, and of as many
    assert np.all((stats.poisson.cdf(2, rate) < half) & (half < stats.poisson.cdf(3, rate)))
    np.testing.assert_allclose(Poisson(1.0).cdf(2.5, f), stats.poisson.cdf(2, rate))
    np.testing.assert_array_equal(Poisson().cdf(-1.0, f), 0.0)


def test_quantiles_of_many_scores_are_theirs_and_of_few_those_of_the_normal_distribution():
    rng = np.random.default_rng(0)
    z = rng.standard_t(3, size=20000)
    np.testing.assert_allclose(score_quantiles(z)[10:-10], stats.t.ppf(LEVELS[10:-10], 3), atol=0.1)
    np.testing.assert_array_equal(score_quantiles(np.empty(0)), ndtri(LEVELS))
    few = score_quantiles(np.array([0.0, 0.1]))
    assert np.all(np.diff(few) > 0.0)
    np.testing.assert_allclose(few, ndtri(LEVELS), atol=0.4)
    np.testing.assert_allclose(score_quantiles(z[:40], learned=8), np.sqrt(48 / 32) * score_quantiles(z[:40]))
    np.testing.assert_allclose(score_quantiles(z[:3], learned=50), np.sqrt(4.5 / 1.5) * score_quantiles(z[:3]))


def test_weights_of_scores():
    z = np.random.default_rng(0).normal(size=400)
    w = np.where(z > 0.0, 3.0, 1.0)
    at = np.searchsorted(LEVELS, 0.25 - 1e-9)
    assert -0.2 < score_quantiles(z, weight=w)[at] < 0.1 < 0.6 < -score_quantiles(z)[at]  # a quarter is below zero
    np.testing.assert_allclose(score_quantiles(z, weight=np.full(400, 7.0)), score_quantiles(z))


def test_probabilities_beyond_those_that_are_kept():
    found = normal_scores(ndtri(LEVELS), np.array([1e-6, 0.01, 0.5, 0.99, 1.0 - 1e-6]))
    np.testing.assert_allclose(found, ndtri([1e-6, 0.01, 0.5, 0.99, 1.0 - 1e-6]), rtol=1e-9, atol=1e-12)
    heavy = normal_scores(2.0 * ndtri(LEVELS), np.array([1e-6]))
    np.testing.assert_allclose(heavy, 2.0 * ndtri(1e-6), rtol=1e-9)


def problem(noise, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.cos(2 * X[:, 0]) * X[:, 1] + noise(rng, n)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_intervals_hold_where_residuals_are_not_normal(approximation):
    X, y = problem(lambda rng, n: 0.1 * rng.standard_t(2.2, size=n))
    model = IVMRegressor(n_active=60, approximation=approximation, random_state=0).fit(X[:700], y[:700])
    low, a, middle, b, high = model.predict_quantiles(X[700:], [0.025, 0.16, 0.5, 0.84, 0.975]).T
    inside = [np.mean((y[700:] > p) & (y[700:] < q)) for p, q in ((a, b), (low, high))]
    np.testing.assert_allclose(inside, [0.68, 0.95], atol=0.05)
    assert np.all((low < a) & (a < middle) & (middle < b) & (b < high))
    mean, std = model.predict(X[700:], return_std=True)
    assert np.mean(np.abs(y[700:] - mean) < std) > 0.76  # as if they were normal it is too many


def test_quantiles_are_skewed_where_residuals_are():
    X, y = problem(lambda rng, n: rng.exponential(size=n))
    model = IVMRegressor(n_active=60, random_state=0).fit(X[:700], y[:700])
    low, middle, high = model.predict_quantiles(X[700:], (0.1, 0.5, 0.9)).T
    assert np.median(high - middle) > 1.5 * np.median(middle - low)
    np.testing.assert_allclose([np.mean(y[700:] < q) for q in (low, middle, high)], [0.1, 0.5, 0.9], atol=0.05)


@pytest.mark.parametrize("likelihood", sorted(REAL_LIKELIHOODS))
def test_all_named_likelihoods(likelihood, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 1))
    y = rng.poisson(np.exp(1.5 + X[:, 0])).astype(float)
    model = IVMRegressor(likelihood=likelihood, n_active=30, random_state=0).fit(X, y)
    found = model.predict_quantiles(X, [0.05, 0.95])
    assert 0.8 < np.mean((y >= found[:, 0]) & (y <= found[:, 1])) < 0.99
    if likelihood == "poisson":
        assert np.all((found >= 0.0) & (found == np.round(found)))
    one = model.predict_quantiles(X, 0.95)
    np.testing.assert_array_equal(one, found[:, 1])
    model.save(tmp_path / "m.ivm")
    import infovec

    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict_quantiles(X, 0.95), one)


def test_what_cannot_be_asked_for():
    X, y = problem(lambda rng, n: rng.normal(size=n), 60)
    model = IVMRegressor(n_active=20, random_state=0).fit(X, y)
    for q in (0.0, 1.0, [0.5, np.nan], [[0.5]]):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            model.predict_quantiles(X, q)

    class Own(Likelihood):
        def log_prob(self, y, f):
            return -0.5 * (y - f) ** 2 - 0.5 * np.log(2 * np.pi)

        def predict(self, mean, var):
            return mean, var + 1.0

    own = IVMRegressor(likelihood=Own(), n_active=20, learn=None, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="no cdf"):
        own.predict_quantiles(X)


@pytest.mark.parametrize("df", [1.5, 3.0, 8.0, 30.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
def test_density_of_residuals_is_that_of_their_quantiles(df, scale):
    found = residual_density(scale * stats.t.ppf(LEVELS, df))
    assert found.scale == pytest.approx(scale, rel=1e-3)
    assert found.df == pytest.approx(df, rel=1e-2)


def test_density_of_residuals_is_of_maximum_likelihood():
    """No other pair makes intervals more probable, by brute force, for quantiles that no t distribution has."""
    q = np.sign(ndtri(LEVELS)) * np.abs(ndtri(LEVELS)) ** 1.4 + 0.1
    best = residual_density(q)

    def loss(scale, df):
        return -np.mean(np.log(np.diff(stats.t.cdf(q, df, scale=scale), prepend=0.0, append=1.0)))

    least = loss(best.scale, best.df)
    for scale in best.scale * np.linspace(0.5, 2.0, 31):
        for df in best.df * np.linspace(0.5, 2.0, 31):
            assert least <= loss(scale, df) + 1e-9


def test_density_of_normal_residuals_is_normal():
    found = residual_density(ndtri(LEVELS))
    z = np.linspace(-4.0, 4.0, 41)
    np.testing.assert_allclose(found.log_prob(z, np.zeros(41)), stats.norm.logpdf(z), atol=0.1)
    np.testing.assert_allclose(found.log_prob(z[10:-10], np.zeros(21)), stats.norm.logpdf(z[10:-10]), atol=3e-3)


@pytest.mark.parametrize("noise", [Gaussian(0.3, 0.5), weighted(Gaussian(0.3), 2.0), Transformed(Gaussian(0.3), Log()),
                                   Transformed(Gaussian(0.3), YeoJohnson(0.3))], ids=str)  # fmt: skip
def test_densities_with_the_tails_of_residuals_integrate_to_one(noise):
    residual, mean, var = StudentT(0.8, 2.5), np.array([0.7]), np.array([0.4])

    def density(y):
        return float(np.exp(log_density(noise, residual, np.array([y]), mean, var)[0]))

    median = float(quantile(noise, 0.5, mean, var)[0])
    pieces = [(-np.inf, median - 3.0), (median - 3.0, median), (median, median + 5.0), (median + 5.0, np.inf)]
    total = sum(integrate.quad(density, low, high, limit=400)[0] for low, high in pieces)
    assert total == pytest.approx(1.0, abs=2e-4)
    z = 0.8 * stats.t.ppf(0.9, 2.5)  # a score, and the target that has it
    target = quantile(noise, stats.norm.cdf(z), mean, var)[0]
    below = sum(integrate.quad(density, low, min(high, target), limit=400)[0] for low, high in pieces if low < target)
    assert below == pytest.approx(0.9, abs=2e-4)


def test_densities_far_out_keep_their_digits():
    far = log_density(Gaussian(1.0), StudentT(1.0, 3.0), np.array([1e8, 1e100]), np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(far, stats.t.logpdf([1e8, 1e100], 3.0), rtol=1e-10)


def test_residuals_of_heavy_tails_make_for_a_better_density():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2.0, 2.0, (800, 2))
    heavy = np.sin(2.0 * x[:, 0]) + x[:, 1] + 0.2 * rng.standard_t(2.5, 800)
    model = IVMRegressor(n_active=50, random_state=0).fit(x[:400], heavy[:400])
    mean, std = model.predict(x[400:], return_std=True)
    normal = stats.norm.logpdf(heavy[400:], mean, std).mean()
    assert model.log_density(x[400:], heavy[400:]).mean() > normal + 0.1
    calm = np.sin(2.0 * x[:, 0]) + 0.2 * rng.normal(size=800)
    model = IVMRegressor(n_active=50, random_state=0).fit(x[:400], calm[:400])
    mean, std = model.predict(x[400:], return_std=True)
    normal = stats.norm.logpdf(calm[400:], mean, std).mean()
    assert model.log_density(x[400:], calm[400:]).mean() == pytest.approx(normal, abs=0.02)
