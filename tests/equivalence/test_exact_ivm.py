"""The engine in its exact form against dense formulas and brute force."""

import numpy as np
import pytest
from fixed import IVMRegressor
from oracles import DenseADF, gaussian_entropy, gaussian_from_sites, gaussian_relative_entropy
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from infovec.criteria import log_evidence
from infovec.kernels import RBF, Bias, Linear, Matern, White
from infovec.likelihoods import Gaussian, Laplace, Logit, Ordinal, Poisson, Probit, StudentT
from infovec.scores import SCORES
from infovec.selection import Driver, Schedule, StopReason
from infovec.shards import LocalShard

KERNEL = RBF(1.3, 2.0) + Linear(0.3) + Bias(0.2) + White(0.05)
N = 30


def problem(likelihood, n=N, seed=0):
    """Inputs and targets drawn from the model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    f = 1.5 * np.sin(1.5 * X[:, 0]) + X[:, 1]
    if isinstance(likelihood, Gaussian | Laplace | StudentT):
        return X, f + 0.3 * rng.normal(size=n)
    if isinstance(likelihood, Poisson):
        return X, rng.poisson(np.exp(0.5 * f)).astype(float)
    noisy = f + rng.normal(size=n)
    if isinstance(likelihood, Ordinal):
        return X, np.digitize(noisy, likelihood.thresholds).astype(float)
    return X, np.where(noisy > 0, 1.0, -1.0)


LIKELIHOODS = [
    Gaussian(0.1),
    Gaussian(np.linspace(0.05, 2.0, N), bias=0.4),
    Probit(bias=0.3, slope=1.5),
    Logit(bias=-0.2),
    Ordinal(np.array([-1.0, 0.5, 1.5])),
    Poisson(bias=0.1),
    Laplace(0.4),
    StudentT(0.3, df=3.0),
]
each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda v: type(v).__name__)


def engine(X, y, likelihood, score="entropy", n_shards=1, kernel=KERNEL, seed=1, capacity=None, schedule=Schedule()):
    n = len(y)
    priority = np.random.default_rng(seed).random(n)
    capacity = capacity or n
    shards = [
        LocalShard(
            rows,
            X[rows],
            y[rows],
            priority[rows],
            kernel,
            likelihood,
            SCORES[score],
            capacity,
            "float64",
        )
        for rows in np.array_split(np.arange(n), n_shards)
    ]
    return Driver(shards, kernel, likelihood, SCORES[score], capacity, schedule)


@each_likelihood
def test_marginals_equal_dense_moment_matching_after_every_inclusion(likelihood):
    X, y = problem(likelihood)
    K = KERNEL(X)
    dense = DenseADF(K)
    driver = engine(X, y, likelihood)
    shard = driver.shards[0]
    for t in range(1, N + 1):
        if driver.run(t) is not StopReason.COMPLETE:
            break
        i = driver.active[t - 1]
        g, nu = (v[0] for v in likelihood.take(np.array([i])).tilted(
            y[i : i + 1], dense.mean[i : i + 1], dense.cov[i, i : i + 1])[1:])  # fmt: skip
        dense.include(i, g, nu)
        np.testing.assert_allclose(shard.mean, dense.mean, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(shard.var, np.diagonal(dense.cov), rtol=1e-10, atol=1e-12)
        M = shard.M
        np.testing.assert_allclose(K - M.T @ M, dense.cov, rtol=1e-10, atol=1e-10)
    assert driver.size >= 25


@each_likelihood
def test_posterior_equals_dense_formula_given_the_sites(likelihood):
    X, y = problem(likelihood)
    driver = engine(X, y, likelihood)
    driver.run(12)
    posterior = driver.posterior(X)
    active = driver.active[:12]
    K = KERNEL(X)
    mean, cov = gaussian_from_sites(K, active, posterior.precision, posterior.site_mean)
    marginals = posterior.active_marginals()
    np.testing.assert_allclose(marginals.mean, mean[active], rtol=1e-9)
    np.testing.assert_allclose(marginals.var, np.diagonal(cov)[active], rtol=1e-9)
    np.testing.assert_allclose(driver.shards[0].mean, mean, rtol=1e-9, atol=1e-10)
    for k, i in enumerate(active):  # cavity: the same without site k
        others = np.delete(np.arange(12), k)
        m, S = gaussian_from_sites(K, active[others], posterior.precision[others], posterior.site_mean[others])
        assert marginals.cavity_mean[k] == pytest.approx(m[i], rel=1e-8)
        assert marginals.cavity_var[k] == pytest.approx(S[i, i], rel=1e-8)
    prior = np.zeros(12), K[np.ix_(active, active)]
    divergence = gaussian_relative_entropy(mean[active], cov[np.ix_(active, active)], *prior)
    assert posterior.relative_entropy() == pytest.approx(divergence, rel=1e-9)


@each_likelihood
def test_predictions_equal_the_dense_formula(likelihood):
    X, y = problem(likelihood)
    Z = np.random.default_rng(9).normal(size=(17, 2))
    driver = engine(X, y, likelihood)
    driver.run(10)
    posterior = driver.posterior(X)
    both = np.vstack([X[driver.active[:10]], Z])
    mean, cov = gaussian_from_sites(KERNEL(both), np.arange(10), posterior.precision, posterior.site_mean)
    ours = posterior.predict(Z)
    np.testing.assert_allclose(ours[0], mean[10:], rtol=1e-9)
    np.testing.assert_allclose(ours[1], np.diagonal(cov)[10:], rtol=1e-9)
    np.testing.assert_allclose(posterior.mean(Z), mean[10:], rtol=1e-9)


@pytest.mark.parametrize("score", ["entropy", "information_gain", "predictive"])
@each_likelihood
def test_chosen_row_equals_brute_force_over_the_true_change(likelihood, score):
    """Include every remaining row in turn, compute the quantity of the n-dimensional Gaussian, undo."""
    X, y = problem(likelihood)
    dense = DenseADF(KERNEL(X))
    driver = engine(X, y, likelihood, score)
    for t in range(1, 16):
        values = np.full(N, -np.inf)
        tilted = likelihood.tilted(y, dense.mean, np.diagonal(dense.cov).copy())
        for j in np.setdiff1d(np.arange(N), driver.active[: t - 1]):
            if tilted.nu[j] <= 0:
                continue
            after = DenseADF(dense.cov)
            after.mean = dense.mean
            after.include(j, tilted.g[j], tilted.nu[j])
            if score == "entropy":
                values[j] = gaussian_entropy(dense.cov) - gaussian_entropy(after.cov)
            elif score == "information_gain":
                values[j] = gaussian_relative_entropy(after.mean, after.cov, dense.mean, dense.cov)
            else:
                values[j] = -tilted.log_z[j]
        driver.run(t)
        chosen = driver.active[t - 1]
        assert values[chosen] == pytest.approx(values.max(), rel=1e-9), f"step {t}"
        assert driver.scores[t - 1] == pytest.approx(values.max(), rel=1e-7)
        dense.include(chosen, tilted.g[chosen], tilted.nu[chosen])


def test_gaussian_noise_and_all_rows_is_the_exact_gaussian_process():
    X, y = problem(Gaussian(0.1), n=60)
    Z = np.random.default_rng(9).normal(size=(25, 2))
    ours = IVMRegressor(
        kernel=RBF(1.3, 2.0) + Matern(0.7, nu=2.5),
        likelihood=Gaussian(0.1),
        n_active=60,
        dtype="float64",
        random_state=0,
    ).fit(X, y)
    reference = 2.0 * sk.RBF(1.3) + sk.Matern(0.7, nu=2.5)
    exact = GaussianProcessRegressor(reference, alpha=0.1, optimizer=None).fit(X, y)
    mean, std = ours.predict_latent(Z)
    exact_mean, exact_std = exact.predict(Z, return_std=True)
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(std, exact_std, rtol=1e-8)
    assert ours.log_evidence_ == pytest.approx(exact.log_marginal_likelihood_value_, rel=1e-8)


@pytest.mark.parametrize("noise", [1e-6, 1e-2, 1e2])
def test_exact_gaussian_process_over_noise_levels(noise):
    X, y = problem(Gaussian(0.1), n=40)
    driver = engine(X, y, Gaussian(noise), kernel=RBF(0.8, 1.5))
    assert driver.run(40) is StopReason.COMPLETE
    exact = GaussianProcessRegressor(1.5 * sk.RBF(0.8), alpha=noise, optimizer=None).fit(X, y)
    evidence = log_evidence(driver.posterior(X), driver.y[:40], Gaussian(noise), driver.log_likelihood_outside())
    assert evidence == pytest.approx(exact.log_marginal_likelihood_value_, rel=1e-8)
    np.testing.assert_allclose(driver.posterior(X).predict(X + 0.1)[0], exact.predict(X + 0.1), rtol=1e-6, atol=1e-8)


@each_likelihood
def test_evidence_equals_the_dense_ep_formula(likelihood):
    """SLH eq. 3 with determinants and quadratic forms of the n-dimensional Gaussians."""
    X, y = problem(likelihood)
    driver = engine(X, y, likelihood)
    driver.run(11)
    posterior, active = driver.posterior(X), driver.active[:11]
    K = KERNEL(X)
    pi, m = posterior.precision, posterior.site_mean
    mean, cov = gaussian_from_sites(K, active, pi, m)
    total = 0.0
    for i in range(N):
        at = slice(i, i + 1)
        if i in active:
            k = int(np.flatnonzero(active == i)[0])
            others = np.delete(np.arange(11), k)
            h, A = gaussian_from_sites(K, active[others], pi[others], m[others])
            # log C_i = log Z_i - log E[exp(b u - pi u^2 / 2)] under the cavity
            b, v = pi[k] * m[k], A[i, i]
            log_site = -0.5 * np.log1p(pi[k] * v) + 0.5 * ((b + h[i] / v) ** 2 / (pi[k] + 1 / v) - h[i] ** 2 / v)
            total += likelihood.take(np.array([i])).tilted(y[at], h[at], A[i, at]).log_z[0] - log_site
        else:
            total += likelihood.take(np.array([i])).tilted(y[at], mean[at], cov[i, at]).log_z[0]
    phi = 0.5 * (np.linalg.slogdet(cov)[1] + mean @ np.linalg.solve(cov, mean) - np.linalg.slogdet(K)[1])
    ours = log_evidence(posterior, y[active], likelihood.take(active), driver.log_likelihood_outside())
    assert ours == pytest.approx(total + phi, rel=1e-8)


@each_likelihood
def test_shards_make_no_difference(likelihood):
    X, y = problem(likelihood)
    one, three = engine(X, y, likelihood), engine(X, y, likelihood, n_shards=3)
    one.run(14), three.run(14)
    np.testing.assert_array_equal(one.active[:14], three.active[:14])
    np.testing.assert_allclose(one.posterior(X).L, three.posterior(X).L, rtol=1e-10)
    assert one.log_likelihood_outside() == pytest.approx(three.log_likelihood_outside(), rel=1e-10)


@each_likelihood
def test_a_pool_of_all_rows_makes_blocks_exact(likelihood):
    X, y = problem(likelihood)
    exact = engine(X, y, likelihood)
    blocked = engine(X, y, likelihood, n_shards=2, schedule=Schedule(5, 5 * N))
    exact.run(14), blocked.run(14)
    np.testing.assert_array_equal(exact.active[1:14], blocked.active[1:14])
    for name in ("L", "beta", "precision", "site_mean"):
        np.testing.assert_allclose(
            getattr(blocked.posterior(X), name),
            getattr(exact.posterior(X), name),
            rtol=1e-8,
            atol=1e-10,
        )
    np.testing.assert_allclose(np.concatenate([s.mean for s in blocked.shards]), exact.shards[0].mean, rtol=1e-8)
