"""Certificates of classifiers: what goes into them, what is refused, and how often they hold."""

import json
from dataclasses import FrozenInstanceError
from math import comb, log
from pathlib import Path

import numpy as np
import pytest
from oracles import gaussian_relative_entropy
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as SKLEARN_RBF
from sklearn.gaussian_process.kernels import ConstantKernel

import infovec
from infovec import IVMClassifier, IVMOrdinalClassifier
from infovec.errors import ParameterError
from infovec.estimators import GibbsClassifier
from infovec.kernels import RBF, White
from infovec.likelihoods import Logit, Ordinal, Probit
from infovec.likelihoods.classes import MultivariateProbit
from infovec.pac_bayes import (
    certified_laplace,
    compression_by_tail,
    gibbs_maurer,
    laplace_posterior,
    latent,
    parts_of,
    relative_entropy_between,
)

ROOT = Path(__file__).parents[2]
KERNEL = RBF(1.0, 6.0)


def rows(n=300, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.digitize(f, [0.0] if classes == 2 else [-0.7, 0.7])


def fitted(X, y, **settings):
    given = {"kernel": KERNEL, "learn": None, "likelihood": Probit(), "n_active": 20, "block_size": 1}
    if len(np.unique(y)) > 2:
        given["likelihood"] = "probit"
    return IVMClassifier(**{**given, "random_state": 0, **settings}).fit(X, y)


def joint(part, X):
    """Mean and covariance of a posterior at inputs, by dense formulas: the prior given the values at active inputs."""
    K, C, A = part.kernel(X), part.kernel(X, part.X), part.kernel(part.X)
    if hasattr(part, "precision"):
        S = np.linalg.inv(np.linalg.inv(A) + np.diag(part.precision))
        mean = S @ (part.precision * part.site_mean)
    else:
        S = part.L @ np.linalg.inv(part.Q @ part.Q.T) @ part.L.T
        mean = part.L @ np.linalg.solve(part.Q.T, part.beta)
    G = np.linalg.solve(A, C.T).T
    return G @ mean, K - G @ (A - S) @ G.T


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_relative_entropy_equals_the_dense_one_of_all_rows(approximation):
    rng = np.random.default_rng(3)
    X = rng.uniform(-4.0, 4.0, size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    part = fitted(X, y, approximation=approximation, n_active=15, kernel=RBF(0.8, 4.0)).posterior_
    mean, cov = joint(part, X)
    dense = gaussian_relative_entropy(mean, cov, np.zeros(40), part.kernel(X))
    assert part.relative_entropy() == pytest.approx(dense, abs=1e-9)


@pytest.mark.parametrize("first", ["factorised", "projected"])
@pytest.mark.parametrize("second", ["factorised", "projected"])
def test_relative_entropy_to_another_posterior_equals_the_dense_one(first, second):
    rng = np.random.default_rng(4)
    X = rng.uniform(-4.0, 4.0, size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    kernel = RBF(0.8, 4.0)
    q = fitted(X, y, approximation=first, n_active=18, kernel=kernel).posterior_
    r = fitted(X[:20], y[:20], approximation=second, n_active=10, kernel=kernel).posterior_
    dense = gaussian_relative_entropy(*joint(q, X), *joint(r, X))
    assert relative_entropy_between(q, r) == pytest.approx(dense, abs=1e-8)
    assert relative_entropy_between(q, q) == pytest.approx(0.0, abs=1e-9)


def test_a_prior_that_is_a_posterior_has_the_same_kernel_and_no_white_noise():
    X, y = rows(60)
    one, other = fitted(X, y).posterior_, fitted(X, y, kernel=RBF(2.0, 6.0)).posterior_
    with pytest.raises(ParameterError, match="same kernel"):
        relative_entropy_between(one, other)
    noisy = fitted(X, y, kernel=KERNEL + White(0.1)).posterior_
    with pytest.raises(ParameterError, match="white noise"):
        relative_entropy_between(noisy, noisy)


@pytest.mark.parametrize("variance", [1.0, 9.0, 100.0])
def test_laplace_equals_scikit_learn(variance):
    X, y = rows(120)
    ours = laplace_posterior(RBF(1.3, variance), X, 2.0 * y - 1.0)
    theirs = GaussianProcessClassifier(ConstantKernel(variance) * SKLEARN_RBF(1.3), optimizer=None).fit(X, y)
    Z = np.random.default_rng(1).normal(size=(50, 2))
    mean, var = ours.predict(Z)
    f, f_var = theirs.latent_mean_and_variance(Z)
    np.testing.assert_allclose(mean, f, atol=1e-5 * np.sqrt(variance))
    np.testing.assert_allclose(var, f_var, atol=1e-5 * variance)
    X = np.random.default_rng(2).uniform(-4.0, 4.0, size=(40, 2))
    ours = laplace_posterior(RBF(0.8, variance), X, np.sign(X[:, 0]))
    dense = gaussian_relative_entropy(*joint(ours, X), np.zeros(40), RBF(0.8, variance)(X))
    assert ours.relative_entropy() == pytest.approx(dense, abs=1e-8)


def test_certified_laplace():
    X, y = rows(200)
    found = certified_laplace(KERNEL, X, np.where(y, "yes", "no"))
    assert found.classes == ("no", "yes")
    assert found.gibbs_error < found.gibbs_bound < 0.5
    assert found.gibbs_bound == gibbs_maurer(found.gibbs_error, found.relative_entropy, 200, 0.01).upper
    with pytest.raises(ParameterError, match="is for two"):
        certified_laplace(KERNEL, *rows(90, 3))


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
@pytest.mark.parametrize(("classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "probit"), (3, "variational")])
def test_gibbs_error_is_that_of_draws(approximation, classes, multi_class):
    X, y = rows(120, classes)
    model = fitted(X, y, approximation=approximation, multi_class=multi_class)
    found = model.certify(X, y, delta=0.05)
    wrong = [np.mean(model.gibbs(seed).predict(X) != y) for seed in range(300)]
    assert abs(np.mean(wrong) - found.gibbs_error) < 5.0 * np.std(wrong) / np.sqrt(300)
    assert found.relative_entropy == pytest.approx(sum(p.relative_entropy() for p in parts_of(model.posterior_)))
    assert found.quadrature_error < 1e-11
    assert found.gibbs_lower < found.gibbs_error < found.gibbs_bound
    assert found.bayes_error == np.mean(model.gibbs().vote(X) != y)
    shares = [found.confusion_bounds(a, b) for a in range(classes) for b in range(classes)]
    assert all(s.lower <= c <= s.upper for s, c in zip(shares, found.confusion.centre, strict=True))
    if classes == 2:
        assert np.array_equal(model.gibbs().vote(X), model.predict(X))


def test_the_certificate_pays_for_a_bias_from_the_rows_and_for_candidates():
    X, y = rows(200)
    given, named = fitted(X, y).certify(X, y), fitted(X, y, likelihood="logit").certify(X, y)
    assert given.log_choices == 0.0
    assert named.log_choices == pytest.approx(log(201))
    assert fitted(X, y, likelihood=Logit(0.3)).certify(X, y).log_choices == 0.0
    three = fitted(*rows(200, 3)).certify(*rows(200, 3))
    assert three.log_choices == pytest.approx(log(comb(202, 2)))
    chosen = fitted(X, y).certify(X, y, candidates=[RBF(0.5), KERNEL, RBF(2.0)])
    assert chosen.log_choices == pytest.approx(log(3.0))
    assert fitted(X, y).certify(X, y, candidates=3) == chosen
    exact = gibbs_maurer(given.gibbs_error, given.relative_entropy, 200, 0.01 / 3.0)
    assert (chosen.gibbs_lower, chosen.gibbs_bound) == pytest.approx(tuple(exact), rel=1e-12)


def test_ordered_classes():
    X, y = rows(200, 3)
    model = IVMOrdinalClassifier(kernel=KERNEL, learn=None, n_active=20, random_state=0).fit(X, y)
    found = model.certify(X, y)
    wrong = [np.mean(GibbsClassifier(model, seed).predict(X) != y) for seed in range(200)]
    assert abs(np.mean(wrong) - found.gibbs_error) < 5.0 * np.std(wrong) / np.sqrt(200)
    assert found.log_choices == pytest.approx(log(comb(202, 2)))
    cuts = IVMOrdinalClassifier(kernel=KERNEL, likelihood=Ordinal([-1.0, 1.0]), learn=None, n_active=20, random_state=0)
    assert cuts.fit(X, y).certify(X, y).log_choices == 0.0
    assert "majority vote" in found.statement


def refusal(model, X, y, words, **options):
    with pytest.raises(ParameterError, match=words):
        model.certify(X, y, **options)


def test_refusals():
    X, y = rows(120)
    model = fitted(X, y)
    refusal(IVMClassifier(n_active=20, random_state=0).fit(X, y), X, y, "kernel=None takes the scales")
    learned = IVMClassifier(kernel=KERNEL, n_active=20, random_state=0).fit(X, y)
    refusal(learned, X, y, "learned on the very rows")
    refusal(learned, X, y, "learned on the very rows", candidates=5)
    refusal(learned.set_params(learn=None), X, y, "learned on the very rows")  # what was learned is remembered
    refusal(learned.set_params(kernel=learned.kernel_), X, y, "learned on the very rows")
    refusal(model, X, y, "weights cannot certify", sample_weight=np.arange(120.0))
    refusal(model, X, y, "60 groups are not independent", groups=np.arange(120) // 2)
    refusal(model, X, y, "groups has 3 labels", groups=["a", "b", "c"])
    refusal(model, X[:0], y[:0], "no rows")
    refusal(model, X, np.zeros(120, int), "all rows are of class 0")
    refusal(model, X, y + 1, "2, which is none of the classes")
    refusal(model, X[:50], y[:50], "are not the 120 rows of the fit")
    refusal(model, X[::-1], y[::-1], "are not the 120 rows of the fit")
    refusal(model, X, y, "not held out", held_out=True)
    refusal(model, X[::-1], y[::-1], "not held out", held_out=True)
    refusal(model, X, y, "none of the candidates", candidates=[RBF(9.0)])
    refusal(model, X, y, "candidates must be", candidates=0)
    refusal(fitted(X, y, class_weight="balanced"), X, y, "class_weight")
    refusal(model, X, y, "delta", delta=0.0)
    weighted = IVMClassifier(kernel=KERNEL, learn=None, n_active=20).fit(X, y, sample_weight=1.0 + y)
    refusal(weighted, X, y, "may depend on them in any way")
    for split in (0.0, 1.0, 0.001):
        with pytest.raises(ParameterError, match="split"):
            IVMClassifier().fit_certified(X, y, split=split)
    with pytest.raises(ParameterError, match="not independent"):
        IVMClassifier().fit_certified(X, y, groups=np.arange(120) // 2)
    with pytest.raises(ParameterError, match="one class only"):
        IVMClassifier(n_active=9).fit_certified(X, np.zeros(120, int))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_equal_to_active_rows_by_chance_are_warned_of(form):
    X, y = rows(200)
    model = fitted(form(X), y)
    new, truth = rows(100, seed=5)
    for count in (1, 5):
        new[7 : 7 + count] = X[model.active_[:count]]
        with pytest.warns(UserWarning, match=rf"^{count} of these 100 rows .* number 8, .* not valid"):
            assert model.certify(form(new), truth, held_out=True).n == 100
    new[7:13] = X[model.active_[:6]]
    refusal(
        model, form(new), truth, "6 of these 100 rows are equal to 6 of the 20 active .*not held out", held_out=True
    )
    many, truth = rows(900, seed=6)
    many[:11] = X[model.active_[:11]]  # more than half of the active rows
    refusal(model, form(many), truth, "11 of these 900 rows are equal to 11 of the 20", held_out=True)


def test_groups_of_one_row_and_weights_of_one_are_no_reason_to_refuse():
    X, y = rows(120)
    model = fitted(X, y)
    assert model.certify(X, y, groups=np.arange(120), sample_weight=np.ones(120)) == model.certify(X, y)


def test_data_frames_and_sparse_matrices():
    pandas = pytest.importorskip("pandas")
    X, y = rows(200)
    frame, labels = pandas.DataFrame(X, columns=["a", "b"]), pandas.Series(np.where(y, "yes", "no"))
    plain = IVMClassifier(n_active=20, random_state=0).fit_certified(X, np.where(y, "yes", "no"))
    model = IVMClassifier(n_active=20, random_state=0)
    assert model.fit_certified(frame, labels).gibbs_bound == pytest.approx(plain.gibbs_bound, rel=1e-12)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    new, truth = rows(100, seed=5)
    held = model.certify(pandas.DataFrame(new, columns=["a", "b"]), np.where(truth, "yes", "no"), held_out=True)
    assert held.n == 100
    S = sparse.csr_matrix(X)
    model = fitted(S, y)
    assert model.certify(S, y).gibbs_bound == pytest.approx(fitted(X, y).certify(X, y).gibbs_bound, rel=1e-9)
    refusal(model, S[::-1], y[::-1], "not held out", held_out=True)
    assert model.certify(sparse.csr_matrix(new), truth, held_out=True).n == 100


def test_weights_of_the_fit_are_part_of_the_posterior():
    """Any posterior may be certified, by rows that count once each."""
    X, y = rows(120)
    model = IVMClassifier(kernel=KERNEL, likelihood=Probit(), learn=None, n_active=20, random_state=0)
    found = model.fit(X, y, sample_weight=1.0 + y).certify(X, y)
    assert found.gibbs_error != fitted(X, y, approximation="projected").certify(X, y).gibbs_error
    assert found.n == 120


def test_compression_is_by_making_the_classifier_again():
    X, y = rows(400)
    greedy = fitted(X, y, approximation="factorised", n_active=30)
    others = np.delete(greedy.predict(X) != y, greedy.active_)
    exact = compression_by_tail(int(others.sum()), 400, 30, 0.01, 29, log(2.0))
    assert greedy.certify(X, y).compression_bound == pytest.approx(exact, rel=1e-12)
    blocks = fitted(X, y, approximation="factorised", n_active=30, block_size=10, pool_size=10)
    others = np.delete(blocks.predict(X) != y, blocks.active_)
    ordered = compression_by_tail(int(others.sum()), 400, 30, 0.01, 0, log(2.0))
    assert blocks.certify(X, y).compression_bound == pytest.approx(ordered, rel=1e-12)
    assert fitted(X, y, approximation="projected").certify(X, y).compression_bound is None
    assert fitted(X, y, approximation="factorised", n_active="auto").certify(X, y).compression_bound is None
    weighted = IVMClassifier(
        kernel=KERNEL, likelihood=Probit(), learn=None, n_active=30, approximation="factorised", random_state=0
    ).fit(X, y, sample_weight=1.0 + np.arange(400) % 3)
    assert weighted.certify(X, y).compression_bound is None  # the weights are not in the rows


def test_the_best_bound_pays_for_the_choice():
    X, y = rows(400)
    model = fitted(X, y, approximation="factorised", n_active=30)
    found, third = model.certify(X, y, delta=0.03), model.certify(X, y, delta=0.01)
    assert found.best_bound == min(third.bayes_bound, third.margin_bound, third.compression_bound)
    assert found.best_by == "compression"
    assert found.best_bound > min(found.bayes_bound, found.margin_bound, found.compression_bound)


def test_rows_held_out():
    X, y = rows(400)
    model = IVMClassifier(n_active=20, random_state=0).fit(X[:200], y[:200])
    found = model.certify(X[200:], y[200:], held_out=True)
    assert found.relative_entropy == 0.0
    assert found.best_by == "test set"
    assert found.bayes_error < found.test_bound < found.best_bound < found.bayes_bound
    chosen = model.certify(X[200:], y[200:], delta=0.04, held_out=True, candidates=4)
    assert (chosen.test_bound, chosen.gibbs_bound) == pytest.approx((found.test_bound, found.gibbs_bound), rel=1e-12)
    three, z = rows(400, 3)
    model = IVMClassifier(n_active=20, random_state=0).fit(three[:200], z[:200])
    found = model.certify(three[200:], z[200:], held_out=True)
    assert found.best_bound == found.test_bound  # of the predictions; the vote is another rule


@pytest.mark.parametrize("classes", [2, 3])
def test_fit_certified_learns_on_one_part_and_certifies_by_the_other(classes):
    X, y = rows(300, classes)
    model = IVMClassifier(n_active=20, random_state=0)
    before = model.get_params()
    found = model.fit_certified(X, y, split=0.4, delta=0.05)
    assert model.get_params() == before
    assert (found.n, found.delta, model.n_samples_fit_) == (180, 0.05, 300)
    assert found.relative_entropy < sum(p.relative_entropy() for p in parts_of(model.posterior_))
    assert found.log_choices == pytest.approx(log(2.0))
    assert found.gibbs_bound < 0.7
    assert model.score(X, y) > 0.75
    first = np.sort(np.random.RandomState(0).permutation(300)[:120])
    second = np.setdiff1d(np.arange(300), first)
    moved = y.copy()
    moved[second] = y[second[::-1]]
    other = IVMClassifier(n_active=20, random_state=0)
    other.fit_certified(X, moved, split=0.4)
    assert other.kernel_ == model.kernel_  # it does not know the rows that certify
    np.testing.assert_array_equal(other.likelihood_.theta, model.likelihood_.theta)
    with pytest.raises(ParameterError, match="kernel=None"):
        model.certify(X, y)


def test_a_likelihood_of_classes_is_taken_as_given():
    X, y = rows(150, 3)
    bias = np.array([0.1, -0.2, 0.3])
    model = fitted(X, y, multi_class="probit", likelihood=MultivariateProbit(bias))
    np.testing.assert_array_equal(model.likelihood_.bias, bias)
    assert model.certify(X, y).log_choices == 0.0
    with pytest.raises(ParameterError, match="does not go with"):
        fitted(X, y, multi_class="ovr", likelihood=MultivariateProbit(bias))
    with pytest.raises(ParameterError, match="as many biases"):
        fitted(X, y, multi_class="probit", likelihood=MultivariateProbit(np.zeros(4)))


def test_certificates_are_values_with_words():
    X, y = rows(200)
    model = fitted(X, np.where(y, "yes", "no"), approximation="factorised")
    found = model.certify(X, np.where(y, "yes", "no"))
    assert found == model.certify(X, np.where(y, "yes", "no"))
    with pytest.raises(FrozenInstanceError):
        found.delta = 0.5
    assert "With probability at least 0.99 over the draw of the 200 rows" in found.statement
    assert f"{found.gibbs_bound:.2%}" in str(found)
    assert f"{found.best_bound:.2%}" in found.statement
    assert json.loads(json.dumps(found.to_dict()))["gibbs_bound"] == found.gibbs_bound
    whole, own = found.confusion_bounds("no", "yes"), found.confusion_bounds("no", "yes", of_class=True)
    assert whole.upper < own.upper < 1.0
    costs = found.cost_bounds([[0.0, 1.0], [1.0, 0.0]])
    assert costs.lower <= found.gibbs_error <= costs.upper
    assert costs.upper >= found.gibbs_bound - 1e-12  # the ball of four outcomes is larger than that of two
    with pytest.raises(ParameterError, match="none of the classes"):
        found.confusion_bounds("maybe", "yes")


def test_a_loaded_model_certifies_the_same(tmp_path):
    for classes in (2, 3):
        X, y = rows(150, classes)
        model = fitted(X, y)
        model.save(tmp_path / "model.ivm")
        found, again = model.certify(X, y), infovec.load(tmp_path / "model.ivm").certify(X, y)
        assert again.to_dict() == found.to_dict()


def test_single_precision_of_predictions_does_not_enter(monkeypatch):
    X, y = rows(150)
    model = fitted(X, y)
    mean, var = latent(model.posterior_, X)
    monkeypatch.setattr(type(model.posterior_), "_products", "float32")
    rough, _ = model.posterior_.predict(X)
    again, again_var = latent(model.posterior_, X)
    assert np.max(np.abs(rough - mean[:, 0])) > 0.0
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_array_equal(again_var, var)


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import certificates

    return certificates


@pytest.mark.parametrize("name", ["factorised", "overfitted", "held out"])
def test_bounds_fail_no_more_often_than_they_promise(benchmark, name):
    """200 training samples, the true error known. Wrong bounds fail more often: so failures would be seen."""
    samples, delta, world = 200, 0.2, benchmark.worlds()[name]
    counts = {}
    for seed in range(samples):
        for bound, failed in benchmark.outside(world, seed, (delta,)).items():
            counts[bound] = counts.get(bound, 0) + failed[delta]
    for bound, count in counts.items():
        if not bound.startswith("wrong"):
            assert benchmark.within(count, samples, delta), bound
    if name == "overfitted":
        assert counts["wrong: no relative entropy"] > 0.5 * samples
        assert counts["wrong: rows of the fit as a test set"] > 0.5 * samples
    if name == "held out":
        assert counts["test"] > 0  # a bound that is nearly exact is seen to fail, as often as it may
