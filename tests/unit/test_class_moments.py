"""Moments of the likelihoods of many classes against adaptive and product quadrature, and against two classes."""

import numpy as np
import pytest
from oracles import class_moments_by_product, fd_gradient, race_by_quadrature
from scipy.special import log_softmax, ndtr

from infovec.likelihoods import Logit, Probit
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest, Softmax

NOISE = {MultivariateProbit: "normal", Softmax: "gumbel"}
both = pytest.mark.parametrize("Likelihood", [MultivariateProbit, Softmax])


def random_rows(n, C, seed=0, spread=20.0, log_var=4.0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, C, n), rng.uniform(-spread, spread, (n, C)), 10.0 ** rng.uniform(-log_var, log_var, (n, C))


def assert_moments(got, want, var, tolerance):
    """In units of the standard deviation of each latent value."""
    np.testing.assert_allclose(got[0], want[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got[1] * np.sqrt(var), want[1] * np.sqrt(var), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got[2] * var, want[2] * var, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("C", [2, 3, 5])
def test_probit_equals_adaptive_quadrature(C):
    labels, mean, var = random_rows(60, C, C)
    got = MultivariateProbit(np.zeros(C)).tilted(labels, mean, var)
    for i in range(len(labels)):
        want = race_by_quadrature("normal", labels[i], mean[i], var[i])
        assert_moments([column[i] for column in got], want, var[i], 1e-6)


@pytest.mark.parametrize("C", [3, 5])
def test_softmax_equals_adaptive_quadrature(C):
    labels, mean, var = random_rows(2, C, C, log_var=2.0)
    got = Softmax(np.zeros(C)).tilted(labels, mean, var)
    for i in range(len(labels)):
        want = race_by_quadrature("gumbel", labels[i], mean[i], var[i])
        assert_moments([column[i] for column in got], want, var[i], 1e-6)


@both
def test_two_classes_are_the_binary_likelihood_of_their_difference(Likelihood):
    labels, mean, var = random_rows(2000, 2)
    rows, sign = np.arange(2000), 2.0 * labels - 1.0
    got = Likelihood(np.array([0.3, -0.4])).tilted(labels, mean, var)
    binary = Probit(slope=np.sqrt(0.5)) if Likelihood is MultivariateProbit else Logit()
    want = binary.tilted(sign, mean[:, 1] - mean[:, 0] - 0.7, var.sum(axis=1))
    tolerance = 1e-6 if Likelihood is MultivariateProbit else 5e-6
    np.testing.assert_allclose(got.log_z, want.log_z, rtol=1e-6, atol=1e-6)
    for c, side in ((0, -1.0), (1, 1.0)):
        sd = np.sqrt(var[:, c])
        np.testing.assert_allclose(got.g[rows, c] * sd, side * want.g * sd, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(got.nu[rows, c] * sd**2, want.nu * sd**2, rtol=tolerance, atol=tolerance)


def test_softmax_is_a_race_with_gumbel_noise():
    """The identity itself: product quadrature knows nothing of it."""
    labels, mean, var = random_rows(40, 3, spread=4.0, log_var=0.5)
    bias = np.array([0.5, -1.0, 0.2])
    got = Softmax(bias).tilted(labels, mean, var)
    for i, y in enumerate(labels):
        want = class_moments_by_product(lambda f, y=y: log_softmax(f + bias, axis=1)[:, y], mean[i], var[i])
        assert_moments([column[i] for column in got], want, var[i], 1e-6)


def test_probit_equals_product_quadrature():
    labels, mean, var = random_rows(5, 3, spread=3.0, log_var=0.3)
    likelihood = MultivariateProbit(np.array([0.5, -1.0, 0.2]))
    got = likelihood.tilted(labels, mean, var)
    for i, y in enumerate(labels):
        want = class_moments_by_product(
            lambda f, y=y: likelihood.log_prob(np.full(len(f), y), f), mean[i], var[i], order=24
        )
        assert_moments([column[i] for column in got], want, var[i], 1e-5)


@both
@pytest.mark.parametrize("C", [2, 4, 26])
def test_g_and_nu_are_derivatives_of_log_z(Likelihood, C):
    labels, mean, var = random_rows(50, C, spread=5.0, log_var=1.5)
    likelihood = Likelihood(np.zeros(C))
    got = likelihood.tilted(labels, mean, var)
    for c in (0, C - 1):

        def shifted(step, c=c):
            return likelihood.tilted(labels, mean + step[0] * (np.arange(C) == c), var)

        g = fd_gradient(lambda step: shifted(step).log_z, np.zeros(1), 1e-3)[0]
        nu = -fd_gradient(lambda step, c=c: shifted(step).g[:, c], np.zeros(1), 1e-3)[0]
        sd = np.sqrt(var[:, c])
        np.testing.assert_allclose(got.g[:, c], g, atol=1e-5)
        np.testing.assert_allclose(got.nu[:, c] * sd**2, nu * sd**2, atol=2e-4 * np.maximum(1.0, var[:, c]).max())


@both
def test_probabilities_of_all_classes_at_once(Likelihood):
    for C in (2, 3, 11):
        _, mean, var = random_rows(25, C, C)
        likelihood = Likelihood(np.linspace(-1.0, 1.0, C))
        got = likelihood.log_proba(mean, var)
        np.testing.assert_allclose(np.exp(got).sum(axis=1), 1.0, rtol=1e-12)
        for y in range(C):
            want = likelihood.tilted(np.full(25, y), mean, var).log_z
            np.testing.assert_allclose(got[:, y], want, rtol=3e-6, atol=3e-6)


@both
def test_far_from_everything_nothing_breaks(Likelihood):
    mean = np.array([[500.0, -500.0, 0.0], [-500.0, 500.0, 0.0], [0.0, 0.0, 0.0]])
    for scale in (0.0, 1e-12, 1e8):
        got = Likelihood(np.zeros(3)).tilted(np.zeros(3, dtype=int), mean, np.full((3, 3), scale))
        assert all(np.all(np.isfinite(column)) for column in got)
        assert np.all(got.nu >= 0.0)
        log_proba = Likelihood(np.zeros(3)).log_proba(mean, np.full((3, 3), scale))
        np.testing.assert_allclose(log_proba[2], np.log(1.0 / 3.0), rtol=1e-6)  # three alike
        np.testing.assert_allclose(log_proba[0], log_proba[1][[1, 0, 2]], rtol=1e-9)
        np.testing.assert_allclose(got.log_z, log_proba[:, 0], rtol=1e-5, atol=1e-6)
        if scale < 1.0:
            assert log_proba[0, 0] == pytest.approx(0.0, abs=1e-12)
            exact = -1000.0 if Likelihood is Softmax else -250_000.0  # -d^2 / 4, but for a logarithm
            assert log_proba[0, 1] == pytest.approx(exact, rel=1e-4)
        else:  # 500 is nothing beside a deviation of 10000
            np.testing.assert_allclose(np.exp(log_proba), 1.0 / 3.0, atol=0.05)


@pytest.mark.parametrize("var", [0.0, 1e-12, 1e-6])
def test_without_variance_softmax_is_what_it_says_however_far_a_rival_is_ahead(var):
    gap = np.array([0.0, 5.0, 20.0, 50.0, 100.0, 300.0, 1000.0, 1e4])
    mean = np.column_stack([-gap, np.zeros_like(gap), np.zeros_like(gap)])
    got = Softmax(np.zeros(3)).tilted(np.zeros(len(gap), dtype=int), mean, np.full(mean.shape, var))
    exact = log_softmax(mean, axis=1)
    np.testing.assert_allclose(got.log_z, exact[:, 0], rtol=1e-5)
    np.testing.assert_allclose(got.g, np.eye(3)[0] - np.exp(exact), atol=1e-5)


def test_against_the_rest_exactly_one_class_is_said_yes_to():
    rng = np.random.default_rng(0)
    mean, var, bias = rng.normal(0, 2, (6, 4)), rng.uniform(0.1, 3, (6, 4)), np.array([0.3, -0.2, 0.1, 0.0])
    yes = ndtr((mean + bias) / np.sqrt(1.0 + var))
    one = np.eye(4, dtype=bool)
    joint = np.stack([np.where(one[c], yes, 1.0 - yes).prod(axis=1) for c in range(4)], axis=1)
    found = OneAgainstRest(bias).log_proba(mean, var)
    np.testing.assert_allclose(np.exp(found), joint / joint.sum(axis=1, keepdims=True), rtol=1e-10)
    f = rng.normal(size=(4, 4))
    want = np.log([np.where(one[c], ndtr(f[c] + bias), ndtr(-f[c] - bias)).prod() for c in range(4)])
    np.testing.assert_allclose(OneAgainstRest(bias).log_prob(np.arange(4), f), want, rtol=1e-10)
