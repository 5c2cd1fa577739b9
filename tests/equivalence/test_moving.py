"""Active inputs that move: the gradient of the evidence in them, against differences and a dense formula."""

import numpy as np
import pytest
from oracles import fd_gradient, sparse_regression

from infovec.inference import infer, make_basis, moved_gradient
from infovec.kernels import MLP, RBF, Bias, Linear, Matern, On, Periodic, RationalQuadratic, White
from infovec.learning import LearnedRows, Model, MovedEvidence, MovingInputs, MovingModel, no_rows
from infovec.likelihoods import Gaussian, Logit, Ordinal, Poisson, Probit
from infovec.shards import ProjectedShard

KERNEL = RBF(0.8, 3.0) + Bias(0.5)
KERNELS = [
    RBF(np.array([0.5, 2.0]), 2.0) + White(0.05),
    Matern(0.9, 2.0, nu=2.5) + 2.0 * Linear(0.7),
    RBF(0.8, 3.0) * Linear(0.5) + Bias(1.0),
    Periodic(RationalQuadratic(0.8, 2.0), 1.7),
    MLP(3.0, 2.0, 0.5) + On(RBF(0.8), [1]),
]
LIKELIHOODS = [Probit(bias=-0.4, slope=1.7), Logit(bias=0.3), Ordinal(np.array([-0.5, 0.7])), Poisson(bias=0.2),
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


def check(kernel, likelihood, blur, n=24, d=6):
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
