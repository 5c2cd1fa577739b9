"""The default kernel gets further terms where the function is a sum: main effects, and a rougher function."""

import numpy as np
import pytest
from oracles import fd_gradient
from sklearn.datasets import make_classification

import infovec
from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.kernels import RBF, Bias, MainEffects, Matern, On
from infovec.kernels.columns import parts_of
from infovec.learning import (
    Form,
    Learning,
    Model,
    ProjectedEvidence,
    can_be_richer,
    further_terms,
    most_for_form,
    richer,
    with_terms,
)
from infovec.learning.objective import LearnedRows
from infovec.likelihoods import Gaussian, Probit, StudentT

ARD = np.array([0.7, 1.3, 2.0])


def sums(n=200, p=8, seed=0):
    """A sum of waves of one column each, beside a product that is small."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, p))
    return X, np.cos(2.0 * X).sum(axis=1) + 0.1 * X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=n)


def product(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)


def kinds(model):
    return {type(part) for part in parts_of(model.kernel_)}


def settings(**more):
    return {"n_active": 60, "random_state": 0, **more}


@pytest.mark.parametrize("kind", [RBF, Matern])
@pytest.mark.parametrize("length_scale", [1.3, ARD])
def test_main_effects_are_the_average_of_kernels_of_one_column(kind, length_scale):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    scales = np.broadcast_to(length_scale, 3) / np.sqrt(3.0)
    dense = sum(On(kind(scale, 2.0 / 3.0), j)(X, Z) for j, scale in enumerate(scales))
    np.testing.assert_allclose(MainEffects(kind(length_scale, 2.0))(X, Z), dense, rtol=1e-12)


def test_of_one_column_they_are_the_kernel_itself_and_equal_rows_are_alike():
    x = np.random.default_rng(1).normal(size=(9, 1))
    np.testing.assert_allclose(MainEffects(RBF(0.4, 2.0))(x), RBF(0.4, 2.0)(x), rtol=1e-12)
    far = np.array([[1e300, -1e300, 0.0], [1e300, -1e300, 0.0], [0.0, 0.0, 0.0]])
    K, G = MainEffects(RBF(ARD, 2.0))(far), np.ones((3, 3))
    np.testing.assert_allclose(K, [[2.0, 2.0, 2.0 / 3.0], [2.0, 2.0, 2.0 / 3.0], [2.0 / 3.0, 2.0 / 3.0, 2.0]])
    assert np.all(np.isfinite(MainEffects(RBF(ARD, 2.0)).vjp(far, far, G)))
    with pytest.raises(infovec.errors.ParameterError, match="scaled distances"):
        MainEffects(Bias())


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("likelihood", [Gaussian(0.3), Probit(0.2)], ids=["numbers", "labels"])
def test_the_gradient_of_the_evidence_in_the_steps_of_a_term_equals_differences(likelihood, together):
    X, y = sums(40, 3)
    y = y if isinstance(likelihood, Gaussian) else np.sign(y)
    given = LearnedRows(np.arange(40), X, y)
    model = Model.begin(RBF(1.4, 2.0) + Bias(0.1), likelihood, tied=True)
    model = model if together else model.separated(3)[0]
    scale = 1.1 if together else ARD
    found, new = model.with_term(MainEffects(RBF(scale, 0.7)), together)
    at = found.with_theta(found.theta + np.random.default_rng(2).normal(scale=0.1, size=found.size))
    _, gradient = ProjectedEvidence(given, np.arange(0, 40, 3), 1e-9)(at)
    differences = fd_gradient(
        lambda t: ProjectedEvidence(given, np.arange(0, 40, 3), 1e-9)(at.with_theta(t))[0], at.theta
    )
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-5)
    assert new.sum() == found.size - model.size == (2 if together else 4)
    np.testing.assert_allclose(at.begun[~new], model.begun)
    assert np.flatnonzero(found.scales & new).size == (1 if together else 3)


def test_steps_of_a_term_come_before_those_of_the_likelihood_and_a_lapse_stays_last():
    model = Model.begin(RBF() + Bias(), Probit(), tied=True)
    plain, new = model.with_term(MainEffects(), True)
    np.testing.assert_array_equal(new, [False, False, False, True, True, False])
    lapsing, more = model.with_spare(0.1).with_term(MainEffects(), True)
    np.testing.assert_array_equal(more, [False, False, False, True, True, False, False])
    clean = lapsing.without_spare()
    assert clean.kernel == plain.kernel
    np.testing.assert_array_equal(clean.group, plain.group)
    assert further_terms(plain.kernel) == [Form.MAIN_EFFECTS]
    assert with_terms(model.kernel, [2]) == plain.kernel
    assert further_terms(model.kernel) == []


def test_what_may_get_terms():
    tied = {"tied": True}
    assert can_be_richer(Model.begin(RBF() + Bias(), Probit(), **tied), 100, 2)
    assert not can_be_richer(Model.begin(RBF() + Bias(), Probit(), **tied), 99, 2)
    assert not can_be_richer(Model.begin(RBF() + Bias(), Probit(), **tied), 100, 1)
    assert not can_be_richer(Model.begin(Matern() + Bias(), Probit(), **tied), 100, 2)
    assert not can_be_richer(Model.begin(RBF() + Bias(), StudentT(), **tied), 100, 2)
    guided = Learning(bounds={"kernel.left.variance": (0.1, 10.0)})
    assert not can_be_richer(Model.begin(RBF() + Bias(), Probit(), tied=True, learning=guided), 100, 2)
    labels, numbers = (Model.begin(RBF() + Bias(), one, **tied) for one in (Probit(), Gaussian()))
    assert can_be_richer(labels, 100, 128)
    assert not can_be_richer(labels, 100, 129)
    assert most_for_form(numbers) == 3 * most_for_form(labels) == 120


@pytest.mark.parametrize(
    ("kind", "targets"),
    [(IVMRegressor, lambda f: f), (IVMClassifier, lambda f: f > -1.0),
     (IVMClassifier, lambda f: np.digitize(f, [-2.5, -0.5])),
     (IVMOrdinalClassifier, lambda f: np.digitize(f, [-2.5, -0.5]))],
    ids=["numbers", "two classes", "three classes", "ordered"],
)  # fmt: skip
def test_sums_of_functions_of_one_column_are_found_and_kept(tmp_path, kind, targets):
    X, f = sums(800, 6)
    y = targets(f)
    model = kind(**settings(n_active=60)).fit(X[:200], y[:200])
    plain = kind(**settings(n_active=60, kernel="rbf")).fit(X[:200], y[:200])
    assert MainEffects in kinds(model)
    assert MainEffects not in kinds(plain)
    told = (lambda one: one.log_density(X[200:], y[200:])) if kind is IVMRegressor else (
        lambda one: one.predict_log_proba(X[200:])[np.arange(600), np.searchsorted(one.classes_, y[200:])])  # fmt: skip
    assert told(model).mean() > told(plain).mean() + 0.1
    history = model.history_
    assert history["form"].shape == history["criterion"].shape
    assert set(history["form"]) >= {Form.PLAIN, Form.MAIN_EFFECTS}
    assert set(plain.history_["form"]) == {Form.PLAIN}
    best = [history["criterion"][history["form"] == form].max() for form in (Form.PLAIN, Form.MAIN_EFFECTS)]
    assert best[1] > best[0]
    model.save(tmp_path / "model.ivm")
    loaded = infovec.load(tmp_path / "model.ivm")
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_array_equal(loaded.history_["form"], history["form"])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_terms_that_only_few_active_rows_ask_for_are_left_out_again(monkeypatch):
    """Many classes are learned with few of them, by which functions seem too smooth, and a sum may seem to be all."""
    X, y = make_classification(20_000, 20, n_informative=10, n_classes=8, random_state=0)
    X, y = X[5000:5400], y[5000:5400]
    found = []

    def watched(*given):
        found.append(richer(*given))
        return found[-1]

    monkeypatch.setattr("infovec.machines.stages.richer", watched)
    model, plain = (IVMClassifier(**settings(n_active=80, kernel=kernel)).fit(X, y) for kernel in (None, "rbf"))
    assert found[0][0].form == Form.MAIN_EFFECTS
    assert model.kernel_ == plain.kernel_


@pytest.mark.parametrize("labels", [False, True])
def test_a_product_of_columns_keeps_its_kernel(labels):
    X, f = product()
    kind, y = (IVMClassifier, f > 0.0) if labels else (IVMRegressor, f)
    model, plain = (kind(**settings(kernel=kernel)).fit(X, y) for kernel in (None, "rbf"))
    assert not {MainEffects, Matern} & kinds(model)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_kinks_in_numbers_ask_for_a_rougher_term():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(300, 4)), rng.normal(size=(4, 6))
    y = np.abs(X @ W - rng.normal(size=6)).sum(axis=1) + 0.05 * rng.normal(size=300)
    model = IVMRegressor(**settings(n_active=150)).fit(X, y)
    assert Matern in kinds(model)
    assert model.log_evidence_ > IVMRegressor(**settings(n_active=150, kernel="rbf")).fit(X, y).log_evidence_ + 3.0


def test_nothing_is_tried_where_a_kernel_or_how_it_is_learned_is_given():
    X, f = sums()
    for more in ({"kernel": "rbf"}, {"learn": Learning()}, {"learn": None}, {"kernel": RBF() + Bias()}):
        model = IVMRegressor(**settings(**more)).fit(X, f)
        assert MainEffects not in kinds(model)
    assert MainEffects not in kinds(IVMRegressor(**settings()).fit(X[:90], f[:90]))


def test_units_order_and_weights_do_not_matter():
    X, f = sums()
    model = IVMRegressor(**settings()).fit(X, f)
    assert MainEffects in kinds(model)
    unit = 10.0 ** np.arange(-4.0, 4.0)
    other = IVMRegressor(**settings()).fit(unit * X + 3.0 * unit, 1e5 * f - 7e5)
    np.testing.assert_allclose(other.predict(unit * X + 3.0 * unit), 1e5 * model.predict(X) - 7e5, rtol=1e-3, atol=1e2)
    twice = IVMRegressor(**settings()).fit(np.vstack([X, X[:50]]), np.r_[f, f[:50]])
    weighted = IVMRegressor(**settings()).fit(X, f, np.r_[np.full(50, 2.0), np.ones(150)])
    np.testing.assert_allclose(weighted.predict(X), twice.predict(X), rtol=1e-4, atol=1e-4)
    double = IVMRegressor(**settings(dtype="float64")).fit(X, f)
    np.testing.assert_allclose(double.predict(X), model.predict(X), atol=1e-4)


def test_smaller_models_later_rows_and_moving_inputs_go_on_with_the_terms():
    X, f = sums(300)
    model = IVMRegressor(**settings()).fit(X[:200], f[:200])
    kernel = model.kernel_
    assert MainEffects in {type(part) for part in parts_of(model.compress(40).kernel_)}
    model.tell(X[200:], f[200:])
    assert model.kernel_ == kernel
    moved = IVMRegressor(**settings(move=True, n_active=60)).fit(X, f)
    assert MainEffects in kinds(moved)
    assert moved.moved_


def test_a_fit_that_is_cut_off_goes_on_with_the_terms(tmp_path):
    X, f = sums()
    whole = IVMRegressor(**settings()).fit(X, f)

    class Cut(Exception):
        pass

    def stop(progress):
        if progress.included:
            raise Cut

    with pytest.raises(Cut):
        IVMRegressor(**settings(callback=stop)).fit(X, f, checkpoint=tmp_path / "noted")
    again = IVMRegressor(**settings()).fit(X, f, checkpoint=tmp_path / "noted")
    assert again.kernel_ == whole.kernel_
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))


def test_no_term_is_taken_against_rows_left_out():
    class Misled:
        """Evidence that rises with every term, and rows left out that know better."""

        def __call__(self, model):
            return 100.0 * len(further_terms(model.kernel)), np.zeros(model.size)

        def left_out(self, model):
            return self(model)[0], 1.0 + len(further_terms(model.kernel))

    model = Model.begin(RBF() + Bias(), Probit(), tied=True)
    found, steps = richer(Misled(), model, 200)
    assert found is None
    assert {step.form for step in steps} == {Form.MAIN_EFFECTS}
    assert all(step.theta.size == model.size for step in steps)


def test_auto_is_another_word_for_none():
    X, f = sums(150)
    for kind, y in ((IVMRegressor, f), (IVMClassifier, f > -1.5)):
        model, named = (kind(**settings(n_active=40, kernel=kernel)).fit(X, y) for kernel in (None, "auto"))
        assert model.kernel_ == named.kernel_
        assert named.get_params()["kernel"] == "auto"
