"""Criteria of the factorised posterior: values against dense formulas, gradients against differences."""

import numpy as np
import pytest
from oracles import (
    expected_by_panels,
    factorised_bound,
    factorised_evidence,
    fd_gradient,
    gaussian_from_sites,
    gaussian_log_density,
    tilted_by_panels,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import infovec.criteria.chain as chain_module
from infovec.criteria import Given, active_set_criterion, ep_criterion, partition_criterion, variational_criterion
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    FromFunction,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Relevance,
    White,
)
from infovec.likelihoods import Gaussian, Laplace, Logit, Ordinal, Poisson, Probit, StudentT
from infovec.selection import sites_in_order

N, ACTIVE = 24, np.array([3, 17, 8, 22, 11, 5, 14])
LIKELIHOODS = [
    Gaussian(0.2, bias=0.3),
    Gaussian(np.linspace(0.05, 2.0, N), bias=0.4),
    Probit(bias=-0.4, slope=1.7),
    Logit(bias=0.3),
    Ordinal(np.array([-0.5, 0.7]), slope=2.0),
    Poisson(bias=0.2),
    Laplace(scale=0.4, bias=0.1),
    StudentT(0.6, df=3.0),
]
CRITERIA = {"ep": ep_criterion, "active_set": active_set_criterion, "variational": variational_criterion}
KERNEL = RBF(0.8, 3.0) + Bias(0.5) + White(0.05)
each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda v: repr(v)[:30])
each_criterion = pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)


def problem(likelihood, kernel=KERNEL, n=N, active=ACTIVE):
    """Inputs and targets of a model, with the sites that moment matching in order gives the active rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    if isinstance(kernel, FromFunction):
        X = np.array(["".join(rng.choice(list("abcdef"), size=4)) for _ in range(n)], dtype=object)
    if isinstance(kernel, Precomputed):
        X = np.arange(n, dtype=float)[:, None]
    if isinstance(likelihood, Probit | Logit):
        y = np.where(f > 0.2, 1.0, -1.0)
    elif isinstance(likelihood, Ordinal):
        y = np.digitize(f, likelihood.thresholds).astype(float)
    else:
        y = rng.poisson(np.exp(f)).astype(float) if isinstance(likelihood, Poisson) else f
    sites = sites_in_order(kernel, X[active], y[active], likelihood.take(active))
    rows = np.setdiff1d(np.arange(n), active)
    return X, y, Given(active, X[active], y[active], *sites, rows, X[rows], y[rows])


def oracles(likelihood, y):
    def log_prob(i):
        own = likelihood.take(np.array([i]))
        return lambda f: own.log_prob(np.array([y[i]]), f)

    def log_z(i, mean, var):
        return tilted_by_panels(log_prob(i), mean, var, centres=(0.0, y[i]))[0]

    return log_z, lambda i, mean, var: expected_by_panels(log_prob(i), mean, var)


@each_likelihood
def test_values_equal_dense_formulas(likelihood):
    X, y, given = problem(likelihood)
    K, sites = KERNEL(X), (given.precision, given.site_mean)
    log_z, expected = oracles(likelihood, y)
    assert ep_criterion(given, KERNEL, likelihood).value == pytest.approx(
        factorised_evidence(K, ACTIVE, *sites, log_z), rel=1e-7
    )
    want = gaussian_log_density(sites[1], K[np.ix_(ACTIVE, ACTIVE)] + np.diag(1.0 / sites[0]))
    assert active_set_criterion(given, KERNEL, likelihood).value == pytest.approx(want, rel=1e-8)
    closed = isinstance(likelihood, Gaussian | Poisson | Laplace)  # else 32 nodes
    assert variational_criterion(given, KERNEL, likelihood).value == pytest.approx(
        factorised_bound(K, ACTIVE, *sites, expected), rel=1e-6 if closed else 1e-4
    )


def check_gradient(criterion, kernel, likelihood):
    _, _, given = problem(likelihood, kernel)
    got = criterion(given, kernel, likelihood)
    by_kernel = fd_gradient(lambda t: criterion(given, kernel.with_theta(t), likelihood).value, kernel.theta)
    by_likelihood = fd_gradient(lambda t: criterion(given, kernel, likelihood.with_theta(t)).value, likelihood.theta)
    for one, other in ((got.by_kernel, by_kernel), (got.by_likelihood, by_likelihood)):
        scale = max(np.abs(other).max(initial=0.0), 1e-3 * abs(got.value))
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6 * scale)


GRAM = (lambda A: A @ A.T / 30)(np.random.default_rng(5).normal(size=(N, 30)))
KERNELS = [
    KERNEL,
    RBF(np.array([0.5, 2.0]), 2.0) + White(0.05),
    Matern(0.9, 2.0, nu=2.5),
    Matern(np.array([0.9, 1.4]), 2.0, nu=0.8),
    Exponential(0.8, 1.5),
    RationalQuadratic(0.8, 2.0),
    2.0 * Linear(0.7) + Bias(0.3) + White(0.1),
    Linear(0.7, relevance=np.array([0.2, 0.9])) + White(0.1),
    Polynomial(2, 1.0, 2.0) + White(0.2),
    MLP(3.0, 2.0, 0.5),
    RBF(0.8, 3.0) * Linear(0.5) + Bias(1.0),
    Periodic(RBF(1.0, 2.0), 1.7),
    Relevance(RBF(0.8, 2.0) + Linear(0.5), np.array([0.9, 0.3])),
    FromFunction(lambda X, Z: np.array([[1.0 * (a[0] == b[0]) + (a == b) for b in Z] for a in X]), variance=2.0),
    Precomputed(GRAM, variance=0.7),
]


@each_criterion
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: repr(k)[:40])
def test_gradient_for_every_kernel(criterion, kernel):
    check_gradient(criterion, kernel, Probit(bias=-0.2))
    check_gradient(criterion, kernel, Gaussian(0.1))


@each_criterion
@each_likelihood
def test_gradient_for_every_likelihood(criterion, likelihood):
    check_gradient(criterion, KERNEL, likelihood)


@each_likelihood
def test_partition_functions_are_those_of_rows_and_cavities(likelihood):
    """Value by brute force; the gradient with the marginals held fixed, which is what moves when the sites do not."""
    X, y, given = problem(likelihood)
    K, log_z = KERNEL(X), oracles(likelihood, y)[0]
    sites = given.precision, given.site_mean
    got = partition_criterion(given, KERNEL, likelihood)
    mean, cov = rows_and_cavities(K, sites)
    assert got.value == pytest.approx(sum(log_z(i, mean[i], cov[i]) for i in range(N)), rel=1e-7)
    assert not got.by_kernel.any()

    def total(theta):
        other = likelihood.with_theta(theta)
        return float(np.sum(other.take(np.arange(N)).tilted(y, mean, cov).log_z))

    np.testing.assert_allclose(got.by_likelihood, fd_gradient(total, likelihood.theta), rtol=1e-5, atol=1e-6)


def rows_and_cavities(K, sites):
    """Marginals of rows outside, cavities of active ones, each from the dense formula."""
    mean, cov = gaussian_from_sites(K, ACTIVE, *sites)
    var = np.diagonal(cov).copy()
    for k, i in enumerate(ACTIVE):
        others = np.delete(np.arange(len(ACTIVE)), k)
        h, A = gaussian_from_sites(K, ACTIVE[others], sites[0][others], sites[1][others])
        mean[i], var[i] = h[i], A[i, i]
    return mean, var


@pytest.mark.parametrize("noise", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("criterion", [ep_criterion, variational_criterion, active_set_criterion])
def test_with_gaussian_noise_and_all_rows_it_is_exact_regression(criterion, noise):
    every = np.random.default_rng(3).permutation(N)
    scales = np.array([0.8, 1.7])
    kernel, likelihood = RBF(scales, 3.0) + Bias(0.5), Gaussian(noise)
    X, y, given = problem(likelihood, kernel, active=every)
    got = criterion(given, kernel, likelihood)
    exact = GaussianProcessRegressor(
        sk.ConstantKernel(3.0) * sk.RBF(scales) + sk.ConstantKernel(0.5) + sk.WhiteKernel(noise), alpha=0.0,
        optimizer=None,
    ).fit(X, y)  # fmt: skip
    value, slope = exact.log_marginal_likelihood(exact.kernel_.theta, eval_gradient=True)
    assert got.value == pytest.approx(value, rel=1e-8)
    by_name = dict(zip(kernel.parameter_names, got.by_kernel, strict=True))
    ours = [
        by_name["left.variance"], by_name["left.length_scale[0]"], by_name["left.length_scale[1]"],
        by_name["right.variance"], got.by_likelihood[0],
    ]  # fmt: skip
    np.testing.assert_allclose(ours, slope, rtol=1e-6, atol=1e-7 * np.abs(slope).max())


@each_criterion
def test_chunks_make_no_difference(criterion, monkeypatch):
    likelihood = Probit(0.2)
    _, _, given = problem(likelihood, n=900)
    whole = criterion(given, KERNEL, likelihood)
    monkeypatch.setattr(chain_module, "_CHUNK_ENTRIES", 1)
    pieces = criterion(given, KERNEL, likelihood)
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_huge_variance():
    """Nothing is lost to cancellation where the prior variance is a million times the noise."""
    kernel = RBF(0.8, 1e4) + Bias(1e3)
    for criterion in CRITERIA.values():
        check_gradient(criterion, kernel, Probit())
