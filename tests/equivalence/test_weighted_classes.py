"""Weights of rows of many classes against rows given several times, and what is left when equal inputs are left out."""

import numpy as np
import pytest
from oracles import fd_gradient, gaussian_from_sites

import infovec
from infovec.criteria import pair_evidence, refine_pairs
from infovec.inference import (
    coupled_gradient,
    infer,
    infer_coupled,
    left_out,
    left_out_of_classes,
    make_basis,
    without_own_site,
)
from infovec.inference.bound import bound_gradient, maximise_bound
from infovec.inference.bound import left_out as variational_left_out
from infovec.inference.bound import project as variational_project
from infovec.kernels import RBF, Bias
from infovec.likelihoods import Gaussian
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.posterior import ClassSites, FactorisedPosterior
from infovec.selection import select as variational_select
from infovec.selection import select_pairs
from infovec.shards import CoupledShard, ProjectedShard

KERNEL = RBF(0.8, 3.0) + Bias(0.5)
BIAS = np.array([0.3, -0.2, 0.1])
N = 14


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scores = np.stack([X @ [np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(3) / 3], axis=1)
    return X, np.argmax(scores + 0.3 * rng.normal(size=(n, 3)), axis=1)


def project(kernel, likelihood, X, labels, active, blur=True):
    basis = make_basis(kernel, active, X[active], "float64")
    shard = CoupledShard(np.arange(len(X)), X, labels, kernel, likelihood, "float64", blur)
    shard.project(basis)
    return [shard], basis


def repeated(seed=0):
    X, labels = data(N, seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=N)
    again = np.repeat(np.arange(N), weight)
    return X, labels, weight.astype(float), again, np.searchsorted(again, np.arange(N))


def coupled(likelihood, X, labels, active, blur, kernel=KERNEL):
    shards, basis = project(kernel, likelihood, X, labels, active, blur=blur)
    found = infer_coupled(shards, tolerance=1e-9, max_sweeps=300)
    assert found.converged
    return shards[0], found, np.concatenate(coupled_gradient(shards, basis, kernel, likelihood, found))


@pytest.mark.parametrize("blur", [True, False])
@pytest.mark.parametrize("Likelihood", [MultivariateProbit, Softmax])
def test_whole_weights_are_repetitions(Likelihood, blur):
    X, labels, weight, again, first = repeated()
    active = np.arange(0, N, 2)
    shard, found, gradient = coupled(Likelihood(BIAS).weigh(weight), X, labels, active, blur)
    each, many, expected = coupled(Likelihood(BIAS), X[again], labels[again], first[active], blur)
    assert found.log_evidence == pytest.approx(many.log_evidence, abs=1e-7)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    np.testing.assert_allclose(found.beliefs.beta, many.beliefs.beta, atol=1e-6)
    np.testing.assert_allclose(found.beliefs.Q, many.beliefs.Q, atol=1e-6)
    np.testing.assert_allclose(shard.precision, weight[:, None] * each.precision[first], atol=1e-6)


def differences(likelihood, X, labels, active, kernel, blur):
    q = kernel.theta.size

    def evidence(theta):
        trial = likelihood.with_theta(theta[q:])
        shards, _ = project(kernel.with_theta(theta[:q]), trial, X, labels, active, blur=blur)
        return infer_coupled(shards, tolerance=1e-10, max_sweeps=500).log_evidence

    return fd_gradient(evidence, np.concatenate([kernel.theta, likelihood.theta]), 1e-4)


@pytest.mark.parametrize("low", [1.0, 0.05])
@pytest.mark.parametrize("blur", [True, False])
@pytest.mark.parametrize("Likelihood", [MultivariateProbit, Softmax])
def test_the_gradient_is_exact_for_any_weights(Likelihood, blur, low):
    X, labels = data(N)
    likelihood = Likelihood(BIAS).weigh(np.random.default_rng(0).uniform(low, 3.0 * low, size=N))
    active = np.arange(0, N, 2)
    _, _, gradient = coupled(likelihood, X, labels, active, blur)
    np.testing.assert_allclose(gradient, differences(likelihood, X, labels, active, KERNEL, blur), atol=1e-4)


@pytest.mark.parametrize(("Likelihood", "times"), [(MultivariateProbit, 2.0), (Softmax, 1.0)])
def test_the_power_of_a_likelihood_is_that_of_brute_force(Likelihood, times):
    """One row: means and log evidence against quadrature; without copies EP is exact for it."""
    z, w = np.polynomial.hermite_e.hermegauss(40)
    f = np.stack(np.meshgrid(z, z, z), axis=-1).reshape(-1, 3)
    prior = np.einsum("i,j,k->ijk", w, w, w).ravel() / w.sum() ** 3
    log_prob = Likelihood(BIAS).log_prob(np.zeros(len(f), dtype=int), f)
    for weight, error in ((0.1, 0.02), (0.5, 0.01), (1.0, 1e-5), (3.0, 0.02)):
        error *= times
        mass = prior * np.exp(weight * log_prob)
        shards, _ = project(RBF(), Likelihood(BIAS).weigh(np.array([weight])), np.zeros((1, 2)), np.zeros(1, int), [0])
        found = infer_coupled(shards, tolerance=1e-8)
        assert found.log_evidence == pytest.approx(np.log(mass.sum()), rel=error)
        mean = found.beliefs.beta[:, 0] / found.beliefs.Q[:, 0, 0]
        np.testing.assert_allclose(mean, mass @ f / mass.sum(), rtol=error, atol=1e-4)


@pytest.mark.parametrize("low", [0.01, 0.2])
def test_parts_of_rows_settle_where_the_prior_is_wide(low):
    """The whole of a copy is taken out of a cavity that knows a part of it, which must leave something."""
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(150, 2)), rng.integers(0, 3, size=150)
    likelihood = MultivariateProbit(BIAS).weigh(rng.uniform(low, 2.0, size=150))
    for scale in (0.15, 1.5, 15.0):
        kernel = RBF(scale, 100.0) + Bias(10.0)
        shards, _ = project(kernel, likelihood, X, labels, np.arange(0, 150, 3), blur=False)
        assert infer_coupled(shards, tolerance=1e-3, max_sweeps=80).converged


def test_the_evidence_of_pairs_counts_copies():
    X, labels, weight, again, first = repeated()
    rng = np.random.default_rng(1)
    rows = [rng.permutation(N)[:d] for d in (4, 6, 3)]
    sites = [ClassSites(at, rng.uniform(0.1, 0.5, size=len(at)), rng.normal(size=len(at))) for at in rows]
    copies = [[first[i] + j for i in at for j in range(int(weight[i]))] for at in rows]
    times = [weight[at].astype(int) for at in rows]
    of_each = [
        ClassSites(np.array(new), np.repeat(s.precision, t), np.repeat(s.b, t))
        for new, s, t in zip(copies, sites, times, strict=True)
    ]
    total = [ClassSites(s.rows, weight[s.rows] * s.precision, weight[s.rows] * s.b) for s in sites]
    told = pair_evidence(X, labels, KERNEL, MultivariateProbit(BIAS).weigh(weight), total)
    expected = pair_evidence(X[again], labels[again], KERNEL, MultivariateProbit(BIAS), of_each)
    assert told.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)
    np.testing.assert_allclose(told.kernels[0], expected.kernels[0], atol=1e-8)
    np.testing.assert_allclose(told.likelihood, expected.likelihood, atol=1e-8)


@pytest.mark.parametrize("weight", [0.2, 2.0, 7.5, 300.0])
def test_copies_of_a_pair_match_in_the_presence_of_each_other(weight):
    X, labels = data(N)
    likelihood = MultivariateProbit(BIAS).weigh(np.full(N, weight))
    sites = select_pairs(X, labels, RBF(1.0, 20.0), likelihood, 1)
    again, settled = refine_pairs(X, labels, RBF(1.0, 20.0), likelihood, sites, max_sweeps=1, tolerance=1e-3)
    assert settled
    c = next(c for c in range(3) if len(sites[c].rows))
    np.testing.assert_allclose(again[c].precision, sites[c].precision, rtol=1e-2)


def test_the_variational_bound_counts_weights():
    X, labels, weight, again, first = repeated()
    active, likelihood = np.arange(0, N, 2), MultivariateProbit(BIAS)
    told = variational_project(KERNEL, 3, X, active, weight=weight)
    each = variational_project(KERNEL, 3, X[again], first[active])
    best = maximise_bound(told, labels, likelihood.weigh(weight), tolerance=1e-9)
    expected = maximise_bound(each, labels[again], likelihood, tolerance=1e-9)
    assert best.bound == pytest.approx(expected.bound, abs=1e-8)
    np.testing.assert_allclose(best.z, expected.z, atol=1e-6)
    found = bound_gradient(told, X, best)
    other = bound_gradient(each, X[again], expected)
    np.testing.assert_allclose(found.kernels[0], other.kernels[0], atol=1e-6)
    np.testing.assert_allclose(found.likelihood, other.likelihood, atol=1e-6)
    without, copies = variational_left_out(told, best), variational_left_out(each, expected, again)
    np.testing.assert_allclose(without, copies[:, first], atol=1e-6)


def test_the_variational_machine_gives_rows_noise_by_their_weight():
    X, labels, weight, _, _ = repeated()
    found = variational_select(X, labels, KERNEL, MultivariateProbit(BIAS).weigh(weight), 9)
    for c in range(3):
        mean, cov = gaussian_from_sites(KERNEL(X), found.rows, weight[found.rows], found.target[:, c])
        np.testing.assert_allclose(found.mean[:, c], mean, atol=1e-9)
        np.testing.assert_allclose(found.var[:, c], np.diag(cov), atol=1e-9)
    B = np.eye(9) + np.sqrt(weight[found.rows])[:, None] * KERNEL(X[found.rows]) * np.sqrt(weight[found.rows])
    np.testing.assert_allclose(found.L[0] @ found.L[0].T, B, atol=1e-9)


def groups():
    """Rows of which some have equal inputs."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 8, size=20)
    return rng.normal(size=(8, 2))[group], rng.normal(size=20), group


def test_without_a_group_gaussian_rows_are_predicted_from_all_others():
    X, y, group = groups()
    basis = make_basis(KERNEL, np.arange(20), X, "float64")
    shards = [ProjectedShard(at, X[at], y[at], KERNEL, Gaussian(0.3), "float64") for at in np.split(np.arange(20), [9])]
    for shard in shards:
        shard.project(basis)
    mean, var = left_out(shards, infer(shards).beliefs, group)
    for i in range(20):
        rest = np.flatnonzero(group != group[i])
        k = KERNEL(X[rest], X[i : i + 1])[:, 0]
        gain = np.linalg.solve(KERNEL(X[rest]) + 0.3 * np.eye(len(rest)), k)
        assert mean[i] == pytest.approx(gain @ y[rest], abs=1e-4)
        assert var[i] == pytest.approx(KERNEL.diag(X[i : i + 1])[0] - gain @ k, abs=1e-4)


def test_without_a_group_classes_are_predicted_by_the_sites_of_others():
    X, y, group = groups()
    likelihood = MultivariateProbit(BIAS)
    labels, active = (np.abs(y) * 10).astype(int) % 3, np.unique(group, return_index=True)[1]
    shards, _ = project(KERNEL, likelihood, X, labels, active)
    assert infer_coupled(shards, tolerance=1e-9, max_sweeps=300).converged
    mean, var = left_out_of_classes(shards, group)
    for c in range(3):
        for i in range(20):
            rest = np.flatnonzero(group != group[i])
            precision, b = shards[0].precision[rest, c], shards[0].b[rest, c]
            m, cov = gaussian_from_sites(KERNEL(X), rest, precision, b / precision)
            assert mean[i, c] == pytest.approx(m[i], abs=1e-4)
            assert var[i, c] == pytest.approx(cov[i, i], abs=1e-4)


def test_without_a_group_the_factorised_posterior_knows_other_active_rows():
    X, _, group = groups()
    rng = np.random.default_rng(0)
    active = rng.permutation(20)[:12]
    precision, b = rng.uniform(0.5, 2.0, size=12), rng.normal(size=12)
    root = np.sqrt(precision)
    L = np.linalg.cholesky(np.eye(12) + root[:, None] * KERNEL(X[active]) * root)
    posterior = FactorisedPosterior(KERNEL, X[active], precision, b / precision, L, np.linalg.solve(L, b / root))
    rows = np.arange(0, 20, 2)
    mean, var = without_own_site(posterior, active, X, rows, group)
    for k, i in enumerate(rows):
        others = group[active] != group[i]
        m, cov = gaussian_from_sites(KERNEL(X), active[others], precision[others], (b / precision)[others])
        assert mean[k] == pytest.approx(m[i], abs=1e-8)
        assert var[k] == pytest.approx(cov[i, i], abs=1e-8)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("form", ["ovr", "probit", "softmax", "variational"])
def test_a_weight_is_a_repetition_for_every_form(form, approximation):
    X, labels, weight, again, _ = repeated(1)
    weight[0] = 0.0
    again = np.random.default_rng(2).permutation(again[again > 0])
    settings = {"multi_class": form, "approximation": approximation, "n_active": 8, "random_state": 0}
    settings |= {"kernel": RBF(1.0, 5.0) + Bias(), "learn": None, "dtype": "float64"}
    told = infovec.IVMClassifier(**settings).fit(X, labels, sample_weight=weight)
    many = infovec.IVMClassifier(**settings).fit(X[again], labels[again])
    np.testing.assert_allclose(told.predict_proba(X), many.predict_proba(X), rtol=1e-9)
    assert told.log_evidence_ == pytest.approx(many.log_evidence_, rel=1e-9)
    np.testing.assert_array_equal(told.active_vectors_, many.active_vectors_)


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
@pytest.mark.parametrize("form", ["ovr", "probit", "softmax", "variational"])
def test_a_real_weight_is_between_those_of_whole_numbers_and_in_parts_the_same(form, approximation):
    X, labels = data(N)
    weight = np.random.default_rng(5).uniform(0.2, 2.5, size=N)
    settings = {"multi_class": form, "approximation": approximation, "n_active": 8, "random_state": 0}
    settings |= {"kernel": RBF(1.0, 5.0) + Bias(), "learn": None, "dtype": "float64"}
    told = infovec.IVMClassifier(**settings).fit(X, labels, sample_weight=weight)
    parts = infovec.IVMClassifier(**settings)
    parts.fit(np.tile(X, (2, 1)), np.tile(labels, 2), sample_weight=np.append(0.3 * weight, 0.7 * weight))
    np.testing.assert_allclose(told.predict_proba(X), parts.predict_proba(X), rtol=1e-8)
    own = [np.log(told.predict_proba(X)[0, labels[0]])]
    for first in (1.0, 1.7, 2.0):
        weight[0] = first
        own.append(
            np.log(
                infovec.IVMClassifier(**settings).fit(X, labels, sample_weight=weight).predict_proba(X)[0, labels[0]]
            )
        )
    if approximation == "projected":
        assert min(own[1], own[3]) < own[2] < max(own[1], own[3])
