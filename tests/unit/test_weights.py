"""Weights of rows: a likelihood raised to a power, against brute force and against rows given several times."""

import numpy as np
import pytest
from fixed import IVMClassifier, IVMRegressor
from oracles import fd_gradient, full_ep, gaussian_log_density, tilted_by_panels

from infovec.errors import ParameterError
from infovec.kernels import RBF
from infovec.likelihoods import Gaussian, Laplace, Likelihood, Logit, Ordinal, Poisson, Probit, StudentT, weighted

MEANS = [-8.0, 0.3, 4.0]
VARS = [1e-3, 1.0, 30.0, 1e3]
CASES = [
    (Gaussian(0.05, bias=0.3), [-2.0, 3.0]),
    (Probit(bias=-0.7, slope=2.5), [-1.0, 1.0]),
    (Logit(), [-1.0, 1.0]),
    (Ordinal(np.array([-1.0, 0.2, 2.0])), [0.0, 1.0, 3.0]),
    (Poisson(), [0.0, 7.0]),
]
each_case = pytest.mark.parametrize(("likelihood", "targets"), CASES, ids=lambda v: str(v)[:40])


def grid(targets):
    rows = np.array([(y, m, v, w) for y in targets for m in MEANS for v in VARS for w in (0.3, 1.0, 5.5)])
    return rows.T


@each_case
def test_moments_equal_brute_force(likelihood, targets):
    y, mean, var, weight = grid(targets)
    powers = weighted(likelihood, weight)
    found = powers.tilted(y, mean, var)
    centres = [0.0, *getattr(likelihood, "thresholds", ()), -getattr(likelihood, "bias", 0.0)]
    for i in range(len(y)):
        own = [*centres, y[i] - likelihood.bias] if isinstance(likelihood, Gaussian) else centres
        expected = tilted_by_panels(lambda f, i=i: weight[i] * likelihood.log_prob(y[i], f), mean[i], var[i], own)
        units = np.array([1.0, np.sqrt(var[i]), var[i]])
        np.testing.assert_allclose(units * [part[i] for part in found], units * expected, rtol=1e-6, atol=1e-7)


@each_case
def test_gradient_and_the_default(likelihood, targets):
    y, mean, var, weight = grid(targets)
    keep = (np.abs(mean) < 5) & (var > 1e-2) & (var < 100)
    y, mean, var = y[keep], mean[keep], var[keep]
    powers = weighted(likelihood, weight[keep])
    fd = fd_gradient(
        lambda t: weighted(likelihood.with_theta(t), weight[keep]).tilted(y, mean, var).log_z, powers.theta
    )
    np.testing.assert_allclose(powers.d_log_z(y, mean, var), fd, rtol=1e-4, atol=1e-6)
    default = Likelihood.tilted(powers, y, mean, var)
    np.testing.assert_allclose(default.g, powers.tilted(y, mean, var).g, rtol=1e-6, atol=1e-8)


def around_the_kink(log_prob, mean, var, kink):
    """Log Z, g and nu by brute force: panels that end at the kink and crowd around it on all scales."""
    nodes, shares = np.polynomial.legendre.leggauss(40)
    sd, mode = np.sqrt(var), mean
    offsets = np.concatenate([[0.0], np.logspace(-9, 4, 80)])
    edges = np.concatenate([s * scale * offsets + c for c in (kink, mode) for scale in (1.0, sd) for s in (-1.0, 1.0)])
    edges = np.unique(np.append(edges, kink))
    edges = edges[np.abs(edges - mean) < 60 * sd + 2 * abs(kink - mean)]
    half = 0.5 * np.diff(edges)[:, None]
    f = edges[:-1, None] + half * (nodes + 1.0)
    terms = log_prob(f) - 0.5 * ((f - mean) / sd) ** 2 - 0.5 * np.log(2 * np.pi * var) + np.log(half * shares)
    top = terms.max()
    mass = np.exp(terms - top)
    first = np.sum(mass * (f - mean)) / mass.sum()
    spread = np.sum(mass * (f - mean - first) ** 2) / mass.sum()
    return top + np.log(mass.sum()), first / var, (1.0 - spread / var) / var


@pytest.mark.parametrize("scale", [1e-3, 0.4, 50.0])
def test_weights_of_double_exponential_noise(scale):
    """The kink stays where it is, so no rule for smooth densities will do; targets near and far in the tails."""
    likelihood = Laplace(scale, bias=0.3)
    rows = [
        (m + 0.3 + off * np.sqrt(v), m, v, w)
        for m in (-8.0, 0.3)
        for off in (-30.0, -1.0, 0.0, 0.2, 5.0)
        for v in (1e-4, 1.0, 100.0)
        for w in (0.01, 0.3, 5.5, 1000.0)
    ]
    y, mean, var, weight = np.array(rows).T
    powers = weighted(likelihood, weight)
    found = powers.tilted(y, mean, var)
    for i in range(len(y)):
        exact = around_the_kink(lambda f, i=i: weight[i] * likelihood.log_prob(y[i], f), mean[i], var[i], y[i] - 0.3)
        units = np.array([1.0, np.sqrt(var[i]), var[i]])
        np.testing.assert_allclose(units * [part[i] for part in found], units * exact, rtol=1e-7, atol=1e-8)
    slopes = powers.d_log_z(y, mean, var)
    fd = fd_gradient(lambda t: weighted(likelihood.with_theta(t), weight).tilted(y, mean, var).log_z, powers.theta)
    rounding = 1e-10 * np.abs(found.log_z)  # of a difference of two such numbers over its step
    assert np.all(np.abs(slopes - fd) <= 1e-5 * np.abs(fd) + 1e-6 + rounding)
    alone = weighted(likelihood, 3.0)
    np.testing.assert_allclose(alone.tilted(y, mean, var).g, Laplace(scale / 3.0, bias=0.3).tilted(y, mean, var).g)


def test_expected_log_likelihood_with_weights_has_no_kink_to_miss():
    y, mean, var = np.array([0.3, 0.0]), np.array([0.0, 0.2]), np.array([4.0, 0.5])
    powers = weighted(Laplace(0.1), np.array([2.0, 0.5]))
    once = Laplace(0.1).expected_log_prob(y, mean, var)
    np.testing.assert_allclose(powers.expected_log_prob(y, mean, var), [2.0, 0.5] * once, rtol=1e-12)


def data(n=25, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, size=n))[:, None]
    return x, np.sin(x[:, 0]) + 0.2 * rng.normal(size=n), rng.integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_weights_of_gaussian_rows_are_repetitions(approximation):
    x, y, weight = data()
    kernel, noise = RBF(1.0, 2.0), 0.1
    settings = {
        "kernel": kernel,
        "n_active": 1.0,
        "approximation": approximation,
        "dtype": "float64",
        "random_state": 0,
    }
    if approximation == "factorised":  # a row without weight has no site, and cannot be active
        weight += 0.5
    model = IVMRegressor(likelihood=weighted(Gaussian(noise), weight), **settings).fit(x, y)
    told = weight > 0
    z = np.linspace(-4, 4, 50)[:, None]
    K = kernel(x[told]) + np.diag(noise / weight[told])
    mean, std = model.predict_latent(z)
    np.testing.assert_allclose(mean, kernel(z, x[told]) @ np.linalg.solve(K, y[told]), rtol=1e-5, atol=1e-7)
    explained = np.einsum("ij,ij->j", kernel(x[told], z), np.linalg.solve(K, kernel(x[told], z)))
    np.testing.assert_allclose(std**2, 2.0 - explained, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.predict(z, return_std=True)[1] ** 2, std**2 + noise)
    if approximation == "projected":
        again = np.repeat(np.arange(len(x)), weight.astype(int))
        prior = kernel(x[again], x[again]) + noise * np.eye(len(again))
        assert model.log_evidence_ == pytest.approx(gaussian_log_density(y[again], prior), rel=1e-6)


def test_weights_of_classes_are_those_of_dense_ep():
    x, y, weight = data(12)
    t, kernel = np.where(y > 0, 1.0, -1.0), RBF(1.0, 4.0)
    powers = weighted(Probit(0.2), weight)

    def tilted(i, mean, var):
        row = np.array([i])
        return [float(v[0]) for v in powers.take(row).tilted(t[row], np.array([mean]), np.array([var]))]

    _, _, mean, _, log_z = full_ep(kernel(x), tilted)
    model = IVMClassifier(kernel=kernel, likelihood=powers, n_active=1.0, dtype="float64", random_state=0).fit(x, t)
    np.testing.assert_allclose(model.predict_latent(x)[0], mean, atol=1e-3)
    assert model.log_evidence_ == pytest.approx(log_z, abs=1e-3)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)


def test_settings_with_weights():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.7 * rng.normal(size=120) > 0
    heavy, once = (weighted(Probit(), np.where(y, w, 1.0)) for w in (5.0, 1.0))
    plain = IVMClassifier(likelihood=Probit(), n_active=20, random_state=0).fit(X, y)
    assert IVMClassifier(likelihood=heavy, n_active=20).plan(X, y).n_active == 20
    for settings in ({"score": "information_gain"}, {"selection": "refilled", "approximation": "factorised"}):
        model = IVMClassifier(likelihood=heavy, n_active=20, random_state=0, **settings).fit(X, y)
        assert np.mean(model.predict(X)) > np.mean(plain.predict(X)) + 0.03
    learned = [
        IVMClassifier(likelihood=v, n_active=20, random_state=0).set_params(learn="ep") for v in (Probit(), once)
    ]
    np.testing.assert_allclose(*(m.fit(X, y).predict_proba(X) for m in learned), atol=1e-4)


def test_weights_that_cannot_be():
    x, y, weight = data()
    for wrong in ([-1.0, 1.0], [np.nan, 1.0], 0.0, [[1.0]], [0.0, 0.0]):
        with pytest.raises(ParameterError, match="weight must be one number"):
            weighted(Gaussian(), np.array(wrong))
    with pytest.raises(ParameterError, match="plain Likelihood"):
        weighted(weighted(Gaussian(), 2.0), 2.0)
    with pytest.raises(ParameterError, match="25 weights for 20 rows"):
        IVMRegressor(likelihood=weighted(Gaussian(), weight)).fit(x[:20], y[:20])
    with pytest.raises(ParameterError, match="for classes"):
        IVMRegressor(likelihood=weighted(Probit(), weight)).fit(x, y)
    with pytest.raises(ParameterError, match="for numbers"):
        IVMClassifier(likelihood=weighted(Laplace(), weight)).fit(x, y > 0)
    assert not weighted(StudentT(), 2.0).log_concave
    assert weighted(Gaussian(), 2.0).conjugate
