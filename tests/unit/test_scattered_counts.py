"""Counts that scatter more than a Poisson distribution."""

import numpy as np
import pytest
from mpmath import exp, log, loggamma, mp, mpf
from scipy.stats import nbinom

from infovec import IVMRegressor
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Likelihood, Poisson, poisson
from infovec.numerics.gamma import stirling_rest


def made(n, shape, seed=5, level=3.0, p=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 5.0, size=(n + 1000, p))
    mean = np.exp(level + np.sin(X[:, 0]))
    y = rng.poisson(mean if shape is None else mean * rng.gamma(shape, 1.0 / shape, n + 1000)).astype(float)
    return X, y, mean


@pytest.mark.parametrize("settings", [{}, {"kernel": RBF(np.ones(2)) + Bias()}, {"kernel": "matern"}])
def test_the_function_does_not_follow_counts_from_row_to_row(settings):
    X, y, mean = made(300, 3.0)
    model = IVMRegressor(likelihood="poisson", n_active=100, random_state=0, **settings).fit(X[:300], y[:300])
    best = 1.0 - np.mean((mean[300:] - y[300:]) ** 2) / np.var(y[300:])  # of who knows the means
    assert model.score(X[300:], y[300:]) > best - 0.06
    assert 0.2 < model.likelihood_.scatter < 0.5  # in truth a third
    low, high = model.predict_quantiles(X[300:], (0.05, 0.95)).T
    assert 0.86 < np.mean((y[300:] >= low) & (y[300:] <= high)) < 0.96


@pytest.mark.parametrize(("n", "level"), [(300, 0.0), (300, 6.0), (60, 1.0), (60, 9.0), (200, 27.0)])
def test_counts_that_do_not_scatter_are_fitted_as_if_nobody_had_asked(n, level):
    X, y, _ = made(n, None, seed=11, level=level)
    first = {"n_active": 40, "random_state": 0}
    ours = IVMRegressor(likelihood="poisson", **first).fit(X[:n], y[:n])
    plain = IVMRegressor(likelihood=Poisson(bias=float(np.log(y[:n].mean()))), **first).fit(X[:n], y[:n])
    assert ours.likelihood_.scatter == 0.0
    np.testing.assert_array_equal(ours.predict(X[n:]), plain.predict(X[n:]))
    assert ours.history_["theta"].shape == plain.history_["theta"].shape


def test_steps_of_learning_are_those_of_the_parameters_it_began_with():
    X, y, _ = made(300, 3.0)
    for kernel in (None, "matern"):
        model = IVMRegressor(kernel, likelihood="poisson", n_active=60, random_state=0).fit(X[:300], y[:300])
        assert model.likelihood_.scatter > 0.0
        assert model.history_["theta"].shape[1] in (4, 5)  # scale or scales, two variances, the bias
        assert len(model.relevances()) == (2 if model.history_["theta"].shape[1] == 5 else 0)


def test_without_learning_and_with_few_rows_nothing_is_looked_for():
    X, y, _ = made(300, 3.0)
    for settings, n in (({"learn": None}, 300), ({}, 25)):
        model = IVMRegressor(likelihood="poisson", n_active=20, random_state=0, **settings).fit(X[:n], y[:n])
        assert model.likelihood_.scatter == 0.0


@pytest.mark.parametrize("scatter", [1e-12, 1e-8, 1e-3, 0.1, 1.0, 10.0, 1e4])
def test_log_probabilities_of_negative_binomial_counts(scatter):
    """Against sixty digits, from the far left to the far right of the mode, with counts up to a million million."""
    with mp.workdps(60):
        for y in (0.0, 1.0, 3.0, 50.0, 1e6, 1e12):
            for t in (-30.0, -3.0, -0.1, 0.0, 1e-4, 0.5, 1.0, 2.0, 30.0, 500.0):
                f = float(np.log(max(y, 1.0)) + t)
                r, rate, count = 1 / mpf(scatter), exp(mpf(f)), mpf(y)
                exact = loggamma(count + r) - loggamma(r) - loggamma(count + 1)
                exact = float(exact + r * log(r / (r + rate)) + count * log(rate / (r + rate)))
                found = float(Poisson(scatter=scatter).log_prob(np.array(y), np.array(f)))
                assert found == pytest.approx(exact, rel=1e-10, abs=1e-10), (y, t)


def test_scatter_without_end_of_it_is_poisson():
    y, f = np.array([0.0, 3.0, 40.0])[:, None], np.linspace(-2.0, 5.0, 9)
    np.testing.assert_allclose(Poisson(0.2, scatter=1e-11).log_prob(y, f), Poisson(0.2).log_prob(y, f), rtol=1e-8)


def test_what_stirlings_formula_leaves():
    with mp.workdps(40):
        for z in (1e-6, 0.3, 1.0, 5.0, 9.99, 10.0, 10.01, 300.0, 1e9):
            x = mpf(z)
            exact = float(loggamma(x) - (x - 0.5) * log(x) + x - log(2 * mp.pi) / 2)
            assert float(stirling_rest(np.array(z))) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("scatter", [0.02, 0.7, 5.0])
def test_cumulative_probabilities_and_draws(scatter):
    f, y = np.array([-1.0, 1.5, 4.0]), np.arange(0.0, 60.0, 7.0)[:, None]
    noise, r, rate = Poisson(0.3, scatter=scatter), 1.0 / scatter, np.exp(np.array([-1.0, 1.5, 4.0]) + 0.3)
    np.testing.assert_allclose(noise.cdf(y + 0.5, f), nbinom.cdf(y, r, r / (r + rate)), rtol=1e-9)
    assert np.all(noise.cdf(-1.0 + 0.0 * f, f) == 0.0)
    drawn = noise.sample(np.tile(f, (100_000, 1)), np.random.RandomState(0))
    np.testing.assert_allclose(drawn.mean(axis=0), rate, rtol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0), rate + scatter * rate**2, rtol=0.1)


def test_a_scatter_is_a_number_from_zero():
    for scatter in (-0.1, np.inf, "much"):
        with pytest.raises(ValueError, match="scatter must be a finite number from 0"):
            Poisson(scatter=scatter)


def test_the_factorised_posterior_looks_before_it_learns():
    X, y, _ = made(120, 3.0)
    model = IVMRegressor(likelihood="poisson", approximation="factorised", n_active=25, random_state=0)
    model.fit(X[:120], y[:120])
    assert model.likelihood_.scatter > 0.1
    assert model.history_["theta"].shape[1] == 4
    assert model.score(X[120:], y[120:]) > 0.2  # who knows the means has 0.4


def test_what_counts_have_by_themselves_is_computed_once_for_all_places_of_the_function(monkeypatch):
    """Quadrature asks a hundred and fifty times; Gamma functions of counts had been half of a fit."""
    calls = []
    monkeypatch.setattr(poisson, "stirling_rest", lambda z: calls.append(np.shape(z)) or stirling_rest(z))
    y, mean, var = np.arange(20.0), np.linspace(-1.0, 3.0, 20), np.full(20, 0.5)
    found = Poisson(0.3, 0.4).tilted(y, mean, var)
    assert len(calls) <= 6  # three, and three more for rows that are done again
    general = Likelihood.tilted(Poisson(0.3, 0.4), y, mean, var)
    for own, other in zip(found, general, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
    single = Poisson(0.3, 0.4).tilted(3.0, mean, var)
    np.testing.assert_allclose(single.log_z[7], Poisson(0.3, 0.4).tilted(y[3:4], mean[7:8], var[:1]).log_z[0])
