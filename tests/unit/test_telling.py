"""Rows that are told to a fitted model."""

import pickle

import numpy as np
import pytest
from oracles import full_ep

import infovec.estimators.told as told_rows
from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load
from infovec.active_learning import assimilate, include
from infovec.errors import ParameterError
from infovec.kernels import RBF
from infovec.likelihoods import Gaussian, Probit
from infovec.posterior import FactorisedPosterior, ProjectedPosterior

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
TWO = np.where(X[:, 0] + 0.3 * RNG.normal(size=120) > 0, "b", "a")
THREE = np.digitize(X[:, 0] + 0.2 * RNG.normal(size=120), [-0.5, 0.5])
NUMBER = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=120)
Z = 1.5 * RNG.normal(size=(40, 2))
FIXED = {"kernel": RBF(1.0, 2.0), "learn": None, "random_state": 0}
PARTS = [(slice(60, 75), slice(75, 120)), (slice(100, 120), slice(60, 100))]

FORMS = [
    (IVMClassifier, {}, TWO),
    (IVMClassifier, {"approximation": "factorised"}, TWO),
    (IVMClassifier, {"likelihood": "logit", "blur": False}, TWO),
    (IVMRegressor, {}, NUMBER),
    (IVMRegressor, {"likelihood": "laplace"}, NUMBER),
    (IVMRegressor, {"approximation": "factorised"}, NUMBER),
    (IVMOrdinalClassifier, {}, THREE),
    (IVMClassifier, {"multi_class": "ovr"}, THREE),
    (IVMClassifier, {"multi_class": "ovr", "approximation": "factorised"}, THREE),
    (IVMClassifier, {"multi_class": "probit"}, THREE),
    (IVMClassifier, {"multi_class": "variational"}, THREE),
]
each_form = pytest.mark.parametrize(
    ("kind", "form", "y"),
    FORMS,
    ids=[f"{kind.__name__}-{'-'.join(map(str, form.values()))}" for kind, form, _ in FORMS],
)


def latent(model):
    mean, std = model.predict_latent(Z)
    return np.stack([np.asarray(mean), np.asarray(std)])


def told(model, y, parts):
    """A model and the order of the rows that it knows."""
    order = np.arange(60)
    for part in parts:
        model.tell(X[part], y[part])
        order = np.concatenate([order, np.arange(120)[part]])
    return model, order


@each_form
@pytest.mark.parametrize("parts", PARTS, ids=["forth", "back"])
@pytest.mark.parametrize("n_active", [25, 500])
def test_telling_in_any_order_equals_a_refit_with_the_same_active_rows(kind, form, y, parts, n_active):
    model, order = told(kind(n_active=n_active, **FIXED, **form).fit(X[:60], y[:60]), y, parts)
    shared = form.get("multi_class") != "ovr" or n_active == 500
    if not shared:  # classes have active rows of their own, which no parameter says
        assert len(model.posterior_.parts[0].X) == 25
        return
    settings = {**FIXED, **form, "likelihood": model.likelihood_}
    again = kind(n_active=len(model.active_), initial=model.active_, **settings).fit(X[order], y[order])
    assert np.array_equal(again.active_, model.active_)
    assert model.n_samples_fit_ == 120
    np.testing.assert_allclose(latent(model), latent(again), atol=1e-6)
    assert model.log_evidence_ == pytest.approx(again.log_evidence_, abs=1e-5)


@pytest.mark.parametrize("form", [{}, {"multi_class": "ovr"}], ids=str)
def test_the_order_of_telling_does_not_matter_when_all_rows_are_active(form):
    y = THREE if form else TWO
    one, other = (told(IVMClassifier(**FIXED, **form).fit(X[:60], y[:60]), y, parts)[0] for parts in PARTS)
    np.testing.assert_allclose(latent(one), latent(other), atol=2e-4)  # sites settle to 1e-4 and 1e-3 of a deviation


def test_parameters_stay_and_certainty_is_chosen_anew():
    model = IVMClassifier(n_active=40, random_state=0).fit(X[:60], TWO[:60])
    kernel, bias, history = model.kernel_, model.likelihood_.bias, model.history_["theta"]
    before = model.likelihood_.spread
    model.tell(X[60:], TWO[60:])
    assert model.kernel_ == kernel
    assert model.likelihood_.bias == bias
    assert model.likelihood_.spread != before
    assert np.array_equal(model.history_["theta"], history)
    assert np.array_equal(model.history_["row"], model.active_)
    assert set(model.get_params()) == set(IVMClassifier().get_params())
    assert model.kernel is None
    assert model.initial is None


def test_active_rows_stay_and_others_join_while_there_is_room():
    model = IVMClassifier(n_active=70, **FIXED).fit(X[:60], TWO[:60])
    first = model.active_.copy()
    model.tell(X[60:], TWO[60:])
    assert set(first) < set(model.active_)
    assert len(model.active_) == 70
    np.testing.assert_allclose(model.active_vectors_, X[model.active_])


def test_weights_count():
    twice = IVMClassifier(**FIXED).fit(X[:60], TWO[:60]).tell(X[60:], TWO[60:], np.full(60, 2.0))
    again = IVMClassifier(**{**FIXED, "likelihood": twice.likelihood_}).fit(
        np.concatenate([X, X[60:]]), np.concatenate([TWO, TWO[60:]])
    )
    np.testing.assert_allclose(latent(twice), latent(again), atol=1e-3)


@each_form
def test_a_model_from_a_file_can_be_told_more(kind, form, y, tmp_path):
    kept = kind(n_active=500, **FIXED, **form).fit(X[:60], y[:60])
    kept.save(tmp_path / "m.ivm")
    both = []
    for parts in PARTS:
        model, _ = told(load(tmp_path / "m.ivm"), y, parts)
        assert model.n_samples_fit_ == 120
        model.save(tmp_path / "again.ivm")
        np.testing.assert_array_equal(latent(load(tmp_path / "again.ivm")), latent(model))
        both.append(latent(model))
    if form.get("approximation") != "factorised":  # which includes rows in the order told
        np.testing.assert_allclose(both[0], both[1], atol=1e-6)
    whole, _ = told(kept, y, PARTS[0])
    off = np.abs(both[0] - latent(whole)).mean() / latent(whole)[1].mean()
    if kind is IVMRegressor and form.get("likelihood") is None:
        np.testing.assert_allclose(both[0], latent(whole), atol=2e-3)  # exact, but for rows that are not made active
    assert off < 0.25
    assert model.log_evidence_ == pytest.approx(whole.log_evidence_, rel=0.15, abs=1.0)


def test_gaussian_noise_needs_no_rows():
    """All that earlier rows say is in the sum of their sites."""
    model = IVMRegressor(n_active=20, **FIXED).fit(X[:60], NUMBER[:60])
    loaded = pickle.loads(pickle.dumps(model))
    model.tell(X[60:], NUMBER[60:])
    loaded.tell(X[60:], NUMBER[60:])
    np.testing.assert_allclose(latent(loaded), latent(model), atol=1e-9)
    assert loaded.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-8)


def test_rows_told_to_nothing_are_dense_expectation_propagation():
    kernel, likelihood, y = RBF(1.0, 2.0), Probit(bias=0.2), np.where(TWO[:30] == "b", 1.0, -1.0)
    empty = ProjectedPosterior(kernel, X[:0], np.empty((0, 0)), np.empty((0, 0)), np.empty(0))
    found = assimilate([empty], likelihood, X[:30], y, True, [30])
    K = kernel(X[:30])

    def tilted(i, m, v):
        return [part[0] for part in likelihood.tilted(y[i : i + 1], np.array([m]), np.array([v]))]

    _, _, mean, cov, log_z = full_ep(K, tilted)
    at = found.parts[0].predict(X[:30])
    np.testing.assert_allclose(at[0], mean, atol=2e-5)  # a row that the active ones nearly tell is not made active
    np.testing.assert_allclose(at[1], np.diagonal(cov), atol=2e-5)
    assert found.log_evidence == pytest.approx(log_z, abs=1e-5)


def test_rows_included_after_the_fit_are_those_of_a_fit_in_that_order():
    settings = {**FIXED, "approximation": "factorised", "likelihood": Gaussian(0.1)}
    whole = IVMRegressor(initial=np.arange(40), n_active=40, **settings).fit(X[:40], NUMBER[:40])
    part = whole.posterior_.first(25)
    assert isinstance(part, FactorisedPosterior)
    found = include([part], whole.likelihood_, X[25:40], NUMBER[25:40], 15).parts[0]
    np.testing.assert_allclose(found.L, whole.posterior_.L, atol=1e-9)
    np.testing.assert_allclose(found.beta, whole.posterior_.beta, atol=1e-9)


def test_a_full_factorised_posterior_says_that_there_is_no_room():
    model = IVMClassifier(n_active=20, approximation="factorised", **FIXED).fit(X[:60], TWO[:60])
    with pytest.raises(ParameterError, match="room for 0 of 5"):
        pickle.loads(pickle.dumps(model)).tell(X[60:65], TWO[60:65])


def test_a_class_that_was_not_there_is_learned_or_refused():
    model = IVMClassifier(**FIXED).fit(X[:60], TWO[:60])
    loaded = pickle.loads(pickle.dumps(model))
    labels = np.where(X[60:, 1] > 1.0, "c", TWO[60:])
    model.tell(X[60:], labels)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(Z).shape == (40, 3)
    before = latent(loaded)
    with pytest.raises(ParameterError, match="does not know class c"):
        loaded.tell(X[60:], labels)
    np.testing.assert_array_equal(latent(loaded), before)


def test_partial_fit_is_a_fit_and_then_telling():
    settings = {"kernel": RBF(1.0, 2.0), "learn": None, "random_state": 0}
    stream = IVMClassifier(**settings)
    stream.partial_fit(X[:40], THREE[:40], classes=[0, 1, 2, 3])
    assert stream.classes_.tolist() == [0, 1, 2, 3]
    stream.partial_fit(X[40:], THREE[40:])
    assert stream.predict_proba(Z).shape == (40, 4)
    assert stream.score(X, THREE) > 0.8
    whole = IVMRegressor(**settings).fit(X[:40], NUMBER[:40]).tell(X[40:], NUMBER[40:])
    parts = IVMRegressor(**settings).partial_fit(X[:40], NUMBER[:40]).partial_fit(X[40:], NUMBER[40:])
    np.testing.assert_array_equal(latent(parts), latent(whole))
    with pytest.raises(ParameterError, match="not among classes"):
        IVMClassifier(**settings).partial_fit(X, THREE, classes=[0, 1])
    with pytest.raises(ParameterError, match="one class only"):
        IVMClassifier(**settings).partial_fit(X[:5], np.ones(5), classes=[0, 1])


def test_memory_stays_bounded(monkeypatch):
    monkeypatch.setattr(told_rows, "MOST_NUMBERS", 100)
    model = IVMClassifier(n_active=20, **FIXED)
    for start in range(0, 120, 20):
        model.partial_fit(X[start : start + 20], TWO[start : start + 20])
        assert model._rows is None or model._rows.X.size <= 140
    assert model.n_samples_fit_ == 120
    assert len(model.active_) == 20
    assert model.score(X, TWO) > 0.85
    assert "_rows" not in model.__getstate__()


def test_what_cannot_be_told_is_refused_and_leaves_the_model_alone():
    model = IVMRegressor(n_active=20, **FIXED).fit(X, NUMBER)
    before = latent(model)
    for inputs, targets in ((X[:5], NUMBER[:4]), (X[:5, :1], NUMBER[:5]), (X[:2], [0.0, np.nan])):
        with pytest.raises(ValueError):
            model.tell(inputs, targets)
    np.testing.assert_array_equal(latent(model), before)


def test_a_kernel_for_each_class_stays_with_it():
    settings = {"learn": None, "random_state": 0, "shared_kernel": False, "kernel": RBF(1.0, 2.0)}
    model = IVMClassifier(**settings).fit(X[:60], THREE[:60]).tell(X[60:], THREE[60:])
    assert len(model.kernel_) == 3
    same = IVMClassifier(**{**settings, "shared_kernel": True}).fit(X[:60], THREE[:60]).tell(X[60:], THREE[60:])
    np.testing.assert_allclose(latent(model), latent(same), atol=1e-9)
