"""IVMClassifier with more than two classes, as scikit-learn, pandas and careless users use it."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fixed import IVMClassifier
from scipy import sparse
from scipy.special import log_ndtr, log_softmax, ndtri
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score, train_test_split
from sklearn.utils.estimator_checks import check_estimator

import infovec
from infovec.estimators.kinds import MULTI_CLASS
from infovec.kernels import RBF, Bias, FromFunction
from infovec.learning import Learning
from infovec.likelihoods import Probit, weighted
from infovec.likelihoods.classes import OneAgainstRest
from infovec.machines.bound_fit import fit_variational
from infovec.posterior import ClassPosterior, ProjectedPosterior, SeparatePosterior
from infovec.runtime import StopReason

FORMS = {name: type(coupling.likelihood(np.zeros(3))) for name, coupling in MULTI_CLASS.items()}
each_form = pytest.mark.parametrize("form", FORMS)


def blobs(n=150, C=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, C, n)
    angle = 2 * np.pi * y / C
    return np.column_stack([3 * np.cos(angle), 3 * np.sin(angle), np.zeros(n)]) + rng.normal(size=(n, 3)), y


def classifier(**settings):
    given = {"n_active": 40, "random_state": 0, "kernel": RBF(3.0, 20.0) + Bias(2.0)}
    return IVMClassifier(**(given | settings))


def test_which_posterior_is_the_default():
    X, y = blobs()
    kinds = {form: type(classifier(multi_class=form).fit(X, y).posterior_) for form in FORMS}
    assert kinds.pop("ovr") is SeparatePosterior
    assert set(kinds.values()) == {ClassPosterior}
    assert isinstance(classifier().fit(X, y < 2).posterior_, ProjectedPosterior)


@each_form
def test_shapes_and_probabilities(form):
    X, y = blobs()
    model = classifier(multi_class=form).fit(X, y)
    assert isinstance(model.likelihood_, FORMS[form])
    proba = model.predict_proba(X)
    assert proba.shape == (150, 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), atol=1e-12)
    mean, std = model.predict_latent(X)
    assert mean.shape == std.shape == (150, 4)
    np.testing.assert_allclose(model.predict_latent(X, return_std=False), mean, atol=1e-10)
    decision = model.decision_function(X)
    assert decision.shape == (150, 4)
    np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-decision)), proba, atol=1e-10)
    assert model.score(X, y) > 0.9
    assert log_loss(y, proba) < 0.3
    own = model.posterior_.parts if form == "ovr" else [model.posterior_]
    assert all(len(part.X) == 40 for part in own)
    assert model.site_precision_.shape == (len(model.active_), 4)
    assert model.n_classes_ == 4
    assert model.converged_
    power, plain = model.likelihood_.power, replace(model.likelihood_, power=1.0)
    assert 1.05 < power < 5.0  # with a quarter of the rows active, predictions of rows left out are too timid
    raised = log_softmax(power * plain.log_proba(mean, std**2), axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), raised, atol=1e-8)


@each_form
def test_the_factorised_posterior(form, tmp_path):
    X, y = blobs(100)
    model = classifier(multi_class=form, approximation="factorised", n_active=15).fit(X, y)
    assert model.score(X, y) > 0.9
    assert log_loss(y, model.predict_proba(X)) < 0.3
    mean, std = model.predict_latent(X)
    assert mean.shape == std.shape == (100, 4)
    np.testing.assert_allclose(model.predict_latent(X, return_std=False), mean, atol=1e-10)
    of_each = [len(part.X) for part in model.posterior_.parts]
    assert sum(of_each) == np.sum(model.site_precision_ > 0.0) == 15 * 4
    assert model.site_precision_.shape == (len(model.active_), 4) == model.site_mean_.shape
    np.testing.assert_array_equal(model.active_vectors_, X[model.active_])
    assert len(np.unique(model.active_)) == len(model.active_)
    if form != "probit" and form != "softmax":
        assert of_each == [15] * 4
    assert -100 * np.log(4) < model.log_evidence_ < 100 * np.mean(np.log(model.predict_proba(X)).max(axis=1))
    plan = model.plan(X, y)
    assert (plan.n_rows, plan.n_active, plan.n_index, plan.dtype, plan.learning) == (100, 15, 100, "float64", 0.0)
    model.save(tmp_path / form)
    np.testing.assert_array_equal(infovec.load(tmp_path / form).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("approximation", ["factorised", "projected"])
def test_the_posterior_of_classes_against_the_rest_is_that_of_machines_for_two(approximation):
    X, y = blobs()
    common = {"approximation": approximation, "n_active": 25, "blur": False}
    model, close = classifier(**common).fit(X, y), 1e-8 if approximation == "factorised" else 2e-2
    evidence, weights = 0.0, np.empty((150, 4))
    for c in range(4):
        noise = Probit(float(model.likelihood_.bias[c]))
        one = classifier(**common, likelihood=noise).fit(X, y == c)
        mean, std = (latent[:, c] for latent in model.predict_latent(X))
        np.testing.assert_allclose(mean, one.predict_latent(X)[0], atol=close)
        np.testing.assert_allclose(std, one.predict_latent(X)[1], atol=close)
        np.testing.assert_array_equal(model.posterior_.parts[c].X, one.active_vectors_)
        evidence += one.log_evidence_
        z = (mean + noise.bias) / np.sqrt(1.0 + model.likelihood_.spread * std**2)
        weights[:, c] = log_ndtr(z) - log_ndtr(-z)
    assert model.log_evidence_ == pytest.approx(evidence, abs=close)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(model.likelihood_.power * weights, axis=1))


@pytest.mark.parametrize("settings", [{}, {"approximation": "factorised", "learn": "active_set"}], ids=str)
def test_a_kernel_for_each_class_is_learned_by_its_own_machine(settings, tmp_path):
    X, y = blobs(200, C=3)
    common = {"n_active": 30, "random_state": 0, **settings}
    model = infovec.IVMClassifier(shared_kernel=False, **common).fit(X, y)
    assert len({str(kernel) for kernel in model.kernel_}) == 3
    for c, kernel in enumerate(model.kernel_):
        share = float(ndtri((np.sum(y == c) + 1) / 203 * (1.0 - 1e-9)))
        alone = infovec.IVMClassifier(likelihood=Probit(share), blur=False, **common).fit(X, y == c)
        np.testing.assert_allclose(kernel.theta, alone.kernel_.theta, atol=1e-6)
        assert model.likelihood_.bias[c] == pytest.approx(alone.likelihood_.bias, abs=1e-6)
    assert model.score(X, y) > 0.9
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))
    plan = model.plan(X, y)
    assert (plan.n_rows, plan.n_active) == (200, 30)
    assert 0.1 * plan.seconds < plan.learning < plan.seconds  # each class learns; selecting takes next to nothing


def test_the_factorised_posterior_learns_weighs_and_goes_on():
    X, y = blobs(300)
    learned = infovec.IVMClassifier(approximation="factorised", n_active=30, random_state=0).fit(X, y)
    assert learned.score(X, y) > 0.9
    assert len(learned.history_["criterion"]) > 3
    grown = classifier(approximation="factorised", n_active=20, warm_start=True).fit(X, y).grow(5)
    whole = classifier(approximation="factorised", n_active=25).fit(X, y)
    np.testing.assert_allclose(grown.posterior_.mean(X), whole.posterior_.mean(X), atol=1e-6)
    weight = np.where(y == 0, 3.0, 1.0)
    heavy = classifier(approximation="factorised").fit(X, y, sample_weight=0.5 * weight)
    assert (
        heavy.predict_proba(X)[:, 0].mean()
        > classifier(approximation="factorised").fit(X, y).predict_proba(X)[:, 0].mean()
    )


def test_the_variational_form_is_that_of_arrays():
    X, y = blobs()
    model = classifier(multi_class="variational").fit(X, y)
    arrays = fit_variational(
        X, y, model.kernel_, 40, active=model.active_, likelihood=replace(model.likelihood_, power=1.0)
    )
    for ours, theirs in zip(model.posterior_.predict(X), arrays.predict_latent(X), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)
    assert model.log_evidence_ == pytest.approx(arrays.bound, abs=1e-4)
    learn = Learning(minor_steps=2)
    assert classifier(multi_class="variational", n_active=20, learn=learn).fit(X[:80], y[:80]).score(X, y) > 0.85


def test_a_class_that_a_fold_lacks():
    X, y = blobs()
    X, y = np.vstack([X, [[0.0, 0.0, 9.0]]]), np.append(y, 4)
    folds = KFold(3).split(X)  # the last one has the only row of the last class
    models = [classifier().fit(X[train], y[train]) for train, _ in folds]
    assert [len(model.classes_) for model in models] == [5, 5, 4]
    with pytest.warns(RuntimeWarning, match="Number of classes in training fold"):
        proba = cross_val_predict(classifier(), X, y, cv=KFold(3), method="predict_proba")
    assert proba.shape == (151, 5)
    assert np.all(proba[101:, 4] == 0.0)


@each_form
def test_two_classes_do_not_look_at_it(form):
    X, y = blobs(C=2)
    one, other = (IVMClassifier(n_active=20, random_state=0, **s).fit(X, y) for s in ({}, {"multi_class": form}))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_labels_of_every_kind():
    X, y = blobs()
    reference = classifier().fit(X, y).predict_proba(X)
    for labels in (np.array([10, -3, 7, 100])[y], np.array(["d", "a", "b", "c"])[y], pd.Series(y, dtype="category")):
        model = classifier().fit(pd.DataFrame(X, columns=list("abc")), labels)
        names = np.unique(np.asarray(labels))
        np.testing.assert_array_equal(model.classes_, names)
        place = [np.asarray(labels)[np.argmax(y == c)] for c in range(4)]
        columns = [list(names).index(label) for label in place]
        np.testing.assert_allclose(
            model.predict_proba(pd.DataFrame(X, columns=list("abc")))[:, columns], reference, atol=0.03
        )
    dense, csr = (classifier(initial=[0]).fit(V, y).predict_proba(V) for V in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(csr, dense, atol=1e-3)


@each_form
def test_a_class_with_one_example(form):
    X, y = blobs()
    X, y = np.vstack([X, [[0.0, 0.0, 9.0]]]), np.append(y, 4)
    model = classifier(multi_class=form).fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (151, 5)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert proba[150].argmax() == 4
    assert proba[:150, 4].max() < 0.05 < 0.5 < proba[150, 4]


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    centres = 10.0 * rng.normal(size=(100, 4))
    y = np.repeat(np.arange(100), 3)
    X = centres[y] + rng.normal(size=(300, 4))
    model = classifier(n_active=120, kernel=RBF(4.0, 20.0)).fit(X, y)
    assert model.score(X, y) > 0.9
    assert classifier(n_active=30, kernel=RBF(4.0, 20.0)).fit(X, y).predict_proba(X).shape == (300, 100)


def test_objects():
    words = ["ant", "bee", "cat"] * 6 + ["12", "345", "67"] * 6 + ["+-", "--+", "*+"] * 6
    y = ["word"] * 18 + ["number"] * 18 + ["sign"] * 18

    def share(X, Z):
        return np.array([[len(set(a) & set(b)) for b in Z] for a in X], dtype=float)

    model = classifier(kernel=FromFunction(share), n_active=12).fit(words, y)
    assert list(model.predict(["tea", "531", "-"])) == ["word", "number", "sign"]


@pytest.mark.parametrize("score", ["information_gain", "predictive", "variance", "random"])
def test_every_score(score):
    X, y = blobs()
    assert classifier(score=score).fit(X, y).score(X, y) > 0.85


def test_initial_rows_come_first_and_rows_are_distinct():
    X, y = blobs()
    model = classifier(initial=[5, 9], n_active=60).fit(X, y)
    assert list(model.active_[:2]) == [5, 9]
    assert all(np.array_equal(part.X[:2], X[[5, 9]]) and len(part.X) == 60 for part in model.posterior_.parts)
    assert len(np.unique(model.active_)) == len(model.active_) > 60
    shared = classifier(initial=[5, 9], n_active=60, multi_class="probit").fit(X, y)
    assert list(shared.active_[:2]) == [5, 9]
    assert len(np.unique(shared.active_)) == 60
    assert len(classifier(n_active=1.0).fit(X, y).active_) == 150


def test_growing_is_going_on():
    X, y = blobs(300)
    whole = classifier(n_active=60, multi_class="probit").fit(X, y)
    grown = classifier(n_active=40, multi_class="probit", warm_start=True).fit(X, y).grow(20)
    assert len(grown.active_) == 60
    assert set(grown.active_[:30]) <= set(whole.active_)
    assert grown.score(X, y) > 0.9
    again = grown.set_params(n_active=70).fit(X, y)
    assert len(again.active_) == 70
    np.testing.assert_array_equal(again.active_[:60], grown.active_[:60])


def test_growing_of_every_class_is_going_on():
    X, y = blobs(300)
    before = classifier(n_active=40, warm_start=True).fit(X, y)
    first = [part.X for part in before.posterior_.parts]
    grown = before.grow(20)
    for part, known in zip(grown.posterior_.parts, first, strict=True):
        assert len(part.X) == 60
        np.testing.assert_array_equal(part.X[:40], known)
    assert grown.score(X, y) > 0.9


def test_size_left_to_the_data():
    X, y = blobs(400)
    model = classifier(n_active="auto").fit(X, y)
    assert 20 < len(model.active_) < 360
    assert model.score(X, y) > 0.9


def test_time_and_callback_end_a_fit_with_a_usable_model():
    X, y = blobs(600)
    seen = []
    asked = classifier(n_active=200, callback=lambda p: seen.append(p) or len(seen) == 1).fit(X, y)
    assert asked.stop_reason_ == str(StopReason.CALLBACK)
    assert [len(part.X) for part in asked.posterior_.parts] == [1] * 4  # each class as many as the one that was stopped
    np.testing.assert_allclose(asked.predict_proba(X).sum(axis=1), 1.0)
    seen.clear()
    each = classifier(approximation="factorised", callback=lambda p: seen.append(p) or len(seen) == 2).fit(X, y)
    assert each.stop_reason_ == str(StopReason.CALLBACK)
    assert all(0 < len(part.X) < 40 for part in each.posterior_.parts)
    start = time.process_time()
    timed = infovec.IVMClassifier(max_time=0.3, n_jobs=1, random_state=0).fit(X, y)
    assert time.process_time() - start < 0.83  # 1.1 of it and half a second; without a limit it takes several
    assert timed.stop_reason_ == "the time is used up"
    assert all(0 < len(part.X) < 500 for part in timed.posterior_.parts)
    np.testing.assert_allclose(timed.predict_proba(X).sum(axis=1), 1.0)


def test_the_plan_knows_the_classes():
    X, y = blobs(400)
    few, many = classifier().plan(X, y % 3), classifier().plan(X, np.arange(400) % 30)
    assert many.memory - few.memory >= 27 * 2 * 8 * 40**2  # the factors of further classes; all else is there once
    assert many.seconds > 2 * few.seconds
    assert (few.n_rows, few.n_active, few.learning) == (400, 40, 0.0)
    with pytest.raises(ValueError, match="max_memory"):
        classifier(max_memory="0.1MB").fit(X, y)


BAD = {
    "multi_class": ({"multi_class": "all"}, "multi_class must be one of"),
    "likelihood": ({"likelihood": "logit"}, "for two classes, y has 4.*multi_class"),
    "size": ({"approximation": "factorised", "multi_class": "probit", "n_active": "auto"}, "give a number"),
    "first rows": ({"approximation": "factorised", "multi_class": "softmax", "initial": [1]}, "cannot be given"),
    "rule": ({"approximation": "factorised", "multi_class": "variational", "score": np.add}, "must be a name"),
    "score": ({"score": "projected_gain"}, "for two classes"),
    "kernels": ({"shared_kernel": False, "multi_class": "probit"}, "for multi_class='ovr'.*functions"),
    "learn": ({"learn": "active_set"}, "for two classes.*'ep' or None"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_many_classes_do_not_have_is_named_with_a_remedy(case):
    settings, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        classifier(**settings).fit(*blobs(250))


def test_what_the_noise_of_a_label_would_be():
    X, y = blobs()
    with pytest.raises(ValueError, match="predict_proba"):
        classifier().fit(X, y).predict_latent(X, return_noise=True)


def test_a_model_file_says_the_same(tmp_path):
    X, y = blobs()
    for form in FORMS:
        model = classifier(multi_class=form).fit(X, y)
        model.save(tmp_path / form)
        np.testing.assert_array_equal(infovec.load(tmp_path / form).predict_proba(X), model.predict_proba(X))


def test_cross_validation_and_clones():
    X, y = load_iris(return_X_y=True)
    model = IVMClassifier(n_active=50, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    assert clone(model.set_params(multi_class="probit")).multi_class == "probit"


def test_learning_and_calibration_on_digits():
    X, y = load_digits(return_X_y=True)
    X, Z, y, t = train_test_split(X, y, train_size=400, random_state=0, stratify=y)
    model = infovec.IVMClassifier(n_active=100, random_state=0).fit(X, y)
    assert model.score(Z, t) > 0.95
    assert log_loss(t, model.predict_proba(Z)) < 0.15
    assert model.likelihood_.power != 1.0


def test_scikit_learn_conventions_of_the_coupled_form():
    model = IVMClassifier(multi_class="probit", n_active=20)
    check_estimator(model, on_skip=None)  # array_api: see test_estimators


def test_weights_of_classes_against_the_rest_are_repetitions():
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:150], y[:150]
    mean, var = np.random.default_rng(0).normal(size=(2, 150, 3))
    bias = np.array([0.3, -0.2, 0.1])
    twice = OneAgainstRest(bias).weigh(np.full(150, 2.0)).tilted(y, mean, np.exp(var))
    for c in range(3):
        sign = np.where(y == c, 1.0, -1.0)
        once = weighted(Probit(bias[c]), 2.0).tilted(sign, mean[:, c], np.exp(var[:, c]))
        np.testing.assert_allclose(twice.g[:, c], once.g)
        np.testing.assert_allclose(twice.nu[:, c], once.nu)
    settings = {"kernel": RBF(20.0, 10.0), "n_active": 30, "random_state": 0}
    for form in ("ovr", "softmax"):
        half = IVMClassifier(multi_class=form, **settings).fit(X, y, sample_weight=np.full(150, 0.5)).posterior_
        full = IVMClassifier(multi_class=form, **settings).fit(X, y).posterior_
        assert half.predict(X)[1].mean() > full.predict(X)[1].mean()  # less is known
