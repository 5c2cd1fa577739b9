"""Active inputs that move: the gradient of the evidence in them, against differences and a dense formula."""

import numpy as np
import pytest
from oracles import fd_gradient, gaussian_relative_entropy, sparse_regression

from infovec.inference import infer, make_basis, moved_gradient
from infovec.kernels import MLP, RBF, Bias, Linear, Matern, On, Periodic, RationalQuadratic, White
from infovec.learning import (
    Distillation,
    LearnedRows,
    Model,
    MovedEvidence,
    MovingInputs,
    MovingModel,
    evidence_of,
    no_rows,
)
from infovec.likelihoods import Gaussian, Logit, Ordinal, Probit
from infovec.posterior import FactorisedPosterior, ProjectedPosterior
from infovec.shards import ProjectedShard

KERNEL = RBF(0.8, 3.0) + Bias(0.5)
KERNELS = [
    RBF(np.array([0.5, 2.0]), 2.0) + White(0.05),
    Matern(0.9, 2.0, nu=2.5) + 2.0 * Linear(0.7),
    RBF(0.8, 3.0) * Linear(0.5) + Bias(1.0),
    Periodic(RationalQuadratic(0.8, 2.0), 1.7),
    MLP(3.0, 2.0, 0.5) + On(RBF(0.8), [1]),
]
LIKELIHOODS = [Probit(bias=-0.4, slope=1.7), Logit(bias=0.3), Ordinal(np.array([-0.5, 0.7])),
               Gaussian(0.1, bias=0.3)]  # fmt: skip


def inputs(n, seed=0, p=2):
    return np.random.default_rng(seed).normal(size=(n, p))


def targets(likelihood, X):
    f = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    if isinstance(likelihood, Gaussian):
        return f + 0.3 * np.random.default_rng(1).normal(size=len(f))
    if isinstance(likelihood, Probit | Logit):
        return np.where(f > 0.0, 1.0, -1.0)
    return np.digitize(f, [-0.5, 0.5]).astype(float)


def at_rest(kernel, likelihood, X, y, Z, blur, n_shards=2):
    basis = make_basis(kernel, no_rows(len(Z)), Z, "float64")
    shards = [
        ProjectedShard(rows, X[rows], y[rows], kernel, likelihood, "float64", blur)
        for rows in np.array_split(np.arange(len(y)), n_shards)
    ]
    for shard in shards:
        shard.project(basis)
    found = infer(shards, tolerance=1e-10, max_sweeps=500)
    assert found.converged
    return shards, basis, found


def check(kernel, likelihood, blur, n=18, d=4):
    X, Z = inputs(n), inputs(d, seed=5)
    y = targets(likelihood, X)
    shards, basis, found = at_rest(kernel, likelihood, X, y, Z, blur)
    got = moved_gradient(shards, basis, kernel, found)

    def value(kernel, likelihood, Z):
        return at_rest(kernel, likelihood, X, y, Z, blur)[2].log_evidence

    want = (
        fd_gradient(lambda theta: value(kernel.with_theta(theta), likelihood, Z), kernel.theta, 1e-4),
        fd_gradient(lambda theta: value(kernel, likelihood.with_theta(theta), Z), likelihood.theta, 1e-4),
        fd_gradient(lambda z: value(kernel, likelihood, z.reshape(Z.shape)), Z.ravel(), 1e-4).reshape(Z.shape),
    )
    for one, other in zip(got[:3], want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * max(np.abs(other).max(initial=0.0), 1.0))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradient_for_every_kernel(kernel):
    check(kernel, Probit(bias=-0.2), True)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
@pytest.mark.parametrize("blur", [True, False])
def test_gradient_for_every_likelihood(likelihood, blur):
    check(KERNEL, likelihood, blur)


@pytest.mark.parametrize("noise", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("blur", [True, False])
def test_evidence_is_that_of_fitc_with_inputs_anywhere(noise, blur):
    X, Z = inputs(30), 1.5 * inputs(7, seed=3)
    y = targets(Gaussian(0.1), X)
    _, _, found = at_rest(KERNEL, Gaussian(noise), X, y, Z, blur)
    K = KERNEL(Z), KERNEL(Z, X), KERNEL.diag(X)
    want, *_ = sparse_regression(*K, y, noise, blur, KERNEL(Z, X), KERNEL.diag(X))
    np.testing.assert_allclose(found.log_evidence, want, rtol=1e-9)


def moving(fixed=False, unit=(0.7, 1.3)):
    X = inputs(30)
    kernel, likelihood = RBF(np.array([0.8, 1.1]), 2.0) + Bias(0.3), Gaussian(0.2)
    model = None if fixed else Model.begin(kernel, likelihood)
    given = LearnedRows(np.arange(30), X, targets(likelihood, X))
    begun = MovingInputs.begin(X[:5], np.array(unit))
    return MovedEvidence(given, X[:5]), MovingModel(kernel, likelihood, begun, model)


@pytest.mark.parametrize(("fixed", "unit"), [(False, (0.7, 1.3)), (True, (0.7, 1.3)), (False, (0.0, 2.0))])
def test_objective_in_steps_of_its_model(fixed, unit):
    objective, model = moving(fixed, unit)
    own = 0 if fixed else model.model.size
    assert model.theta.size == len(model.bounds) == own + 5 * np.count_nonzero(unit)
    there = model.with_theta(0.1 * np.random.default_rng(2).normal(size=model.theta.size))
    _, got = objective(there)
    want = fd_gradient(lambda theta: objective(model.with_theta(theta))[0], there.theta, 1e-5).ravel()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * np.abs(want).max())


def test_columns_without_a_unit_and_fixed_parameters_stay():
    _, model = moving(True, (0.0, 2.0))
    there = model.with_theta(np.ones(model.theta.size))
    assert there.kernel is model.kernel
    np.testing.assert_array_equal(there.inputs.inputs[:, 0], model.inputs.start[:, 0])
    np.testing.assert_allclose(there.inputs.inputs[:, 1], model.inputs.start[:, 1] + 2.0)


def larger(functions=1, d=12):
    """A posterior on d active inputs, of one function or several."""
    X, Z = inputs(60), inputs(d, seed=5)
    found = []
    for k in range(functions):
        y = targets(Gaussian(0.1), X) * (1.0 + k)
        _, basis, rest = at_rest(KERNEL, Gaussian(0.05 * (1 + k)), X, y, Z, True)
        found.append(ProjectedPosterior(KERNEL, Z, basis.L, *rest.beliefs))
    return found


def distillation(parts):
    known = [evidence_of(part) for part in parts]
    return Distillation(KERNEL, parts[0].X, known[0][0], [evidence for _, evidence in known])


def moments(part, X):
    """Mean and covariance of the function at some inputs, densely."""
    K, inverse = KERNEL(X, part.X), np.linalg.inv(part.L)
    V, S = K @ inverse.T, np.linalg.inv(part.Q @ part.Q.T)
    return V @ S @ part.Q @ part.beta, KERNEL(X) - V @ V.T + V @ S @ V.T


@pytest.mark.parametrize("functions", [1, 2])
def test_relative_entropy_to_the_larger_posterior_is_the_dense_one(functions):
    parts, smaller = larger(functions), inputs(4, seed=8)
    objective = distillation(parts)
    where = np.concatenate([parts[0].X, smaller])  # both posteriors differ by what they say of these
    want = 0.0
    for part, small in zip(parts, objective.posteriors(smaller), strict=True):
        want += gaussian_relative_entropy(*moments(small, where), *moments(part, where))
    np.testing.assert_allclose(-objective.value(smaller), want, rtol=1e-6)


@pytest.mark.parametrize("functions", [1, 2])
def test_gradient_of_the_relative_entropy(functions):
    objective, start = distillation(larger(functions)), inputs(4, seed=8)
    model = MovingInputs.begin(start, np.array([0.7, 1.3])).with_theta(np.full(8, 0.1))
    value, got = objective(model)
    want = fd_gradient(lambda theta: objective(model.with_theta(theta))[0], model.theta, 1e-5)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7 * np.abs(want).max())
    assert value < 0.0


def test_on_all_its_inputs_a_posterior_stays_what_it_is():
    (part,) = larger()
    objective = distillation([part])
    np.testing.assert_allclose(objective.value(part.X), 0.0, atol=1e-8)
    (same,) = objective.posteriors(part.X)
    for one, other in zip(same.predict(inputs(20)), part.predict(inputs(20)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7)


def test_evidence_of_a_posterior_with_sites_on_the_active_rows_alone():
    Z, precision, site_mean = inputs(9), np.linspace(0.5, 3.0, 9), np.linspace(-1.0, 2.0, 9)
    part = FactorisedPosterior.given(KERNEL, Z, precision, site_mean)
    L, evidence = evidence_of(part)
    (same,) = Distillation(KERNEL, Z, L, [evidence]).posteriors(Z)
    for one, other in zip(same.predict(inputs(20)), part.predict(inputs(20)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
