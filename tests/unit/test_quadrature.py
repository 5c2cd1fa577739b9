"""Mode-centred quadrature where the plain rule fails, and for likelihoods that users write."""

from dataclasses import dataclass

import numpy as np
import pytest
from oracles import tilted_by_panels
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import norm

from infovec.likelihoods import Gaussian, Likelihood, Poisson, Prediction
from infovec.numerics.quadrature import gauss_hermite, tilted_moments


def test_rule_is_exact_for_polynomials_times_the_normal_density():
    nodes, log_weights = gauss_hermite(10)
    density = np.exp(log_weights - 0.5 * nodes**2) / np.sqrt(2 * np.pi)
    moments = [1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0]
    np.testing.assert_allclose([density @ nodes**k for k in range(9)], moments, atol=1e-10)


def test_a_likelihood_much_narrower_than_the_gaussian():
    """The trap: twenty nodes on the Gaussian get nu wrong by several per cent."""
    noise, var = 0.05, 1.3
    y, mean = np.array([0.9]), np.array([-0.2])
    nodes, log_weights = gauss_hermite(20)
    f = mean + np.sqrt(var) * nodes
    weights = np.exp(Gaussian(noise).log_prob(y, f) + log_weights - 0.5 * nodes**2)
    spread = np.average((f - np.average(f, weights=weights)) ** 2, weights=weights)
    plain = (1.0 - spread / var) / var
    exact = Gaussian(noise).tilted(y, mean, np.array([var]))
    assert abs(plain / exact.nu[0] - 1.0) > 0.02
    ours = tilted_moments(Gaussian(noise).log_prob, y, mean, np.array([var]))
    for a, b in zip(ours, exact, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_a_wide_grid_of_noise_and_variance():
    y, mean, log_noise, log_var = (
        v.ravel().astype(float) for v in np.meshgrid([-2.0, 3.0], [-30.0, 0.0, 30.0], range(-6, 7, 2), range(-6, 7, 2))
    )
    likelihood = Gaussian(10.0**log_noise)
    var = 10.0**log_var
    ours = tilted_moments(likelihood.log_prob, y, mean, var, take=lambda rows: likelihood.take(rows).log_prob)
    exact = likelihood.tilted(y, mean, var)
    np.testing.assert_allclose(ours.log_z, exact.log_z, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.g, exact.g, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.nu * var, exact.nu * var, rtol=1e-6, atol=1e-9)


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(Likelihood):
    """A user's own likelihood, with nothing but what is required: waiting times of shape 2."""

    def log_prob(self, y, f):
        return np.log(y) - 2.0 * f - y * np.exp(-f) - gammaln(2.0)

    def predict(self, mean, var):
        return Prediction(2.0 * np.exp(mean + var / 2), np.exp(2 * mean + var) * (6.0 * np.exp(var) - 4.0))


@pytest.mark.parametrize("var", [1e-4, 0.5, 40.0, 1e4])
@pytest.mark.parametrize("mean", [-6.0, 0.0, 5.0])
def test_a_likelihood_of_the_users_own(mean, var):
    y = np.array([0.01, 1.0, 50.0])
    log_z, g, nu = Gamma().tilted(y, np.full(3, mean), np.full(3, var))
    for i in range(3):
        exact = tilted_by_panels(lambda f, v=y[i]: Gamma().log_prob(v, f), mean, var, [np.log(y[i])])
        assert log_z[i] == pytest.approx(exact[0], rel=1e-8)
        assert g[i] == pytest.approx(exact[1], rel=1e-6)
        assert nu[i] == pytest.approx(exact[2], rel=1e-5, abs=1e-9 / var)


def counted(y, mean, var):
    """Log Z, g and nu of a count: the trapezoidal rule around the mode, in the distance from it."""
    ends = sorted((mean, np.log(y)))  # the mode is between those of the Gaussian and of the count
    mode = brentq(lambda f: y - np.exp(min(f, 700.0)) - (f - mean) / var, *ends, xtol=1e-14)
    x = np.linspace(-60.0, 60.0, 12001) / np.sqrt(np.exp(mode) + 1.0 / var)
    with np.errstate(over="ignore"):
        psi = y * x - np.exp(mode) * np.expm1(x) - (0.5 * x**2 + x * (mode - mean)) / var
    mass = np.exp(psi)
    first = np.sum(mass * x) / mass.sum()
    spread = np.sum(mass * (x - first) ** 2) / mass.sum()
    at_mode = y * mode - np.exp(mode) - gammaln(y + 1.0) - 0.5 * ((mode - mean) ** 2 / var + np.log(2 * np.pi * var))
    return at_mode + np.log(mass.sum() * (x[1] - x[0])), (mode - mean + first) / var, (1.0 - spread / var) / var


@pytest.mark.parametrize("y", [1.0, 7.0, 1e2, 1e4, 1e6, 1e8])
def test_counts_of_every_size_with_the_mean_far_off(y):
    """From far above the rate is infinite in double precision at the mean itself."""
    rows = [
        (np.log(y) + off * np.sqrt(var), var)
        for off in (-50.0, -10.0, 3.0, 10.0, 50.0)
        for var in 10.0 ** np.arange(-8, 5, 2)
    ]
    mean, var = np.array(rows).T
    found = Poisson().tilted(np.full(len(mean), y), mean, var)
    assert mean.max() > np.log(np.finfo(float).max)
    for i in range(len(mean)):
        log_z, g, nu = counted(y, mean[i], var[i])
        case = f"mean={mean[i]} var={var[i]}"
        assert found.log_z[i] == pytest.approx(log_z, rel=1e-8, abs=1e-6), case
        assert found.g[i] * np.sqrt(var[i]) == pytest.approx(g * np.sqrt(var[i]), rel=1e-8, abs=1e-7), case
        assert found.nu[i] * var[i] == pytest.approx(nu * var[i], rel=1e-7, abs=1e-7), case
        left = 1.0 - found.nu[i] * var[i]  # of the variance: what the precision of a site hangs on
        assert left == pytest.approx(1.0 - nu * var[i], rel=1e-3), case


def test_a_target_that_is_impossible_everywhere_says_nothing():
    log_z, g, nu = tilted_moments(lambda y, f: np.full(np.shape(f), -np.inf), np.ones(2), np.zeros(2), np.ones(2))
    assert np.all(np.isneginf(log_z))
    assert not g.any()
    assert not nu.any()


def test_a_density_that_is_nothing_on_one_side():
    """The way to the mode leads over a cliff, on either side."""
    for side in (-1.0, 1.0):
        found = tilted_moments(
            lambda y, f, side=side: np.where(side * f > 3.0, -side * 2.0 * f, -np.inf),
            np.ones(1),
            np.zeros(1),
            np.ones(1),
        )
        # N(0, 1) e^-2f cut off at 3 is N(-2, 1) beyond it
        tail = norm.logsf(5.0)
        assert found.log_z[0] == pytest.approx(2.0 + tail, rel=1e-6)
        assert found.g[0] == pytest.approx(side * (np.exp(norm.logpdf(5.0) - tail) - 2.0), rel=1e-6)
