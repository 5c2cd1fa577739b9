"""The variational multinomial probit against its own iteration on dense matrices, brute force and differences."""

import numpy as np
import oracles
import pytest

from infovec.errors import ParameterError
from infovec.inference.bound import bound_gradient, left_out, maximise_bound, project
from infovec.kernels import RBF, Bias, Linear, White
from infovec.learning import Model, VariationalBound, learn_kernels, optimise
from infovec.likelihoods.classes import MultivariateProbit
from infovec.machines.bound_fit import fit_variational, fit_variational_rows
from infovec.selection import Schedule, select
from infovec.selection.inclusion import covariance
from infovec.shards import Inclusions, Stubs

SHARED = RBF(0.9, 3.0) + Bias(0.5)
OWN = [RBF(0.9, 3.0) + Bias(0.5), RBF(0.6, 5.0), RBF([1.2, 0.7], 2.0) + Linear(0.3)]
ONE_BY_ONE = Schedule(1, 1)


def problem(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.normal(size=n)
    return X, np.floor(3 * (angle % (2 * np.pi)) / (2 * np.pi)).astype(np.intp) % 3


def matrices(kernels, X):
    return [k(X) for k in kernels] if isinstance(kernels, list) else [kernels(X)] * 3


@pytest.fixture(scope="module", params=[SHARED, OWN], ids=["shared", "own"])
def dense(request):
    """GR06's iteration with all of 15 rows."""
    X, y = problem(15)
    covariances = matrices(request.param, X)
    return X, y, request.param, covariances, oracles.variational_probit(covariances, y)


def test_with_all_rows_active_it_is_the_fixed_point_of_the_papers_iteration(dense):
    X, y, kernels, _, (mean, S, bound) = dense
    fitted = fit_variational(X, y, kernels, n_active=15, tolerance=1e-8)
    found_mean, found_var = fitted.predict_latent(X)
    np.testing.assert_allclose(found_mean, mean, atol=2e-6)
    np.testing.assert_allclose(found_var, np.column_stack([np.diag(s) for s in S]), atol=1e-8)
    assert fitted.bound == pytest.approx(bound, abs=1e-6)
    assert fitted.converged
    np.testing.assert_array_equal(fitted.active, np.arange(15))


def test_predictions_are_those_of_regression_on_the_auxiliary_variables(dense):
    """GR06 section 4.5 and appendix B."""
    X, y, kernels, covariances, (mean, _, _) = dense
    Z = np.array([[0.3, -0.2], [2.0, 1.0], [-1.0, 0.4], [4.0, 0.0]])
    fitted = fit_variational(X, y, kernels, n_active=15, tolerance=1e-8)
    found_mean, found_var = fitted.predict_latent(Z)
    proba = np.exp(fitted.predict_log_proba(Z))
    target = np.column_stack([mean[:, c] + np.linalg.solve(covariances[c], mean[:, c]) for c in range(3)])
    for c in range(3):
        kernel = kernels[c] if isinstance(kernels, list) else kernels
        cross = np.linalg.solve(np.eye(15) + covariances[c], kernel(X, Z))
        np.testing.assert_allclose(found_mean[:, c], target[:, c] @ cross, atol=2e-6)
        np.testing.assert_allclose(found_var[:, c], kernel.diag(Z) - np.sum(kernel(X, Z) * cross, axis=0), atol=1e-8)
        np.testing.assert_allclose(
            proba[:, c], np.exp(oracles.race_log_z(np.full(4, c), found_mean, found_var)), atol=1e-7
        )
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


def test_the_bound_lies_between_the_printed_one_and_the_log_marginal_likelihood():
    X, y = problem(4)
    K = SHARED(X)
    rng = np.random.default_rng(0)
    f = np.linalg.cholesky(K) @ rng.normal(size=(12_000, 4, 3))
    likelihood = MultivariateProbit(np.zeros(3))
    each = [likelihood.log_prob(np.full(len(f), y[i]), f[:, i]) for i in range(4)]
    products = np.exp(np.sum(each, axis=0))
    truth, error = products.mean(), products.std() / np.sqrt(len(f))
    bound = fit_variational(X, y, SHARED, n_active=4).bound
    printed = bound - 0.5 * (4 * 3 - 4) * np.log(2 * np.pi)
    assert printed < bound < np.log(truth - 5 * error)
    assert bound > np.log(truth) - 6.0  # independence of auxiliary variables and functions costs so much


@pytest.mark.parametrize("active", [np.arange(6), np.array([3, 20, 11])])
def test_fewer_active_rows_bound_less(active):
    X, y = problem()
    some = fit_variational(X, y, SHARED, 0, active=active)
    every = fit_variational(X, y, SHARED, 30)
    assert some.bound < every.bound
    assert fit_variational(X, y, SHARED, 0, active=active[:-1]).bound < some.bound
    np.testing.assert_array_equal(some.active, active)


def test_sparse_bound_is_the_dense_one_of_the_projected_covariance_less_what_is_left():
    X, y = problem(12)
    active = np.array([0, 5, 9, 2])
    K_I, K_IX = SHARED(X[active]), SHARED(X[active], X)
    projected = K_IX.T @ np.linalg.solve(K_I, K_IX)
    mean, _, bound = oracles.variational_probit([projected + 1e-9 * np.eye(12)] * 3, y)
    fitted = fit_variational(X, y, SHARED, 0, active=active, tolerance=1e-8)
    left = 1.5 * np.sum(SHARED.diag(X) - np.diag(projected))
    assert fitted.bound == pytest.approx(bound - left, abs=1e-5)
    np.testing.assert_allclose(fitted.predict_latent(X)[0], mean, atol=1e-5)


@pytest.mark.parametrize("kernels", [SHARED + White(0.2), OWN], ids=["shared", "own"])
@pytest.mark.parametrize("n_active", [7, 20])
def test_gradient_equals_differences_of_the_largest_bound(kernels, n_active):
    X, y = problem(20)
    active = np.random.default_rng(1).permutation(20)[:n_active]
    likelihood = MultivariateProbit(np.array([0.2, -0.1, 0.4]))
    many = kernels if isinstance(kernels, list) else [kernels]
    sizes = np.cumsum([k.theta.size for k in many])

    def largest(theta):
        parts = np.split(theta, sizes)
        made = [k.with_theta(part) for k, part in zip(many, parts[:-1], strict=True)]
        made = made if isinstance(kernels, list) else made[0]
        return maximise_bound(project(made, 3, X, active), y, likelihood.with_theta(parts[-1]), tolerance=1e-8).bound

    projections = project(kernels, 3, X, active)
    best = maximise_bound(projections, y, likelihood, tolerance=1e-8)
    gradient = bound_gradient(projections, X, best)
    found = np.concatenate([*gradient.kernels, gradient.likelihood])
    theta = np.concatenate([*(k.theta for k in many), likelihood.theta])
    np.testing.assert_allclose(found, oracles.fd_gradient(largest, theta, 1e-5), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernels", [SHARED, OWN], ids=["shared", "own"])
def test_selection_is_the_papers_on_dense_matrices(kernels):
    X, y = problem(25)
    found = select(X, y, kernels, MultivariateProbit(np.zeros(3)), 10, schedule=ONE_BY_ONE)
    dense = oracles.DenseMultinomialIVM(matrices(kernels, X), y)
    for t, row in enumerate(found.rows):
        log_proba, open_ = dense.log_proba(), np.setdiff1d(np.arange(25), found.rows[:t])
        assert log_proba[row] <= log_proba[open_].min() + 1e-8  # eq. 5.5
        dense.include(row)
    np.testing.assert_allclose(found.mean, dense.mean, atol=1e-7)
    np.testing.assert_allclose(found.var, np.column_stack([np.diag(S) for S in dense.cov]), atol=1e-10)
    fitted = fit_variational_rows(X, y, kernels, 10, schedule=ONE_BY_ONE)
    np.testing.assert_array_equal(fitted.active, found.rows)
    mean, var = fitted.predict_latent(X)
    np.testing.assert_allclose(mean, dense.mean, atol=1e-7)
    np.testing.assert_allclose(var, found.var, atol=1e-10)
    at = np.ix_(found.rows, found.rows)
    covariances = [K[at] for K in matrices(kernels, X)]
    S = [K @ np.linalg.inv(np.eye(10) + K) for K in covariances]
    bound = oracles.variational_bound_of(covariances, y[found.rows], dense.mean[found.rows], S)
    assert fitted.bound == pytest.approx(bound, abs=1e-5)


def test_a_pool_of_all_rows_makes_blocks_exact_and_single_precision_is_close():
    X, y = problem(60)
    likelihood = MultivariateProbit(np.zeros(3))
    one = select(X, y, OWN, likelihood, 40, schedule=ONE_BY_ONE)
    blocks = select(X, y, OWN, likelihood, 40, schedule=Schedule(5, 60))
    np.testing.assert_array_equal(blocks.rows, one.rows)
    np.testing.assert_allclose(blocks.mean, one.mean, atol=1e-9)
    for L, K in zip(blocks.L, matrices(OWN, X[one.rows]), strict=True):
        np.testing.assert_allclose(L @ L.T, np.eye(40) + K, atol=1e-9)
    single = select(X.astype(np.float32), y, OWN, likelihood, 12, schedule=ONE_BY_ONE, dtype="float32")
    np.testing.assert_allclose(single.var, select(X, y, OWN, likelihood, 12, schedule=ONE_BY_ONE).var, atol=1e-4)


def test_random_selection_follows_the_priority_and_entropy_ignores_labels():
    X, y = problem(20)
    likelihood, priority = MultivariateProbit(np.zeros(3)), np.random.default_rng(3).uniform(size=20)
    found = select(X, y, SHARED, likelihood, 6, score="random", priority=priority, schedule=ONE_BY_ONE)
    np.testing.assert_array_equal(found.rows, np.argsort(-priority)[:6])
    by_entropy = [select(X, labels, SHARED, likelihood, 6, score="entropy").rows for labels in (y, y[::-1])]
    np.testing.assert_array_equal(*by_entropy)
    A = SHARED(X)
    for row in by_entropy[0]:
        assert np.diag(A)[row] == pytest.approx(np.diag(A).max())
        A = A - np.outer(A[row], A[row]) / (1.0 + A[row, row])
    with pytest.raises(ParameterError, match="predictive, entropy, random"):
        select(X, y, SHARED, likelihood, 6, score="best")


def test_learning_climbs_to_where_the_gradient_vanishes_and_finds_the_relevant_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (np.digitize(X[:, 1], [-0.5, 0.5])).astype(np.intp)
    start, likelihood = RBF(np.full(4, 2.0), 4.0), MultivariateProbit(np.zeros(3))
    bound = VariationalBound(X, y, np.arange(0, 80, 2))
    kernel, value = learn_kernels(bound, start, likelihood, iterations=25)
    assert value > bound.at(start, likelihood)[0].bound + 10
    best, gradient = bound.at(kernel, likelihood)
    assert best.bound == pytest.approx(value, abs=1e-3)
    prior = (kernel.theta - start.theta) / 9.0
    assert np.max(np.abs(gradient.kernels[0] - prior)) < 0.2
    scales = kernel.length_scale
    assert np.argmin(scales) == 1
    assert min(scales[[0, 2, 3]]) > 5 * scales[1]
    model, steps, _ = optimise(bound, Model.begin(start, likelihood), 15)
    assert model.kernel.length_scale.argmin() == 1
    assert max(step.criterion for step in steps) > bound(Model.begin(start, likelihood))[0] + 10


def test_every_class_learns_a_kernel_of_its_own():
    X, y = problem(40)
    bound = VariationalBound(X, y, np.arange(25))
    start = [RBF(1.0, 1.0)] * 3
    likelihood = MultivariateProbit(np.zeros(3))
    kernels, value = learn_kernels(bound, start, likelihood, iterations=10)
    _, shared_value = learn_kernels(bound, start[0], likelihood, iterations=10)
    assert len(kernels) == 3
    assert len({k.length_scale for k in kernels}) == 3
    assert value > shared_value > bound.at(start, likelihood)[0].bound
    with pytest.raises(ParameterError, match="one kernel or 3"):
        fit_variational(X, y, start[:2], 10)


def test_the_expected_auxiliary_variables_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    mean, labels = rng.normal(0, 3, (50, 5)), rng.integers(0, 5, 50)
    found = MultivariateProbit(np.zeros(5)).tilted(labels, mean, np.zeros((50, 5)))
    np.testing.assert_allclose(found.g, oracles.race_gradient(labels, mean), atol=1e-8)


def test_stubs_make_room_for_themselves():
    X, _ = problem(20)
    rng = np.random.default_rng(0)
    rows, b = np.array([4, 17, 2, 9]), rng.normal(size=(4, 2))
    L = np.linalg.cholesky(np.eye(4) + SHARED(X[rows]))
    beta = np.linalg.solve(L, b)
    stubs = Stubs(np.arange(20), X, SHARED, capacity=1, dtype="float64", n_functions=2)
    for new in (slice(0, 1), slice(1, 4)):
        unit = np.ones(new.stop - new.start)
        stubs.absorb(Inclusions(rows[new], X[rows[new]], unit, L[new, : new.start], L[new, new], beta[new]))
    for c in range(2):
        mean, cov = oracles.gaussian_from_sites(SHARED(X), rows, np.ones(4), b[:, c])
        np.testing.assert_allclose(stubs.mean[:, c], mean, atol=1e-10)
        np.testing.assert_allclose(stubs.var, np.diag(cov), atol=1e-10)
    np.testing.assert_allclose(covariance(SHARED, X[:5], stubs.gather(np.arange(5))), cov[:5, :5], atol=1e-10)


@pytest.mark.parametrize("kernels", [SHARED, OWN], ids=["shared", "own"])
def test_a_row_left_out_is_predicted_by_regression_on_the_auxiliary_variables_of_the_others(kernels):
    X, y = problem(15)
    likelihood = MultivariateProbit(np.zeros(3))
    projections = project(kernels, 3, X, np.arange(15))
    best = maximise_bound(projections, y, likelihood, tolerance=1e-8)
    mean, var = left_out(projections, best)
    target = best.mean + best.g
    for c, K in enumerate(matrices(kernels, X)):
        for i in range(15):
            rest = np.delete(np.arange(15), i)
            weights = np.linalg.solve(K[np.ix_(rest, rest)] + np.eye(14), K[rest, i])
            assert mean[i, c] == pytest.approx(weights @ target[rest, c], abs=1e-6)
            assert var[i, c] == pytest.approx(K[i, i] - weights @ K[rest, i], rel=1e-5)
