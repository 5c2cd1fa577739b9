"""The projected posterior against full EP, exact regression, DTC and FITC, each as a dense textbook formula."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles import (
    fd_gradient,
    full_ep,
    gaussian_log_density,
    gaussian_relative_entropy,
    projected_bound,
    sparse_regression,
    tilted_by_panels,
)

from infovec.inference import ep, evidence_gradient, infer, left_out, make_basis
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    Exponential,
    Linear,
    MainEffects,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    White,
)
from infovec.likelihoods import Gaussian, Laplace, Logit, Ordinal, Poisson, Probit, StudentT
from infovec.posterior import ProjectedPosterior
from infovec.shards import ProjectedShard, coupling_free_gain, together
from infovec.shards.cavity import Cavity, log_site_integral

GOLDEN = Path(__file__).parents[1] / "golden"
TIGHT = 1e-11


def project(kernel, likelihood, X, y, active, dtype="float64", blur=True, n_shards=1, max_entries=None):
    """Shards and basis of a problem."""
    X = X.astype(dtype)
    basis = make_basis(kernel, active, X[active], dtype)
    shards = [
        ProjectedShard(rows, X[rows], y[rows], kernel, likelihood, dtype, blur, max_entries)
        for rows in np.array_split(np.arange(len(y)), n_shards)
    ]
    for shard in shards:
        shard.project(basis)
    return shards, basis


def posterior(kernel, X, active, basis, found):
    return ProjectedPosterior(kernel, X[active], basis.L, *found.beliefs)


def lower_bound(found, X, y, likelihood):
    """The variational bound of the Thesis; the relative entropy in it is that of the posterior itself."""
    inverse = np.linalg.inv(found.Q)
    mean, cov = found.L @ inverse.T @ found.beta, found.L @ inverse.T @ inverse @ found.L.T
    prior, expected = found.L @ found.L.T, likelihood.expected_log_prob(y, *found.predict(X))
    np.testing.assert_allclose(
        found.relative_entropy(), gaussian_relative_entropy(mean, cov, np.zeros(len(mean)), prior), rtol=1e-8
    )
    return projected_bound(expected, mean, cov, prior)


def inputs(n, seed=0, p=2):
    return np.random.default_rng(seed).normal(size=(n, p))


def targets(likelihood, X, seed=1):
    rng = np.random.default_rng(seed)
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=len(X))
    if isinstance(likelihood, Probit | Logit):
        return np.where(f > 0.2, 1.0, -1.0)
    if isinstance(likelihood, Ordinal):
        return np.digitize(f, [-0.5, 0.7]).astype(float)
    if isinstance(likelihood, Poisson):
        return rng.poisson(np.exp(f)).astype(float)
    return f


EP_LIKELIHOODS = [
    Probit(),
    Probit(bias=-0.4, slope=1.7),
    Probit(0.2, lapse=0.05),
    Logit(lapse=0.1),
    Ordinal(np.array([-0.5, 0.7]), slope=2.0, lapse=0.1),
    Logit(bias=0.3),
    Ordinal(np.array([-0.5, 0.7]), slope=2.0),
    Poisson(bias=0.2),
    Laplace(scale=0.4),
]
each_likelihood = pytest.mark.parametrize("likelihood", EP_LIKELIHOODS, ids=repr)
KERNEL = RBF(0.8, 3.0) + Bias(0.5)


@each_likelihood
@pytest.mark.parametrize("variance", [0.05, 3.0, 200.0])
def test_with_all_rows_active_it_is_full_ep(likelihood, variance):
    X, kernel = inputs(14), RBF(0.8, variance) + Bias(0.5)
    y, K = targets(likelihood, X), kernel(X)

    def tilted(i, mean, var):
        return tilted_by_panels(lambda f: likelihood.log_prob(y[i], f), mean, var, centres=(0.0, y[i]))

    pi, b, mean, cov, log_z = full_ep(K, tilted, sweeps=40, tolerance=1e-9)
    rows = np.random.default_rng(5).permutation(14)  # in any order
    shards, basis = project(kernel, likelihood, X, y, rows)
    found = infer(shards, tolerance=TIGHT, max_sweeps=500)
    assert found.converged
    np.testing.assert_allclose(shards[0].precision, pi, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(shards[0].b, b, rtol=1e-6, atol=1e-7)
    got = posterior(kernel, X, rows, basis, found)
    np.testing.assert_allclose(got.predict(X)[0], mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(got.predict(X)[1], np.diag(cov), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.log_evidence, log_z, rtol=1e-7)


@pytest.mark.parametrize("noise", [1e-3, 0.1, 10.0])
def test_with_gaussian_noise_and_all_rows_it_is_the_exact_process(noise):
    X, Z = inputs(30), inputs(9, 3)
    y, kernel = targets(Gaussian(), X), RBF(0.8, 3.0) + Bias(0.5) + White(0.01)
    rows = np.arange(30)
    shards, basis = project(kernel, Gaussian(noise), X, y, rows)
    found = infer(shards)
    assert found.converged
    assert not found.sweeps
    K = kernel(X) + noise * np.eye(30)
    np.testing.assert_allclose(found.log_evidence, gaussian_log_density(y, K), rtol=1e-8)
    mean, var = posterior(kernel, X, rows, basis, found).predict(Z)
    np.testing.assert_allclose(mean, kernel(Z, X) @ np.linalg.solve(K, y), rtol=1e-8, atol=1e-8)
    cross = kernel(X, Z)
    want = kernel.diag(Z) - np.einsum("ij,ij->j", cross, np.linalg.solve(K, cross))
    np.testing.assert_allclose(var, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("blur", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_with_gaussian_noise_it_is_fitc_or_dtc(blur, offset):
    X, Z = inputs(40) + offset, inputs(9, 3) + offset
    y, active = targets(Gaussian(), inputs(40)), np.arange(0, 40, 5)
    shards, basis = project(KERNEL, Gaussian(0.05), X, y, active, blur=blur, n_shards=3)
    found = infer(shards)
    K_I = KERNEL(X[active])
    K_I[np.diag_indices(8)] *= 1.0 + basis.jitter
    log_z, mean, var = sparse_regression(
        K_I, KERNEL(X[active], X), KERNEL.diag(X), y, 0.05, blur, KERNEL(X[active], Z), KERNEL.diag(Z)
    )
    np.testing.assert_allclose(found.log_evidence, log_z, rtol=1e-8)
    got = posterior(KERNEL, X, active, basis, found).predict(Z)
    np.testing.assert_allclose(got[0], mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(got[1], var, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("likelihood", [Gaussian(0.01), Probit(), Poisson(1.0)], ids=str)
@pytest.mark.parametrize("variance", [1.0, 100.0])
def test_rounding_is_taken_out_of_the_mean(likelihood, variance):
    """In single precision it solves the equations that the projections of the shards give in double precision."""
    X, kernel = inputs(400), RBF(1.0, variance)
    y = targets(likelihood, X)
    shards, _ = project(kernel, likelihood, X, y, np.arange(0, 400, 20), "float32", n_shards=3)
    found = infer(shards)
    left = ep._infer(together(shards), None, 1e-4, 1, None, True).beliefs if likelihood.conjugate else None
    V = np.concatenate([s.features(slice(0, len(s.y))) for s in shards]).astype(np.float64)
    pi, b = (np.concatenate([getattr(s, name) for s in shards]) for name in ("precision", "b"))
    exact = np.linalg.solve(np.eye(V.shape[1]) + (V.T * pi) @ V, V.T @ b)

    def error(beliefs):
        return np.abs(np.linalg.solve(beliefs.Q.T, beliefs.beta) - exact).max() / np.abs(exact).max()

    if likelihood.conjugate:
        assert error(found.beliefs) < 0.05 * error(left)
    assert error(found.beliefs) < 1e-5


def golden(name):
    cases = json.loads((GOLDEN / f"{name}.json").read_text())["cases"]
    return [pytest.param(_arrays(case), id=key) for key, case in cases.items()]


def _arrays(case):
    return {k: np.array(v) if isinstance(v, list) else v for k, v in case.items()}


@pytest.mark.parametrize("case", golden("gpy"))
def test_with_all_rows_active_it_is_the_ep_of_gpy(case):
    kernel = RBF(case["kernel"]["lengthscale"], case["kernel"]["variance"])
    likelihood = Poisson() if case["likelihood"] == "poisson" else Probit()
    X, y, rows = case["X"], case["y"].ravel().astype(float), np.arange(25)
    shards, basis = project(kernel, likelihood, X, y, rows)
    found = infer(shards, tolerance=TIGHT, max_sweeps=500)
    np.testing.assert_allclose(found.log_evidence, case["log_evidence"], rtol=1e-6)
    np.testing.assert_allclose(shards[0].precision, case["site_precision"].ravel(), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(shards[0].b, case["site_precision_times_mean"].ravel(), rtol=1e-6, atol=1e-6)
    mean, var = posterior(kernel, X, rows, basis, found).predict(case["X_test"])
    np.testing.assert_allclose(mean, case["test_mean"].ravel(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(var, case["test_var"].ravel(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", golden("gpflow"))
def test_with_gaussian_noise_it_agrees_with_gpflow(case):
    kernel = RBF(case["kernel"]["lengthscale"], case["kernel"]["variance"])
    X, y, active, noise = case["X"], case["y"].ravel(), case["inducing_rows"], case["noise_variance"]
    for blur, name, moments in ((True, "fitc", "fitc"), (False, "dtc", "sgpr")):
        shards, basis = project(kernel, Gaussian(noise), X, y, active, blur=blur)
        found = infer(shards)
        np.testing.assert_allclose(found.log_evidence, case[name]["log_evidence"], rtol=1e-8)
        mean, var = posterior(kernel, X, active, basis, found).predict(case["X_test"])
        np.testing.assert_allclose(mean, np.ravel(case[moments]["test_mean"]), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(var, np.ravel(case[moments]["test_var"]), rtol=1e-8, atol=1e-8)
    bound = lower_bound(posterior(kernel, X, active, basis, found), X, y, Gaussian(noise))
    np.testing.assert_allclose(bound, case["sgpr"]["elbo"], rtol=1e-8)


def test_the_variational_bound_is_below_the_evidence_of_full_ep():
    X = inputs(20)
    y, active = targets(Probit(), X), np.arange(0, 20, 3)
    shards, basis = project(KERNEL, Probit(), X, y, active)
    found = infer(shards)
    full, _ = project(KERNEL, Probit(), X, y, np.arange(20))
    bound = lower_bound(posterior(KERNEL, X, active, basis, found), X, y, Probit())
    assert bound < infer(full).log_evidence


KERNELS = [
    KERNEL,
    RBF(np.array([0.5, 2.0]), 2.0) + White(0.05),
    Matern(0.9, 2.0, nu=2.5),
    Exponential(0.8, 1.5),
    RationalQuadratic(0.8, 2.0),
    MainEffects(RBF(0.8, 2.0)) + RBF(0.9),
    2.0 * Linear(0.7) + Bias(0.3) + White(0.1),
    Polynomial(2, 1.0, 2.0) + White(0.2),
    MLP(3.0, 2.0, 0.5),
    RBF(0.8, 3.0) * Linear(0.5) + Bias(1.0),
    Periodic(RBF(1.0, 2.0), 1.7),
]


def converged(kernel, likelihood, X, y, active, blur):
    shards, basis = project(kernel, likelihood, X, y, active, blur=blur, n_shards=2)
    found = infer(shards, tolerance=1e-10, max_sweeps=500)
    assert found.converged
    return shards, basis, found


def check_gradient(kernel, likelihood, blur=True, n=24, d=6):
    X, active = inputs(n), np.arange(1, n, n // d)
    y = targets(likelihood, X)
    shards, basis, found = converged(kernel, likelihood, X, y, active, blur)
    got = evidence_gradient(shards, basis, kernel, likelihood, found)

    def by_kernel(theta):
        return converged(kernel.with_theta(theta), likelihood, X, y, active, blur)[2].log_evidence

    def by_likelihood(theta):
        return converged(kernel, likelihood.with_theta(theta), X, y, active, blur)[2].log_evidence

    want = fd_gradient(by_kernel, kernel.theta, 1e-4), fd_gradient(by_likelihood, likelihood.theta, 1e-4)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * max(np.abs(other).max(initial=0.0), 1.0))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("blur", [True, False])
def test_gradient_for_every_kernel(kernel, blur):
    check_gradient(kernel, Probit(bias=-0.2), blur)


@pytest.mark.parametrize("likelihood", [*EP_LIKELIHOODS, Gaussian(0.1, bias=0.3)], ids=repr)
@pytest.mark.parametrize("blur", [True, False])
def test_gradient_for_every_likelihood(likelihood, blur):
    check_gradient(KERNEL, likelihood, blur)


def test_shards_streaming_and_rest_change_nothing():
    X = inputs(300)
    y, active = targets(Probit(), X), np.arange(0, 300, 10)
    whole = infer(project(KERNEL, Probit(), X, y, active)[0], tolerance=1e-9)
    pieces, _ = project(KERNEL, Probit(), X, y, active, n_shards=4, max_entries=100)
    parts = infer(pieces, tolerance=1e-9)
    np.testing.assert_allclose(parts.log_evidence, whole.log_evidence, rtol=1e-10)
    np.testing.assert_allclose(parts.beliefs.beta, whole.beliefs.beta, atol=1e-7)
    assert min(sweep.rows for sweep in whole.sweeps) < 300  # some rows rested, and were looked at again
    assert whole.sweeps[-1].rows == 300


@pytest.mark.parametrize("tolerance", [1e-3, 3e-3])
@pytest.mark.parametrize("variance", [3.0, 30.0, 300.0])
def test_the_evidence_is_exact_to_second_order_while_rows_rest(variance, tolerance):
    X, kernel = inputs(3000), RBF(0.8, variance) + Bias(0.5)
    y, active = targets(Probit(), X), np.arange(0, 3000, 50)
    exact = infer(project(kernel, Probit(), X, y, active)[0], tolerance=1e-9, max_sweeps=300).log_evidence
    shards, _ = project(kernel, Probit(), X, y, active)
    found = infer(shards, tolerance=tolerance, thorough=False)
    assert found.sweeps[-1].rows < 3000  # some are at rest, with their sites after the last move
    assert abs(found.log_evidence - exact) < 0.05


def test_start_from_selection_ends_in_the_same_place():
    X = inputs(200)
    y, active = targets(Probit(), X), np.arange(0, 200, 10)
    shards, _ = project(KERNEL, Probit(), X, y, active)
    cold = infer(shards, tolerance=1e-9).log_evidence
    warm = infer(shards, (active, np.full(20, 0.5), 0.5 * y[active]), tolerance=1e-9)
    np.testing.assert_allclose(warm.log_evidence, cold, rtol=1e-9)
    again = infer(shards, tolerance=1e-9)
    assert len(again.sweeps) == 1  # it was there already


@pytest.mark.parametrize("variance", [0.1, 10.0, 1e3])
def test_noise_that_is_not_log_concave_ends_well(variance):
    X = inputs(80)
    y = targets(Gaussian(), X)
    y[::9] += 20.0
    likelihood, active = StudentT(scale=0.2, df=3.0), np.arange(0, 80, 5)
    kernel = RBF(0.8, variance)
    shards, basis = project(kernel, likelihood, X, y, active)
    found = infer(shards, max_sweeps=300)
    mean, var = posterior(kernel, X, active, basis, found).predict(X)
    assert np.all(np.isfinite(mean))
    assert np.all(var >= 0)
    clean = np.arange(80) % 9 != 0
    assert np.mean((mean - y)[clean] ** 2) < np.var(y[clean])


def test_single_precision_agrees_with_double():
    X = inputs(2000)
    y, active = targets(Probit(), X), np.arange(0, 2000, 20)
    runs = [infer(project(KERNEL, Probit(), X, y, active, dtype)[0]) for dtype in ("float32", "float64")]
    assert all(run.converged for run in runs)
    np.testing.assert_allclose(runs[0].log_evidence, runs[1].log_evidence, rtol=3e-3)  # it has to truncate K_I


def gaussian_joint(V, left, pi, b):
    """Mean and covariance of (v, u) for all rows, u = V v + N(0, left), with sites on V v: everything dense."""
    d, n = V.shape[1], len(V)
    A = np.vstack([np.eye(d), V])
    M = np.eye(d) + V.T @ (pi[:, None] * V)
    S = np.linalg.inv(M)
    noise = np.diag(np.concatenate([np.zeros(d), left]))
    return A @ S @ (V.T @ b), A @ S @ A.T + noise, n


@pytest.mark.parametrize("likelihood", [Probit(0.3), Gaussian(0.2), Poisson()], ids=repr)
def test_gain_is_the_relative_entropy_of_the_thesis(likelihood):
    """D[Q~ || Q] with the site of one row moved from its projection to the row itself, in all dimensions at once."""
    X = inputs(12)
    y, active = targets(likelihood, X), np.array([0, 4, 8])
    shards, _ = project(KERNEL, likelihood, X, y, active)
    shard, found = shards[0], infer(shards, tolerance=1e-8)
    V, left, pi, b = shard.features(slice(0, 12)), shard.variance_left, shard.precision, shard.b
    at = np.arange(12)
    cavity = shard.cavity(at, np.linalg.solve(found.beliefs.Q, V.T).T, found.beliefs.beta)
    var = cavity.cavity_var + left
    site = likelihood.site(y, cavity.cavity_mean, var, likelihood.tilted(y, cavity.cavity_mean, var))
    outside = np.setdiff1d(at, active)
    got = coupling_free_gain(cavity, np.maximum(left, 1e-12), site)[outside]
    mean, cov, _ = gaussian_joint(V, left, pi, b)
    want = []
    for i in outside:
        without, b_without = pi.copy(), b.copy()
        without[i], b_without[i] = 0.0, 0.0
        m, S, _ = gaussian_joint(V, left, without, b_without)
        u = np.zeros(len(m))
        u[3 + i] = 1.0
        gain = S @ u / (1.0 / site.precision[i] + S[3 + i, 3 + i])
        m, S = m + gain * (site.b[i] / site.precision[i] - m[3 + i]), S - np.outer(gain, S[3 + i])
        keep = np.concatenate([np.arange(3), 3 + outside])  # u of active rows is a function of v
        want.append(gaussian_relative_entropy(m[keep], S[np.ix_(keep, keep)], mean[keep], cov[np.ix_(keep, keep)]))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


def test_a_part_of_the_active_set_at_first_ends_in_the_same_place(monkeypatch):
    X = inputs(300)
    y, active = targets(Probit(), X), np.arange(0, 300, 5)
    shards, _ = project(RBF(0.7, 4.0), Probit(), X, y, active)
    start = active, np.full(60, 0.5), 0.5 * y[active]
    at_once = infer(shards, start, tolerance=1e-8)
    sites = shards[0].precision.copy(), shards[0].b.copy()
    monkeypatch.setattr(ep, "_DEEP", 40)
    in_steps = infer(shards, start, tolerance=1e-8)
    assert len(in_steps.sweeps) < len(at_once.sweeps)
    assert shards[0].depth == 60
    np.testing.assert_allclose(in_steps.log_evidence, at_once.log_evidence, rtol=1e-9)
    for found, expected in zip((shards[0].precision, shards[0].b), sites, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_site_is_the_same_on_the_function_whatever_part_of_the_active_set_is_seen():
    X, active = inputs(30), np.arange(0, 30, 2)
    y, K = targets(Probit(), X), KERNEL(X)
    (shard,), _ = project(KERNEL, Probit(), X, y, active)
    precision, b = np.random.default_rng(0).uniform(0.1, 2.0, 30), np.random.default_rng(1).normal(size=30)

    def on_gamma(depth):
        at = active[:depth]
        left = np.diagonal(K - K[:, at] @ np.linalg.solve(K[np.ix_(at, at)], K[at]))
        return precision / (1.0 + precision * left), b / (1.0 + precision * left), left

    shard.start(np.arange(30), precision, b)
    for depth in (15, 4, 9):
        sums = shard.look(depth)
        pi, shift, left = on_gamma(depth)
        np.testing.assert_allclose(shard.variance_left, left, atol=1e-10)
        np.testing.assert_allclose(shard.precision, pi, rtol=1e-7)
        np.testing.assert_allclose(shard.b, shift, rtol=1e-7)
        V = np.linalg.solve(np.linalg.cholesky(K[np.ix_(active, active)])[:depth, :depth], K[active[:depth]])
        np.testing.assert_allclose(sums.precision, (V * pi) @ V.T, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(sums.shift, V @ shift, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("pi", [-0.2, 0.0, 0.7, 40.0])
def test_the_normaliser_of_a_site_equals_quadrature(pi):
    b, m, v = 0.8, -0.4, 1.3
    precision = 1.0 / v + pi
    cavity = Cavity(*(np.array([x]) for x in ((m / v + b) / precision, 1.0 / precision, m, v, 1.0 - pi / precision)))
    log_z, _, _ = tilted_by_panels(lambda f: b * f - 0.5 * pi * f**2, m, v)
    np.testing.assert_allclose(log_site_integral(np.array([pi]), np.array([b]), cavity), log_z, rtol=1e-9)


def test_an_end_asked_for_early_leaves_a_posterior_of_the_whole_active_set(monkeypatch):
    X = inputs(300)
    y, active = targets(Probit(), X), np.arange(0, 300, 5)
    shards, _ = project(RBF(0.7, 4.0), Probit(), X, y, active)
    monkeypatch.setattr(ep, "_DEEP", 40)
    found = infer(shards, (active, np.full(60, 0.5), 0.5 * y[active]), watch=lambda sweep: True)
    assert not found.converged
    assert len(found.sweeps) == 1
    assert len(found.beliefs.beta) == 60


@pytest.mark.parametrize("blur", [True, False])
@pytest.mark.parametrize("d", [7, 30])
def test_rows_left_out_are_those_of_the_dense_gaussian(d, blur):
    X = inputs(30)
    y, active = targets(Gaussian(), X), np.arange(d)
    shards, _ = project(KERNEL, Gaussian(0.3, bias=0.2), X, y, active, blur=blur, n_shards=2)
    found = infer(shards)
    K = KERNEL(X)
    Q = K[:, active] @ np.linalg.solve(K[np.ix_(active, active)] + 1e-10 * np.eye(d), K[active])
    C = Q + np.diag(np.diag(K - Q) * blur + 0.3)
    inverse = np.linalg.inv(C)
    var = 1.0 / np.diag(inverse)
    residual = inverse @ (y - 0.2) * var  # of each target from its mean given the others
    mean, latent = left_out(shards, found.beliefs)
    np.testing.assert_allclose(mean, y - 0.2 - residual, atol=1e-5)
    np.testing.assert_allclose(latent, var - 0.3 + (not blur) * np.diag(K - Q), atol=1e-5)
