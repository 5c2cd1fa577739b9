"""Rows without label: their moments to 1e-8, what marks them, and a fit that knows when they do not help."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from oracles import fd_gradient, null_category_moments, tilted_by_panels
from sklearn.datasets import load_iris, make_moons

from infovec import IVMClassifier, load
from infovec.errors import ParameterError
from infovec.estimators.unlabelled import without_label
from infovec.kernels import RBF, Bias
from infovec.likelihoods import NullCategory, Probit, weighted
from infovec.likelihoods.classes import NullAgainstRest

LIKELIHOODS = [NullCategory(), NullCategory(0.4, 4.0, 0.9, 0.2, slope=2.0), NullCategory(-1.0, 12.0, 0.99, 0.98)]


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_moments_equal_brute_force(likelihood):
    for y in (-1.0, 0.0, 1.0):
        for mean in (-9.0, -2.0, 0.0, 0.3, 5.0):
            for var in (1e-4, 0.05, 1.0, 40.0, 1e3):
                want = null_category_moments(likelihood, y, mean, var)
                got = likelihood.tilted(*(np.array([v]) for v in (y, mean, var)))
                for one, other, unit in zip(got, want, (1.0, var**-0.5, 1.0 / var), strict=True):
                    assert abs(one[0] - other) <= 1e-8 * max(abs(other), unit), (y, mean, var)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=str)
def test_powers_equal_brute_force(likelihood):
    y, mean, var, power = (
        v.ravel() for v in np.meshgrid([-1.0, 0.0, 1.0], [-8.0, 0.1, 3.0], [1e-3, 1.0, 50.0], [0.2, 3.0, 80.0])
    )
    got = weighted(likelihood, power).tilted(y, mean, var)
    for i in range(len(y)):
        edges = [-likelihood.bias + s * 0.5 * likelihood.width / likelihood.slope for s in (-1.0, 0.0, 1.0)]
        want = tilted_by_panels(lambda f, i=i: power[i] * likelihood.log_prob(y[i], f), mean[i], var[i], edges)
        case = (y[i], mean[i], var[i], power[i])
        assert got.log_z[i] == pytest.approx(want[0], rel=1e-8, abs=1e-8), case
        assert got.g[i] == pytest.approx(want[1], rel=1e-6, abs=1e-8 / np.sqrt(var[i])), case
        assert got.nu[i] == pytest.approx(want[2], rel=1e-6, abs=1e-7 / var[i]), case


def test_without_width_and_missing_labels_it_is_a_probit():
    y, mean, var = np.array([-1.0, 1.0, 1.0]), np.array([0.3, -4.0, 2.0]), np.array([0.5, 1.0, 9.0])
    null, probit = NullCategory(0.2, 1e-12, 1e-12, 1e-12), Probit(0.2)
    for one, other in zip(null.tilted(y, mean, var), probit.tilted(y, mean, var), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(null.log_proba(mean, var), probit.log_proba(mean, var), rtol=1e-9, atol=1e-11)


def test_predictions_are_given_that_a_row_is_not_in_the_null_category():
    likelihood = NullCategory(0.4, 3.0, 0.9, 0.2)
    mean, var = np.array([-30.0, -1.0, 0.2, 25.0]), np.array([1.0, 4.0, 0.1, 2.0])
    both = [[null_category_moments(replace(likelihood, missing_negative=0.5, missing_positive=0.5), s, m, v)[0]
             for s in (-1.0, 1.0)] for m, v in zip(mean, var, strict=True)]  # fmt: skip
    want = np.array([[one - np.logaddexp(a, b) for one in (a, b)] for a, b in both])
    np.testing.assert_allclose(likelihood.log_proba(mean, var), want, rtol=1e-8, atol=1e-10)
    assert likelihood.log_predictive(np.zeros(4), mean, var).tolist() == [0.0] * 4


def test_for_selection_rows_without_label_have_the_precision_that_one_would_bring():
    likelihood, mean, var = NullCategory(0.0, 4.0), np.array([-1.0, 0.0, 6.0]), np.full(3, 50.0)
    sides = [likelihood.tilted(np.full(3, s), mean, var) for s in (-1.0, 1.0)]
    share = np.exp([side.log_z for side in sides])
    got = likelihood.for_selection().tilted(np.zeros(3), mean, var)
    np.testing.assert_allclose(
        got.nu, (share * [side.nu for side in sides]).sum(axis=0) / share.sum(axis=0), rtol=1e-10
    )
    assert np.all(got.g == 0.0)
    assert np.all(got.nu > 0.0)
    assert np.any(likelihood.tilted(np.zeros(3), mean, var).nu < 0.0)


def test_many_classes_are_null_categories_of_their_own():
    rest = NullAgainstRest(np.array([0.3, -0.2, 1.0]), width=2.0, missing=0.7)
    rng = np.random.default_rng(0)
    mean, var, labels = rng.normal(size=(5, 3)), rng.gamma(2.0, size=(5, 3)), np.array([0, 1, 2, -1, -1])
    signs = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0], [0.0] * 3, [0.0] * 3])
    found, total = rest.tilted(labels, mean, var), 0.0
    for c in range(3):
        one = NullCategory(rest.bias[c], 2.0, 0.7, 0.7)
        log_z, g, _ = one.tilted(signs[:, c], mean[:, c], var[:, c])
        total = total + log_z
        np.testing.assert_allclose(found.g[:, c], g)
        odds = one.log_proba(mean[:, c], var[:, c])
        np.testing.assert_allclose(rest.log_weights(mean, var)[:, c], odds[:, 1] - odds[:, 0], rtol=1e-10)
    np.testing.assert_allclose(found.log_z, total)
    slope = fd_gradient(lambda t: rest.with_theta(t).tilted(labels, mean, var).log_z, rest.theta)
    np.testing.assert_allclose(rest.d_log_z(labels, mean, var, found), slope, rtol=1e-6, atol=1e-8)
    with pytest.raises(ParameterError, match="missing must be strictly between"):
        replace(rest, missing=1.0)


class NAType:
    """As pandas' own, of which it is the name that counts."""


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([0, 1, -1, 1, -1]), [0, 1]),
        (np.array([0.0, 2.0, np.nan, 2.0, -1.0]), [0.0, 2.0]),
        (np.array(["a", "b", None, "b", np.nan], dtype=object), ["a", "b"]),
        (np.array([3, 4, NAType(), 4, None], dtype=object), [3, 4]),
    ],
)
def test_what_marks_a_row_without_label(y, classes):
    labels, known = without_label(y)
    assert known.tolist() == [True, True, False, True, False]
    assert np.unique(labels).tolist() == classes


def moons(n_labels, seed=0):
    X, truth = make_moons(300, noise=0.1, random_state=seed)
    y = np.full(len(truth), -1)
    rng = np.random.default_rng(seed)
    for c in (0, 1):
        y[rng.permutation(np.flatnonzero(truth == c))[: n_labels // 2]] = c
    return X, y, truth


@pytest.fixture(scope="module")
def fitted():
    X, y, truth = moons(6, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(likelihood="null_category", n_active=100, random_state=0).fit(X, y)
    return model, X, y, truth


def test_unlabelled_rows_of_two_moons_help(fitted):
    model, X, y, truth = fitted
    alone = IVMClassifier(random_state=0).fit(X[y >= 0], y[y >= 0])
    assert model.unlabelled_["helps"]
    assert model.unlabelled_["rows"] == 294
    assert model.unlabelled_["loss"] < model.unlabelled_["supervised_loss"]
    assert isinstance(model.likelihood_, NullCategory)
    assert model.classes_.tolist() == [0, 1]
    assert model.score(X, truth) > alone.score(X, truth) + 0.1
    assert np.any(y[model.active_] == -1)


def test_it_is_kept_in_files(fitted, tmp_path):
    model, X, *_ = fitted
    model.save(tmp_path / "model.ivm")
    back = load(tmp_path / "model.ivm")
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert back.unlabelled_ == model.unlabelled_
    assert back.likelihood_ == model.likelihood_


def test_it_says_when_they_do_not_help():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(np.arange(120) < 30, rng.integers(2, size=120), -1)  # labels that no place explains
    with pytest.warns(UserWarning, match="90 rows without label do not help"):
        model = IVMClassifier(likelihood="null_category", random_state=0).fit(X, y)
    alone = IVMClassifier(random_state=0).fit(X[:30], y[:30])
    assert not model.unlabelled_["helps"]
    assert isinstance(model.likelihood_, Probit)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], alone.predict_proba(X)[:, 1], atol=0.05)
    assert model.active_.max() < 30
    assert model.n_samples_fit_ == 120


def test_nothing_is_compared_without_learning_and_weights_are_copies():
    X, y, _ = moons(10)
    settings = {
        "n_active": 60,
        "kernel": RBF(0.5, 100.0) + Bias(10.0),
        "likelihood": NullCategory(0.0, 4.0),
        "learn": None,
    }
    twice = np.concatenate([np.arange(300), np.flatnonzero(y >= 0), np.flatnonzero(y == -1)[:20]])
    weight = np.bincount(twice, minlength=300).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = IVMClassifier(**settings, random_state=0).fit(X, y, sample_weight=weight)
        other = IVMClassifier(**settings, random_state=0).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=2e-2)
    assert not hasattr(one, "unlabelled_")


def test_three_classes_against_the_rest():
    X, truth = (part[::3] for part in load_iris(return_X_y=True))
    y = np.where(np.arange(50) % 5 == 0, truth, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(likelihood="null_category", n_active=20, random_state=0).fit(X, y)
    assert model.classes_.tolist() == [0.0, 1.0, 2.0]
    assert model.unlabelled_["rows"] == 40
    assert model.score(X, truth) > 0.85
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [-1, 1, -1, 1], "one class only"),
        ({}, [-1, -1, -1, -1], "no row has a label"),
        ({"multi_class": "softmax"}, [0, 1, 2, -1], "multi_class='ovr'"),
    ],
)
def test_what_cannot_be_is_refused(settings, y, message):
    with pytest.raises(ParameterError, match=message):
        IVMClassifier(likelihood="null_category", **settings).fit(np.eye(4), y)


def test_with_another_likelihood_minus_one_is_a_class():
    X, truth = make_moons(60, noise=0.1, random_state=0)
    model = IVMClassifier(n_active=20, random_state=0).fit(X, 2 * truth - 1)
    assert model.classes_.tolist() == [-1, 1]
