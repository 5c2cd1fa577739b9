"""Student's t noise: degrees of freedom that keep a variance, targets in any unit, and what to do without one."""

import warnings

import numpy as np
import pytest
from oracles import tilted_by_panels

from infovec import IVMRegressor, load
from infovec.kernels import RBF
from infovec.likelihoods import StudentT, weighted


def cauchy(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, (n, 1))
    return x, np.sin(x[:, 0]) + 0.1 * rng.standard_cauchy(n)


def test_degrees_of_freedom_above_two_stay_there_while_learning():
    x, y = cauchy()
    model = IVMRegressor(likelihood="student_t", n_active=20, random_state=0).fit(x, y)
    assert 2.0 < model.likelihood_.df < 2.5  # the noise has one, and would like to say so
    noise = model.likelihood_
    variance = model.predict_latent(x)[1] ** 2 + noise.scale**2 * noise.df / (noise.df - 2.0)
    np.testing.assert_allclose(model.predict(x, return_std=True)[1] ** 2, variance, rtol=1e-10)
    free = IVMRegressor(likelihood=StudentT(0.1, df=1.9), n_active=20, random_state=0).fit(x, y)
    assert free.likelihood_.df < 1.9


@pytest.mark.parametrize("df", [1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 40.0, 1e4])
def test_moments_with_few_and_many_degrees_of_freedom(df):
    """Small ones are met while they are learned; none may overflow."""
    likelihood = StudentT(0.7, df)
    rows = [(y, m, v) for y in (0.0, 3.0, 1e4) for m in (-1.0, 0.2) for v in (1e-4, 1.0, 1e4)]
    y, mean, var = np.array(rows).T
    found = likelihood.tilted(y, mean, var)
    assert np.all(np.isfinite([*found, *likelihood.d_log_z(y, mean, var)]))
    for i in range(len(y) if 0.05 < df < 1e3 else 0):  # beyond, the nodes are too few for more than an idea
        exact = tilted_by_panels(lambda f, i=i: likelihood.log_prob(y[i], f), mean[i], var[i], [y[i]])
        units = np.array([1.0, np.sqrt(var[i]), var[i]])
        np.testing.assert_allclose(units * [part[i] for part in found], units * exact, rtol=1e-5, atol=1e-5)


def test_theta_of_the_degrees_of_freedom():
    assert StudentT(df=4.0).theta[1] == pytest.approx(np.log(2.0))
    assert StudentT(df=2.0).theta[1] == pytest.approx(np.log(2.0))
    for df in (0.3, 2.0, 2.01, 4.0, 1e6):
        likelihood = StudentT(df=df)
        assert likelihood.with_theta(likelihood.theta).df == pytest.approx(df, rel=1e-12)
        at_the_bound = likelihood.with_theta(np.where([False, True, False], likelihood.bounds[:, 0], likelihood.theta))
        assert (at_the_bound.df > 2.0) == (df > 2.0)


@pytest.mark.parametrize("likelihood", [StudentT(0.1, df=1.5), weighted(StudentT(0.1, df=2.0), 2.0)])
def test_a_standard_deviation_that_does_not_exist_is_explained(likelihood, tmp_path):
    x, y = cauchy()
    model = IVMRegressor(kernel=RBF(), likelihood=likelihood, learn=None, n_active=20, random_state=0).fit(x, y)
    with pytest.warns(UserWarning, match=r"has no standard deviation.*df above 2.*predict_latent"):
        _, std = model.predict(x, return_std=True)
    assert np.all(np.isinf(std))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean = model.predict(x)
        model.save(tmp_path / "model.ivm")
        np.testing.assert_array_equal(load(tmp_path / "model.ivm").predict(x), mean)


@pytest.mark.parametrize("unit", [1e-9, 1e5, 1e12])
def test_targets_in_any_unit(unit):
    x, y = cauchy(seed=1)
    once, other = (
        IVMRegressor(likelihood="student_t", n_active=20, random_state=0, dtype="float64").fit(x, u * y)
        for u in (1.0, unit)
    )
    assert other.converged_
    np.testing.assert_allclose(other.predict(x) / unit, once.predict(x), atol=0.05)
    given = RBF(1.0, 4.0 * unit**2), StudentT(0.1 * unit)  # in the unit of the targets, as a user would
    learned = IVMRegressor(*given, n_active=20, random_state=0, dtype="float64").fit(x, unit * y)
    assert np.median(np.abs(learned.predict(x) / unit - np.sin(x[:, 0]))) < 0.1
