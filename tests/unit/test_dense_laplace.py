"""Laplace's approximation for several classes, against scikit-learn, dense formulas and general optimisers."""

import numpy as np
import pytest
from oracles import fd_gradient, race_log_z
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, ndtr, softmax
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as theirs

from infovec.dense import (
    Logit,
    Probit,
    class_proba,
    laplace,
    laplace_adjoint,
    laplace_evidence,
    laplace_latent,
)
from infovec.dense.laplace_fit import product
from infovec.dense.race import race_curvature, race_log_prob, race_trace_slope
from infovec.kernels import RBF, Bias, Linear, Matern
from infovec.likelihoods.classes import MultivariateProbit, Softmax

NOISES = {"logit": Logit(), "probit": Probit()}


def log_prob(name, labels, f):
    """Log P of every row, by means of nothing in the library."""
    if name == "logit":
        return log_softmax(f, axis=1)[np.arange(len(labels)), labels]
    return race_log_z(labels, f, np.zeros_like(f))


def problem(n=14, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.argsort(np.argsort(X[:, 0] + 0.4 * rng.normal(size=n))) * classes // n


@pytest.mark.parametrize("C", [2, 3, 6])
def test_derivatives_of_the_race(C):
    rng = np.random.default_rng(C)
    f = rng.normal(size=(24, C)) * np.geomspace(0.01, 4.0, 24)[:, None]
    labels = rng.integers(0, C, 24)
    log_z = race_log_z(labels, f, np.zeros_like(f))
    found = race_curvature(labels, f)
    np.testing.assert_allclose(found.log_prob, log_z, atol=1e-9)
    np.testing.assert_allclose(race_log_prob(labels, f), found.log_prob, rtol=1e-13)
    S = rng.normal(size=(24, C, C))
    S = S @ S.transpose(0, 2, 1)
    slope, W = np.empty((24, C)), np.empty((24, C, C))
    for j, step in enumerate(1e-5 * np.eye(C)):
        after, before = race_curvature(labels, f + step), race_curvature(labels, f - step)
        W[:, j] = -(after.g - before.g) / 2e-5
        slope[:, j] = np.einsum("iab,iab->i", S, after.W - before.W) / 2e-5
        change = (race_log_z(labels, f + step, 0 * f) - race_log_z(labels, f - step, 0 * f)) / 2e-5
        np.testing.assert_allclose(found.g[:, j], change, atol=1e-6)
    np.testing.assert_allclose(found.W, W, atol=1e-8)
    np.testing.assert_allclose(race_trace_slope(labels, f, S), slope, atol=1e-7)


@pytest.mark.parametrize("far", [10.0, 100.0, 1e4, 1e7])
def test_the_race_in_its_tails(far):
    """Half the squared gap is lost against one rival, two thirds of it against two as far ahead."""
    f, labels = np.array([[-far, 0.0, -50.0 * far], [-far, 0.0, 0.0]]), np.array([0, 0])
    found = race_curvature(labels, f)
    tilted = MultivariateProbit(np.zeros(3)).tilted(labels, f, np.zeros_like(f))
    np.testing.assert_allclose(found.log_prob, tilted.log_z, rtol=1e-9)
    np.testing.assert_allclose(found.g, tilted.g, rtol=1e-7, atol=1e-9)
    assert np.all(np.linalg.eigvalsh(found.W) > -1e-9)
    if far >= 100.0:
        np.testing.assert_allclose(found.W[0, :2, :2], [[0.5, -0.5], [-0.5, 0.5]], atol=1e-3)
        np.testing.assert_allclose(found.W[1, 0, 0], 2.0 / 3.0, atol=1e-3)
        np.testing.assert_allclose(found.W[1, 1, 2], -1.0 / 3.0, atol=1e-3)


@pytest.mark.parametrize("variance", [0.5, 4.0, 100.0])
def test_two_classes_by_logit_are_the_classifier_of_scikit_learn(variance):
    """Two functions of kernel K differ by one of kernel 2 K."""
    X, y = problem(40, classes=2)
    X_new = np.random.default_rng(1).normal(size=(9, 2))
    other = GaussianProcessClassifier(theirs.ConstantKernel(2.0 * variance) * theirs.RBF(0.8), optimizer=None).fit(X, y)
    kernel = RBF(0.8, variance)
    found = laplace_evidence(Logit(), [kernel], X, y, 2)
    base = other.base_estimator_
    K2 = base.kernel_(X)
    _, (_, _, _, _, a) = base._posterior_mode(K2, return_temporaries=True)
    mode = found.fit.latent[:, 1] - found.fit.latent[:, 0]
    np.testing.assert_allclose(mode, K2 @ a, atol=1e-4)
    np.testing.assert_allclose(found.value, other.log_marginal_likelihood_value_, atol=1e-6)
    _, gradient = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
    np.testing.assert_allclose(found.gradient[0], gradient[::-1], atol=1e-4)  # theirs has the variance first
    latent = laplace_latent(found.fit, kernel(X_new, X), kernel.diag(X_new))
    proba = class_proba(Softmax(np.zeros(2)), *latent)
    np.testing.assert_allclose(proba, other.predict_proba(X_new), atol=4e-3)  # theirs is five error functions
    mean, cov = latent.mean[:, 1] - latent.mean[:, 0], latent.cov
    sd = np.sqrt(cov[:, 0, 0] + cov[:, 1, 1] - 2.0 * cov[:, 0, 1])
    nodes = np.linspace(-9.0, 9.0, 4001)
    weights = np.exp(-0.5 * nodes**2)
    exact = expit(mean[:, None] + sd[:, None] * nodes) @ (weights / weights.sum())
    np.testing.assert_allclose(proba[:, 1], exact, atol=1e-6)


def test_two_classes_by_probit_are_the_binary_probit():
    """Their race is Phi of a function of kernel K: the noises have twice the variance, as have the functions."""
    X, y = problem(25, classes=2)
    K, t = RBF(0.8, 3.0)(X), 2.0 * y - 1.0
    L = np.linalg.cholesky(K + 1e-9 * np.eye(25))

    def minus(v):
        return 0.5 * v @ v - np.log(ndtr(t * (L @ v))).sum()

    v = minimize(minus, np.zeros(25), method="BFGS", options={"gtol": 1e-6}).x
    f = L @ v
    h = np.exp(-0.5 * f**2) / np.sqrt(2 * np.pi) / ndtr(t * f)
    evidence = -minus(v) - 0.5 * np.linalg.slogdet(np.eye(25) + K * (h * (h + t * f)))[1]
    found = laplace(Probit(), K, y, 2)
    np.testing.assert_allclose((found.latent[:, 1] - found.latent[:, 0]) / np.sqrt(2.0), f, atol=1e-4)
    np.testing.assert_allclose(found.log_evidence, evidence, atol=1e-5)


def dense_fit(name, Ks, labels):
    """Mode by a general optimiser on whitened values, curvature by differences: all matrices of size n C."""
    C, n = len(Ks), len(labels)
    K = np.zeros((C * n, C * n))
    for c, k in enumerate(Ks):
        K[c * n : (c + 1) * n, c * n : (c + 1) * n] = k + 1e-9 * np.eye(n)
    L = np.linalg.cholesky(K)

    def minus(v):
        return 0.5 * v @ v - log_prob(name, labels, (L @ v).reshape(C, n).T).sum()

    v = minimize(minus, np.zeros(C * n), method="BFGS", options={"gtol": 1e-6}).x
    f = (L @ v).reshape(C, n).T
    W, e = np.zeros((C, n, C, n)), 1e-4
    for a in range(C):
        for b in range(C):
            s, t = e * np.eye(C)[a], e * np.eye(C)[b]
            second = [log_prob(name, labels, f + p * s + q * t) for p, q in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            W[a, np.arange(n), b, np.arange(n)] = -(second[0] - second[1] - second[2] + second[3]) / (4 * e * e)
    W = W.reshape(C * n, C * n)
    value = -minus(v) - 0.5 * np.linalg.slogdet(np.eye(C * n) + K @ W)[1]
    return value, f, W, K


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("own", [False, True], ids=["shared", "own"])
def test_three_classes_equal_a_general_optimiser(name, own):
    X, y = problem(12)
    X_new = np.random.default_rng(2).normal(size=(5, 2))
    kernels = [RBF(1.0, 3.0), Matern(0.7, 5.0), RBF(2.0, 1.0)] if own else [RBF(1.0, 3.0)] * 3
    Ks = [kernel(X) for kernel in kernels]
    value, f, W, K = dense_fit(name, Ks, y)
    fit = laplace(NOISES[name], np.stack(Ks) if own else Ks[0], y, 3)
    np.testing.assert_allclose(fit.latent, f, atol=1e-4)
    np.testing.assert_allclose(fit.log_evidence, value, atol=1e-5)
    cross, diag = [kernel(X_new, X) for kernel in kernels], [kernel.diag(X_new) for kernel in kernels]
    latent = laplace_latent(fit, *((np.stack(cross), np.stack(diag)) if own else (cross[0], diag[0])))
    M = W @ np.linalg.inv(np.eye(len(W)) + K @ W)
    for i in range(5):
        k = np.zeros((3, 3, 12))
        k[np.arange(3), np.arange(3)] = [c[i] for c in cross]
        k = k.reshape(3, 36)
        cov = np.diag([d[i] for d in diag]) - k @ M @ k.T
        np.testing.assert_allclose(latent.cov[i], cov, atol=1e-5)
        np.testing.assert_allclose(latent.mean[i], k @ np.linalg.solve(K, f.T.ravel()), atol=1e-3)
        np.testing.assert_allclose(latent.mean[i], k @ fit.weights.T.ravel(), rtol=1e-10)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(
    "kernels",
    [
        [RBF(1.0, 3.0)],
        [RBF(np.array([0.7, 2.0]), 40.0) + 0.5 * Linear() + Bias(0.3)],
        [RBF(1.0, 3.0), Matern(0.7, 5.0), RBF(2.0, 1.0), RBF(0.5, 0.1)],
    ],
    ids=["one", "sum", "own"],
)
def test_gradients_equal_central_differences(name, kernels):
    X, y = problem(20, classes=4)
    sizes = np.cumsum([kernel.theta.size for kernel in kernels])[:-1]

    def at(theta):
        return [k.with_theta(t) for k, t in zip(kernels, np.split(theta, sizes), strict=True)]

    def value(theta):
        Ks = [kernel(X) for kernel in at(theta)]
        return laplace(NOISES[name], Ks[0] if len(Ks) == 1 else np.stack(Ks), y, 4).log_evidence

    found = laplace_evidence(NOISES[name], kernels, X, y, 4)
    theta = np.concatenate([kernel.theta for kernel in kernels])
    np.testing.assert_allclose(np.concatenate(found.gradient), fd_gradient(value, theta, 1e-4), rtol=1e-5, atol=1e-6)
    again = laplace_evidence(NOISES[name], kernels, X, y, 4, start=found.fit.weights)
    assert again.fit.steps == 1
    np.testing.assert_allclose(again.value, found.value, rtol=1e-10)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("variance", [1e-10, 1.0, 1e4, 1e8])
def test_newton_arrives_whatever_the_kernel_and_the_start(name, variance):
    X, y = problem(18)
    X[1], y[0], y[1] = X[0], 0, 2  # one input with two labels
    K = RBF(1.0, variance)(X)
    rng, values = np.random.default_rng(0), []
    for start in (None, rng.normal(size=(18, 3)) * 30.0 / np.sqrt(variance)):
        fit = laplace(NOISES[name], K, y, 3, start=start)
        assert np.isfinite(fit.log_evidence)
        log_p, g = NOISES[name].slopes(y, fit.latent)
        rest = g - fit.weights
        assert np.vdot(rest, product(K[None], rest)) < 1e-5  # more than what any step could gain
        np.testing.assert_allclose(product(K[None], fit.weights), fit.latent, rtol=1e-9, atol=1e-14 * variance + 1e-9)
        values.append(log_p - 0.5 * np.vdot(fit.weights, fit.latent))
    np.testing.assert_allclose(values[0], values[1], atol=1e-7)
    same = np.zeros(18, dtype=int)  # labels of one class only
    assert laplace(NOISES[name], K, same, 3).log_evidence < 0.0


def test_classes_may_be_named_in_any_order():
    X, y = problem(16)
    K, turn = RBF(1.0, 3.0)(X), np.array([2, 0, 1])
    for noise in NOISES.values():
        one, two = laplace(noise, K, y, 3), laplace(noise, K, turn[y], 3)
        np.testing.assert_allclose(one.latent, two.latent[:, turn], atol=1e-7)
        np.testing.assert_allclose(one.log_evidence, two.log_evidence, rtol=1e-9)
        G = [laplace_adjoint(noise, fit, K, labels) for fit, labels in ((one, y), (two, turn[y]))]
        np.testing.assert_allclose(*G, atol=1e-6)
        np.testing.assert_allclose(G[0], G[0].T, atol=1e-12)


@pytest.mark.parametrize(("C", "tolerance"), [(2, 2e-6), (3, 2e-6), (4, 1e-3), (5, 4e-3), (8, 8e-3)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
def test_probabilities_of_classes_that_are_not_independent(C, tolerance, scale):
    rng = np.random.default_rng(C)
    root = scale * rng.normal(size=(3, C, C))
    mean, cov = scale * rng.normal(size=(3, C)), root @ root.transpose(0, 2, 1)
    if C <= 4:  # trapezoidal rule in the coordinates of the differences
        nodes = np.linspace(-7.5, 7.5, {2: 4001, 3: 401, 4: 91}[C])
        weights = np.exp(-0.5 * nodes**2)
        z = np.stack(np.meshgrid(*[nodes] * (C - 1)), axis=-1).reshape(-1, C - 1)
        w = np.prod(np.stack(np.meshgrid(*[weights / weights.sum()] * (C - 1)), axis=-1).reshape(-1, C - 1), axis=1)
    else:
        z, w = rng.normal(size=(100_000, C - 1)), np.full(100_000, 1e-5)
    P = np.eye(C) - 1.0 / C
    expected = []
    for m, S in zip(mean, cov, strict=True):
        lam, U = np.linalg.eigh(P @ S @ P)
        f = m + (z * np.sqrt(lam[1:])) @ U[:, 1:].T
        expected.append(w @ softmax(f, axis=1))
    found = class_proba(Softmax(np.zeros(C)), mean, cov)
    np.testing.assert_allclose(found, expected, atol=tolerance)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)
    with_common = cov + 7.0  # what all classes have in common does not count
    np.testing.assert_allclose(class_proba(Softmax(np.zeros(C)), mean, with_common), found, atol=tolerance)


@pytest.mark.parametrize(("C", "tolerance"), [(2, 0.0), (3, 0.0), (4, 1e-3), (6, 5e-3)])
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_probabilities_by_probit_of_dependent_classes(C, tolerance, scale):
    """Noise is one more independent part: a race of Gaussians, counted."""
    rng = np.random.default_rng(C)
    root, mean = scale * rng.normal(size=(C, C)), rng.normal(size=C)
    y = mean + rng.normal(size=(200_000, C)) @ root.T + rng.normal(size=(200_000, C))
    counted = np.bincount(y.argmax(axis=1), minlength=C) / len(y)
    found = class_proba(MultivariateProbit(np.zeros(C)), mean[None], (root @ root.T)[None])[0]
    np.testing.assert_allclose(found, counted, atol=tolerance + 4.0 * 0.5 / np.sqrt(len(y)))
