"""The factorised coupled IVM against dense moment matching, brute force over pairs and differences."""

import numpy as np
import oracles
import pytest

from infovec.criteria import pair_evidence, refine_pairs
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Linear, White
from infovec.learning import learn_factorised
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.machines.pairs import fit_factorised
from infovec.posterior import ClassSites
from infovec.selection import Schedule, select_pairs

SHARED = RBF(0.9, 3.0) + Bias(0.5)
OWN = [RBF(0.9, 3.0) + Bias(0.5), RBF(0.6, 5.0), RBF([1.2, 0.7], 2.0) + Linear(0.3)]
ONE_BY_ONE = Schedule(1, 1)
BIAS = np.array([0.3, 0.0, -0.2])
LIKELIHOODS = [MultivariateProbit(BIAS), Softmax(BIAS)]


def problem(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.normal(size=n)
    return X, np.floor(3 * (angle % (2 * np.pi)) / (2 * np.pi)).astype(np.intp) % 3


def matrices(kernels, X):
    return [k(X) for k in kernels] if isinstance(kernels, list) else [kernels(X)] * 3


class DenseClasses:
    """One dense Gaussian for each class; cavities of a row from its covariance and sites, by the textbook."""

    def __init__(self, covariances, labels, likelihood):
        self.adf = [oracles.DenseADF(K) for K in covariances]
        self.labels, self.likelihood, n = labels, likelihood, len(labels)
        self.pi, self.b = np.zeros((n, 3)), np.zeros((n, 3))

    def marginals(self):
        return np.column_stack([a.mean for a in self.adf]), np.column_stack([np.diag(a.cov) for a in self.adf])

    def tilted(self):
        mean, var = self.marginals()
        cavity_var = 1.0 / (1.0 / var - self.pi)
        return self.likelihood.tilted(self.labels, cavity_var * (mean / var - self.b), cavity_var)

    def include(self, i, c):
        mean, var = (v[i, c] for v in self.marginals())
        _, g, nu = self.tilted()
        g, nu = g[i, c], nu[i, c]
        self.adf[c].include(i, g, nu)
        tilted_mean, tilted_var = mean + var * g, var - var**2 * nu
        self.pi[i, c] = 1.0 / tilted_var - 1.0 / var  # SLH eq. 7
        self.b[i, c] = tilted_mean / tilted_var - mean / var


@pytest.mark.parametrize(
    ("kernels", "likelihood"), [(SHARED, LIKELIHOODS[0]), (OWN, LIKELIHOODS[1])], ids=["shared-probit", "own-softmax"]
)
def test_every_chosen_pair_is_the_best_by_brute_force(kernels, likelihood):
    X, y = problem(10)
    K = matrices(kernels, X)
    previous = [np.zeros(0, dtype=int)] * 3
    dense = DenseClasses(K, y, likelihood)
    for size in range(1, 16 if isinstance(likelihood, MultivariateProbit) else 10):
        sites = select_pairs(X, y, kernels, likelihood, size, schedule=ONE_BY_ONE)
        c = next(c for c in range(3) if len(sites[c].rows) > len(previous[c]))
        i = sites[c].rows[-1]
        mean, var = dense.marginals()
        _, g, nu = dense.tilted()
        gains = [
            oracles.gaussian_relative_entropy(
                np.array([m + v * a]), np.array([[v - v**2 * k]]), np.array([m]), np.array([[v]])
            )
            for m, v, a, k in zip(mean.ravel(), var.ravel(), g.ravel(), nu.ravel(), strict=True)
        ]
        gains = np.where(dense.pi > 0, -np.inf, np.reshape(gains, (10, 3)))
        assert gains[i, c] >= gains.max() - 1e-6
        dense.include(i, c)
        previous = [s.rows for s in sites]
    if isinstance(likelihood, MultivariateProbit):
        assert max(np.bincount(np.concatenate(previous))) > 1  # some row is active for several classes
    for c, (rows, precision, b) in enumerate(sites):
        np.testing.assert_allclose(precision, dense.pi[rows, c], rtol=1e-6)
        np.testing.assert_allclose(b, dense.b[rows, c], rtol=1e-6)
    fitted = fit_factorised(X, y, kernels, likelihood, sum(map(len, previous)) // 3, schedule=ONE_BY_ONE)
    mean, var = fitted.predict_latent(X)
    for c, (rows, precision, b) in enumerate(sites):
        expected = oracles.gaussian_from_sites(K[c], rows, precision, b / precision)
        np.testing.assert_array_equal(fitted.active[c], rows)
        np.testing.assert_allclose(mean[:, c], expected[0], atol=1e-8)
        np.testing.assert_allclose(var[:, c], np.diag(expected[1]), atol=1e-8)
        np.testing.assert_allclose(mean[:, c], dense.adf[c].mean, atol=1e-6)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)).sum(axis=1), 1.0, atol=1e-12)


def test_a_pool_of_all_rows_makes_blocks_exact():
    X, y = problem(50)
    likelihood = MultivariateProbit(np.zeros(3))
    one = select_pairs(X, y, OWN, likelihood, 60, schedule=ONE_BY_ONE)
    blocks = select_pairs(X, y, OWN, likelihood, 60, schedule=Schedule(6, 50))
    for a, b in zip(one, blocks, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        np.testing.assert_allclose(a.precision, b.precision, rtol=1e-6)
    single = select_pairs(X.astype(np.float32), y, OWN, likelihood, 20, schedule=ONE_BY_ONE, dtype="float32")
    twenty = select_pairs(X, y, OWN, likelihood, 20, schedule=ONE_BY_ONE)
    np.testing.assert_allclose(
        sum(s.precision.sum() for s in single), sum(s.precision.sum() for s in twenty), rtol=0.01
    )


def test_all_pairs_can_be_active_and_no_more():
    X, y = problem(8)
    sites = select_pairs(X, y, SHARED, MultivariateProbit(np.zeros(3)), 100)
    assert [len(s.rows) for s in sites] == [8, 8, 8]
    assert all(len(np.unique(s.rows)) == 8 for s in sites)
    with pytest.raises(ParameterError, match="one kernel or 3"):
        select_pairs(X, y, OWN[:2], MultivariateProbit(np.zeros(3)), 5)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=["probit", "softmax"])
def test_sweeps_end_where_the_marginals_are_the_tilted_moments(likelihood):
    X, y = problem(8)
    sites = select_pairs(X, y, OWN, likelihood, 24)
    sites, converged = refine_pairs(X, y, OWN, likelihood, sites, max_sweeps=200, tolerance=1e-9)
    assert converged
    dense = DenseClasses(matrices(OWN, X), y, likelihood)
    for c, (rows, precision, b) in enumerate(sites):
        dense.pi[rows, c], dense.b[rows, c] = precision, b
        mean, dense.adf[c].cov = oracles.gaussian_from_sites(matrices(OWN, X)[c], rows, precision, b / precision)
        dense.adf[c].mean = mean
    mean, var = dense.marginals()
    cavity_var = 1.0 / (1.0 / var - dense.pi)
    cavity_mean = cavity_var * (mean / var - dense.b)
    _, g, nu = dense.tilted()
    np.testing.assert_allclose(cavity_mean + cavity_var * g, mean, atol=1e-6)
    np.testing.assert_allclose(cavity_var - cavity_var**2 * nu, var, atol=1e-6)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=["probit", "softmax"])
def test_evidence_equals_the_dense_ep_formula(likelihood):
    """Normalisers of cavities times likelihood, over those of cavities times sites, times that of prior times sites."""
    X, y = problem(14)
    K = matrices(OWN, X)
    sites = select_pairs(X, y, OWN, likelihood, 17)
    dense = DenseClasses(K, y, likelihood)
    expected = 0.0
    for c, (rows, precision, b) in enumerate(sites):
        dense.pi[rows, c], dense.b[rows, c] = precision, b
        dense.adf[c].mean, dense.adf[c].cov = oracles.gaussian_from_sites(K[c], rows, precision, b / precision)
        K_I, Pi = K[c][np.ix_(rows, rows)], np.diag(precision)
        A = np.linalg.inv(np.linalg.inv(K_I) + Pi)
        expected += 0.5 * (b @ A @ b - np.linalg.slogdet(np.eye(len(rows)) + K_I @ Pi)[1])
    mean, var = dense.marginals()
    a = 1.0 / (1.0 / var - dense.pi)
    h = a * (mean / var - dense.b)
    total = 1.0 / a + dense.pi
    expected += dense.tilted().log_z.sum()
    expected -= np.sum(0.5 * ((h / a + dense.b) ** 2 / total - h**2 / a - np.log(a * total)))
    assert pair_evidence(X, y, OWN, likelihood, sites).log_evidence == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=["probit", "softmax"])
@pytest.mark.parametrize("kernels", [SHARED + White(0.2), OWN], ids=["shared", "own"])
def test_gradient_equals_differences_for_constant_sites(kernels, likelihood):
    X, y = problem(15)
    sites = select_pairs(X, y, kernels, likelihood, 20)
    many = kernels if isinstance(kernels, list) else [kernels]
    sizes = np.cumsum([k.theta.size for k in many])

    def evidence(theta):
        parts = np.split(theta, sizes)
        made = [k.with_theta(part) for k, part in zip(many, parts[:-1], strict=True)]
        made = made if isinstance(kernels, list) else made[0]
        return pair_evidence(X, y, made, likelihood.with_theta(parts[-1]), sites, gradient=False).log_evidence

    found = pair_evidence(X, y, kernels, likelihood, sites)
    theta = np.concatenate([*(k.theta for k in many), likelihood.theta])
    gradient = np.concatenate([*found.kernels, found.likelihood])
    tolerance = 1e-5 if isinstance(likelihood, MultivariateProbit) else 1e-3
    np.testing.assert_allclose(gradient, oracles.fd_gradient(evidence, theta, 2e-5), rtol=tolerance, atol=tolerance)


def test_a_class_without_active_rows_keeps_its_prior():
    X, y = problem(10)
    nothing = ClassSites(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0))
    some = ClassSites(np.array([1, 4]), np.array([0.5, 0.3]), np.array([0.2, -0.4]))
    found = pair_evidence(X, y, SHARED, MultivariateProbit(np.zeros(3)), [some, nothing, nothing])
    mean, var = found.parts[1].posterior().predict(X)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(var, SHARED.diag(X))
    assert np.all(np.isfinite(found.kernels[0]))


def test_learning_finds_the_input_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5]).astype(np.intp)
    start, likelihood = RBF(np.full(3, 2.0), 4.0), MultivariateProbit(np.zeros(3))
    kernel, value = learn_factorised(X, y, start, likelihood, 20, major=2, minor=6)
    assert value > fit_factorised(X, y, start, likelihood, 20).log_evidence + 5
    assert fit_factorised(X, y, kernel, likelihood, 20).log_evidence == pytest.approx(value)
    assert kernel.length_scale.argmin() == 1
    assert sorted(kernel.length_scale)[1] > 2 * kernel.length_scale[1]
