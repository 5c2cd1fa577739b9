"""The coupled projected posterior of many classes against dense expectation propagation and differences."""

from functools import partial

import numpy as np
import pytest
from oracles import class_moments_by_product, fd_gradient, full_coupled_ep, race_by_quadrature
from scipy.special import log_softmax

from infovec import IVMClassifier
from infovec.inference import coupled_gradient, infer, infer_coupled, make_basis
from infovec.kernels import RBF, Bias, Linear, White
from infovec.learning import LearnedRows, Model, RestEvidence
from infovec.likelihoods import OneOfMany, Probit, WeightedDiscrete
from infovec.likelihoods.classes import MultivariateProbit, OneAgainstRest, Softmax
from infovec.shards import CoupledShard, ProjectedShard, coupled

KERNEL = RBF(0.8, 3.0) + Bias(0.5)
BIAS = np.array([0.3, -0.2, 0.1])


def data(n, C=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scores = np.stack([X @ [np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(C) / C], axis=1)
    return X, np.argmax(scores + 0.3 * rng.normal(size=(n, C)), axis=1)


def project(kernel, likelihood, X, labels, active, dtype="float64", blur=True, n_shards=1, max_entries=None):
    X = X.astype(dtype)
    basis = make_basis(kernel, active, X[active], dtype)
    shards = [
        CoupledShard(rows, X[rows], labels[rows], kernel, likelihood, dtype, blur, max_entries)
        for rows in np.array_split(np.arange(len(labels)), n_shards)
    ]
    for shard in shards:
        shard.project(basis)
    return shards, basis


@pytest.mark.parametrize(("Likelihood", "lapse"), [(MultivariateProbit, 0.0), (Softmax, 0.0), (Softmax, 0.05)])
def test_with_all_rows_active_it_is_full_ep_of_all_classes(Likelihood, lapse):
    X, labels = data(7)
    likelihood = Likelihood(BIAS, lapse=lapse)

    def tilted(i, mean, var):
        if Likelihood is MultivariateProbit:
            return race_by_quadrature("normal", labels[i], mean + BIAS, var)
        return class_moments_by_product(
            lambda f: np.log(0.5 * lapse + (1.0 - 1.5 * lapse) * np.exp(log_softmax(f + BIAS, axis=1)[:, labels[i]])),
            mean, var, 24 if lapse else 16,
        )  # fmt: skip

    kernel = RBF(0.8, 1.0) + Bias(0.3)
    pi, b, mean, var, log_z = full_coupled_ep(kernel(X), 3, tilted, sweeps=10, tolerance=1e-6)
    shards, _ = project(kernel, likelihood, X, labels, np.random.default_rng(5).permutation(7))
    found = infer_coupled(shards, tolerance=1e-9, max_sweeps=300)
    assert found.converged
    np.testing.assert_allclose(shards[0].precision, pi, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shards[0].b, b, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.log_evidence, log_z, rtol=1e-6)
    V = shards[0].features(shards[0].chunks[0])
    for c in range(3):
        S = np.linalg.inv(found.beliefs.Q[c] @ found.beliefs.Q[c].T)
        got = V @ np.linalg.solve(found.beliefs.Q[c].T, found.beliefs.beta[c])
        np.testing.assert_allclose(got, mean[:, c], atol=1e-5)
        np.testing.assert_allclose(np.einsum("ij,jk,ik->i", V, S, V), var[:, c], rtol=1e-5)


def converged(kernel, likelihood, X, labels, active, blur):
    shards, basis = project(kernel, likelihood, X, labels, active, blur=blur, n_shards=2)
    found = infer_coupled(shards, tolerance=1e-6, max_sweeps=500)
    assert found.converged
    return shards, basis, found


GRADIENTS = [
    (MultivariateProbit, KERNEL, True),
    (MultivariateProbit, KERNEL, False),
    (MultivariateProbit, RBF(np.array([0.5, 2.0]), 2.0) + White(0.05), True),
    (MultivariateProbit, Linear(0.7) + White(0.3), False),
    (Softmax, RBF(0.8, 1.0), True),
    (partial(MultivariateProbit, lapse=0.2), KERNEL, True),
    (partial(MultivariateProbit, lapse=0.05), RBF(0.8, 20.0), False),
    (partial(Softmax, lapse=0.1), RBF(0.8, 4.0), False),
]


@pytest.mark.parametrize(("Likelihood", "kernel", "blur"), GRADIENTS, ids=repr)
def test_gradient_equals_differences_of_the_converged_evidence(Likelihood, kernel, blur):
    X, labels = data(18)
    likelihood, active = Likelihood(BIAS), np.arange(1, 18, 4)
    shards, basis, found = converged(kernel, likelihood, X, labels, active, blur)
    got = coupled_gradient(shards, basis, kernel, likelihood, found)

    def by_kernel(theta):
        return converged(kernel.with_theta(theta), likelihood, X, labels, active, blur)[2].log_evidence

    def by_likelihood(theta):
        return converged(kernel, likelihood.with_theta(theta), X, labels, active, blur)[2].log_evidence

    want = fd_gradient(by_kernel, kernel.theta, 1e-4), fd_gradient(by_likelihood, likelihood.theta, 1e-4)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * max(np.abs(other).max(initial=0.0), 1.0))


def test_two_classes_are_the_binary_model_of_twice_the_variance():
    """Their difference is all that counts; its sites see both functions, which share what one site tells."""
    X, labels = data(60, C=2)
    active = np.arange(0, 60, 4)
    pair, _ = project(KERNEL, MultivariateProbit(np.array([0.1, -0.3])), X, labels, active)
    found = infer_coupled(pair, tolerance=1e-9)
    double = 2.0 * KERNEL
    one = ProjectedShard(np.arange(60), X, 2.0 * labels - 1.0, double, Probit(-0.4, np.sqrt(0.5)), "float64")
    one.project(make_basis(double, active, X[active], "float64"))
    alone = infer([one], tolerance=1e-9)
    # a site that is diagonal in the classes forgets that their errors are opposite: close, not equal
    assert abs(found.log_evidence - alone.log_evidence) < 0.1 * abs(alone.log_evidence)
    V = pair[0].features(pair[0].chunks[0])
    mean = V @ np.stack([np.linalg.solve(Q.T, beta) for Q, beta in zip(*found.beliefs, strict=True)], axis=1)
    difference = mean[:, 1] - mean[:, 0]
    binary = one.features(one.chunks[0]) @ np.linalg.solve(alone.beliefs.Q.T, alone.beliefs.beta)
    assert np.corrcoef(difference, binary)[0, 1] > 0.99


def test_shards_streaming_and_rest_change_nothing():
    X, labels = data(300)
    active, likelihood = np.arange(0, 300, 10), MultivariateProbit(BIAS)
    whole = infer_coupled(project(KERNEL, likelihood, X, labels, active)[0], tolerance=1e-8)
    pieces, _ = project(KERNEL, likelihood, X, labels, active, n_shards=4, max_entries=100)
    parts = infer_coupled(pieces, tolerance=1e-8)
    np.testing.assert_allclose(parts.log_evidence, whole.log_evidence, rtol=1e-9)
    np.testing.assert_allclose(parts.beliefs.beta, whole.beliefs.beta, atol=1e-5)
    sharp = RBF(0.5, 100.0)
    exact, resting = (infer_coupled(project(sharp, likelihood, X, labels, active)[0], tol) for tol in (1e-7, 3e-3))
    assert min(sweep.rows for sweep in resting.sweeps) < 300  # some rows rested, and were looked at again
    assert resting.converged
    np.testing.assert_allclose(resting.log_evidence, exact.log_evidence, rtol=1e-4)


def test_single_precision_agrees_with_double():
    X, labels = data(1000)
    active, likelihood = np.arange(0, 1000, 20), MultivariateProbit(BIAS)
    runs = [infer_coupled(project(KERNEL, likelihood, X, labels, active, dtype)[0]) for dtype in ("float32", "float64")]
    assert all(run.converged for run in runs)
    np.testing.assert_allclose(runs[0].log_evidence, runs[1].log_evidence, rtol=3e-3)


@pytest.mark.parametrize("variance", [0.1, 10.0, 1000.0])
def test_a_shift_of_all_classes_does_not_hold_it_up(variance):
    """At the fixed point the means of the classes add up to nothing, and few sweeps lead there."""
    X, labels = data(150)
    kernel = RBF(0.8, variance) + Bias(0.1 * variance)
    shards, _ = project(kernel, MultivariateProbit(BIAS), X, labels, np.arange(0, 150, 5))
    found = infer_coupled(shards, max_sweeps=60)
    assert found.converged
    mean = np.stack([np.linalg.solve(Q.T, beta) for Q, beta in zip(*found.beliefs, strict=True)])
    assert np.abs(mean.sum(axis=0)).max() < 0.02 * np.abs(mean).max()


@pytest.mark.parametrize("lapse", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_against_the_rest_are_machines_for_two(weighted, lapse):
    X, labels = data(60)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=60) if weighted else None
    rng, rest = np.random.default_rng(2), OneAgainstRest(BIAS, lapse=lapse).weigh(weight)
    active = [rng.permutation(60)[:12] for _ in range(3)]
    objective = RestEvidence(LearnedRows(np.arange(60), X, labels), active, 1e-9, lambda c, kernel: active[c])
    model = Model.begin(KERNEL, rest)
    evidence = 0.0
    for c in range(3):
        noise = OneOfMany(BIAS[c], lapse=lapse, classes=3) if lapse else Probit(BIAS[c])
        noise = noise if weight is None else WeightedDiscrete(noise, weight)
        one = ProjectedShard(np.arange(60), X, np.where(labels == c, 1.0, -1.0), KERNEL, noise, "float64")
        one.project(make_basis(KERNEL, active[c], X[active[c]], "float64"))
        evidence += infer([one], tolerance=1e-9, max_sweeps=300).log_evidence
    value, gradient = objective(model)
    assert value == pytest.approx(evidence, abs=1e-6)  # nothing has moved, so that the prior is zero
    for i, step in enumerate(1e-5 * np.eye(model.size)):
        up, down = (objective(model.with_theta(sign * step))[0] for sign in (1.0, -1.0))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


def test_asked_to_end_every_class_still_knows_something():
    X, labels = data(60)
    model = IVMClassifier(kernel=KERNEL, learn=None, n_active=12, random_state=0)
    model.set_params(callback=lambda progress: progress.log_evidence is not None).fit(X, labels)
    assert model.stop_reason_ == "the callback asked to stop"
    assert all(np.abs(part.beta).max() > 0.1 for part in model.posterior_.parts)


@pytest.mark.parametrize("C", [2, 3, 7])
def test_the_forces_answer_as_the_dense_graph_of_classes_does(C):
    rng = np.random.default_rng(C)
    labels, var, delta = rng.integers(0, C, size=20), rng.uniform(0.1, 0.9, size=(20, C)), rng.normal(size=(20, C))
    nu = rng.uniform(0.05, 0.3, size=(20, C)) / C
    rows = np.arange(20)
    nu[rows, labels] = 0.8 * (nu.sum(axis=1) - nu[rows, labels])  # of a graph with other edges than those to the own
    found = coupled._fall(delta, labels, *coupled._star(labels, nu, var))
    for i, y in enumerate(labels):
        others = [j for j in range(C) if j != y]
        N = np.zeros((C, C))
        for j in others:
            edge = np.eye(C)[y] - np.eye(C)[j]
            N += nu[i, y] * nu[i, j] / nu[i, others].sum() * np.outer(edge, edge)
        want = N @ np.linalg.inv(np.eye(C) - np.diag(var[i]) @ N) @ delta[i]
        np.testing.assert_allclose(found[i], want, rtol=1e-9, atol=1e-12)


def test_a_part_of_a_copy_leaves_a_tenth_of_what_is_known_without_the_row():
    pi, k, var = np.array([0.3, 2.0, 0.0]), np.array([0.2, 0.5, 0.9]), np.array([0.7, 0.1, 3.0])
    most, without = coupled._most(pi, k, var), 1.0 / var - pi
    np.testing.assert_allclose(without - (1.0 - k) * most, 0.1 * without, rtol=1e-12)
