"""What users of scikit-learn take for granted: kernels by name and in searches, joint predictions, importances."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_ndtr, log_softmax
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infovec import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor, load
from infovec.active_learning import label_uncertainty
from infovec.errors import ParameterError
from infovec.kernels import MLP, RBF, Bias, FromFunction, Kernel, Linear, Matern, Standardised, named
from infovec.kernels.named import NAMES, of_scaled, of_variance
from infovec.likelihoods import Logit, Ordinal, Probit
from infovec.likelihoods.base import Likelihood
from infovec.likelihoods.classes import OneAgainstRest, Softmax
from infovec.metrics import error_reject_curve
from infovec.onnx_export import to_onnx

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
CURVE = np.sin(2.0 * X[:, 1])
REAL = CURVE + 0.2 * RNG.normal(size=120)
COUNTS = RNG.poisson(np.exp(CURVE + 0.5)).astype(float)
SOME = np.concatenate([X[:6], 4.0 + X[6:9]])
QUICK = {"n_active": 20, "learn": None, "random_state": 0}
NOISES = {"gaussian": REAL, "laplace": REAL, "student_t": REAL, "poisson": COUNTS}


def test_names_are_sums_products_and_multiples():
    assert named("rbf + 0.5 * Linear") == RBF() + 0.5 * Linear()
    assert named("rbf * (matern + mlp)") == RBF() * (Matern() + MLP())
    assert all(isinstance(named(name), Kernel) for name in NAMES)
    for text in ("rbff", "rbf ** 2", "", "(", "rbf + 2", "exit()", "2", "-1 * rbf", "(" * 500, "rbf, mlp"):
        with pytest.raises(ParameterError, match="not understood"):
            named(text)
    with pytest.raises(ParameterError, match="'rbff' is none"):
        IVMClassifier("rbff").fit(X, REAL > 0)


@pytest.mark.parametrize("name", [*NAMES, "rbf + linear", "mlp * (0.3 * matern + bias)"])
def test_a_kernel_of_scaled_columns_is_the_kernel_on_scaled_columns(name):
    centre, scale = np.array([3.0, -1.0, 1e3]), np.array([0.1, 2.0, 30.0])
    for kernel in (named(name), of_scaled(named(name), 0.5, 2.0)):
        found = of_scaled(kernel, centre, scale)(centre + scale * X[:20])
        np.testing.assert_allclose(found, kernel(X[:20]), rtol=1e-9, atol=1e-12)
    total = of_variance(named(name), 7.0)
    assert "Bias" in repr(total)


@pytest.mark.parametrize("name", ["matern", "linear", "rbf + linear", "polynomial"])
def test_named_kernels_do_not_mind_units_and_can_be_saved(name, tmp_path):
    model = IVMRegressor(name, **QUICK).fit(X, REAL)
    moved = IVMRegressor(name, **QUICK).fit(X * [1e3, 1.0, 1e-3] + [1e5, 0.0, 7.0], 40.0 * REAL - 3.0)
    np.testing.assert_allclose(
        moved.predict(SOME * [1e3, 1.0, 1e-3] + [1e5, 0.0, 7.0]), 40.0 * model.predict(SOME) - 3.0, rtol=1e-5
    )
    model.save(tmp_path / "m.ivm")
    again = load(tmp_path / "m.ivm")
    assert again.kernel == name
    np.testing.assert_array_equal(again.predict(SOME), model.predict(SOME))


def test_rbf_by_name_is_the_default():
    default, by_name = (IVMClassifier(kernel, n_active=20, random_state=0).fit(X, REAL > 0) for kernel in (None, "rbf"))
    np.testing.assert_array_equal(default.predict_log_proba(SOME), by_name.predict_log_proba(SOME))
    assert isinstance(GPClassifier("matern", learn=None).fit(X, REAL > 0).kernel_.left, Matern)


def test_parameters_of_kernels_are_searched():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), IVMRegressor(RBF(1.0) + Bias(), **QUICK)),
        {"ivmregressor__kernel__left__length_scale": [0.01, 1.0], "ivmregressor__likelihood": ["gaussian"]}, cv=2,
    ).fit(X, REAL)  # fmt: skip
    assert search.best_estimator_[-1].kernel == RBF(1.0) + Bias()
    kernel = RBF(1.0) + Bias()
    model = IVMRegressor(kernel).set_params(kernel__left__length_scale=3.0)
    assert model.kernel == RBF(3.0) + Bias()
    assert kernel == RBF(1.0) + Bias()
    assert model.get_params()["kernel__left__length_scale"] == 3.0
    assert clone(model).kernel == model.kernel
    assert clone(RBF(np.ones(3))) == RBF(np.ones(3))
    model.set_params(kernel=Matern(), kernel__nu=2.5)
    assert model.kernel == Matern(nu=2.5)
    for wrong, words in (({"kernel__size": 1.0}, "no parameter"), ({"kernel__nu__x": 1.0}, "no parameter")):
        with pytest.raises(ParameterError, match=words):
            model.set_params(**wrong)
    for kernel in (None, "matern"):
        with pytest.raises(ParameterError, match="come from the data"):
            IVMRegressor(kernel).set_params(kernel__length_scale=1.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour__length_scale=1.0)


@pytest.mark.parametrize("noise", NOISES)
def test_samples_have_the_mean_the_covariance_and_the_quantiles_that_are_predicted(noise):
    model = IVMRegressor(likelihood=noise, **QUICK).fit(X, NOISES[noise])
    mean, cov = model.predict(SOME, return_cov=True)
    std = model.predict(SOME, return_std=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov)), std, rtol=1e-9)
    latent, latent_cov = model.predict_latent(SOME, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diagonal(latent_cov)), model.predict_latent(SOME)[1], rtol=1e-6)
    np.testing.assert_allclose(Likelihood.covariance(model.likelihood_, latent, latent_cov), cov, rtol=1e-3, atol=1e-6)
    S = 20000
    for found, m, C in (
        (model.sample_y(SOME, S, 1), mean, cov), (model.sample_y(SOME, S, 2, latent=True), latent, latent_cov),
    ):  # fmt: skip
        assert found.shape == (9, S)
        sd = np.sqrt(np.diagonal(C))
        assert np.max(np.abs(found.mean(axis=1) - m) / sd) < 5.0 / np.sqrt(S)
        assert np.max(np.abs(np.cov(found) - C) / np.outer(sd, sd)) < (0.15 if noise == "poisson" else 0.08)
    if noise != "poisson":
        share = np.mean(model.sample_y(SOME, S, 3)[:, :, None] < model.predict_quantiles(SOME, [0.1, 0.5])[:, None], 1)
        assert np.max(np.abs(share - [0.1, 0.5])) < 0.06


def test_classes_are_sampled_as_they_are_predicted():
    for y, Estimator, options in (
        (REAL > 0, IVMClassifier, {}),
        (REAL > 0, IVMClassifier, {"class_weight": {False: 1.0, True: 5.0}}),
        (np.digitize(REAL, [-0.5, 0.5]), IVMOrdinalClassifier, {}),
        (np.digitize(REAL, [-0.5, 0.5]), IVMClassifier, {}),
    ):
        model = Estimator(**QUICK, **options).fit(X, y)
        drawn = model.sample_y(SOME, 4000, 0)
        shares = np.stack([np.mean(drawn == label, axis=1) for label in model.classes_], axis=1)
        np.testing.assert_allclose(shares, model.predict_proba(SOME), atol=0.04)
        assert model.sample_y(SOME, 2, latent=True).shape[0] == 9
    near = np.repeat(SOME[-1:] + 3.0, 2, axis=0)  # two rows of which nothing is known: their labels go together
    both = IVMClassifier(**QUICK).fit(X, REAL > 0).sample_y(near, 2000, 0)
    assert np.mean(both[0] == both[1]) > 0.7


@pytest.mark.parametrize(
    "likelihood", [Probit(0.3), Logit(-0.5, 1.5), Ordinal(np.array([-1.0, 0.5]))], ids=lambda v: type(v).__name__
)
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_uncertainty_has_two_parts_that_equal_quadrature(likelihood, scale):
    mean, var = scale * np.array([-2.0, -0.3, 0.0, 1.0]), scale * np.array([0.1, 2.0, 1.0, 0.5])
    found = label_uncertainty(likelihood, mean, var)
    z = np.linspace(-9.0, 9.0, 40001)
    weight = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) * (z[1] - z[0])
    f = mean[:, None] + np.sqrt(var)[:, None] * z
    log_p = np.stack([likelihood.log_prob(np.full(f.shape, v), f) for v in likelihood.labels])
    p = np.einsum("cnz,z->nc", np.exp(log_p), weight)
    given = -np.einsum("cnz,cnz,z->n", np.exp(log_p), np.maximum(log_p, -1e300), weight)
    np.testing.assert_allclose(found.total, -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.aleatoric, given, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.aleatoric + found.epistemic, found.total)


@pytest.mark.parametrize(
    "likelihood", [Softmax(np.array([0.3, 0.0, -0.2])), OneAgainstRest(np.array([0.3, 0.0, -0.2]))]
)
def test_uncertainty_of_several_classes_is_near_that_of_draws(likelihood):
    mean, var = RNG.normal(size=(6, 3)), RNG.uniform(0.05, 3.0, size=(6, 3))
    found = label_uncertainty(likelihood, mean, var)
    f = mean + np.sqrt(var) * RNG.standard_normal((20000, 6, 3))
    if isinstance(likelihood, Softmax):
        log_p = log_softmax(f + likelihood.bias, axis=2)
    else:
        odds = log_ndtr(f + likelihood.bias) - log_ndtr(-f - likelihood.bias)
        log_p = log_softmax(odds, axis=2)
    whole = np.exp(log_p).mean(axis=0)
    share = -np.sum(np.exp(log_p) * log_p, axis=2).mean(axis=0) / -np.sum(whole * np.log(whole), axis=1)
    np.testing.assert_allclose(found.aleatoric / found.total, share, atol=0.015)
    assert np.all(found.epistemic >= 0.0)


@pytest.mark.parametrize("names", [None, np.array(["sick", "well", "worse"])])
def test_labels_are_rejected_by_the_rule_of_chow(names):
    y = np.digitize(REAL, [-0.3, 0.3])
    model = IVMClassifier(**QUICK, class_weight="balanced").fit(X, y if names is None else names[y])
    proba = model.predict_proba(X)
    risk = 1.0 - proba.max(axis=1)
    for cost in (0.0, 0.1, 0.3, 0.5, 1.0):
        answer = model.predict(X, reject=cost)
        rejected = np.array([label is None for label in answer])
        np.testing.assert_array_equal(rejected, risk > cost)
        np.testing.assert_array_equal(answer[~rejected].astype(model.classes_.dtype), model.predict(X)[~rejected])
        mean_cost = np.mean(np.where(rejected, cost, risk))
        assert all(mean_cost <= np.mean(np.where(risk > t, cost, risk)) + 1e-12 for t in np.linspace(0.0, 1.0, 101))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        model.predict(X, reject=2.0)


def test_a_curve_of_true_probabilities_is_convex_and_chow_rejects_where_it_costs_least():
    p = np.random.default_rng(3).uniform(0.5, 1.0, size=40000)
    wrong = np.random.default_rng(4).random(40000) > p
    curve = error_reject_curve(np.where(wrong, 0, 1), np.column_stack([1.0 - p, p]))
    errors = np.interp(np.linspace(0.0, 0.99, 12), curve.rejected, (1.0 - curve.rejected) * curve.error)
    assert np.all(np.diff(errors, 2) > -0.005)
    for cost in (0.1, 0.25, 0.4):
        at = curve.rejected[np.argmin(curve.cost(cost))]
        assert abs(at - np.mean(1.0 - p > cost)) < 0.08
        assert curve.cost(cost).min() >= np.mean(np.minimum(1.0 - p, cost)) - 0.01


@pytest.mark.parametrize("noise", NOISES)
def test_importances_find_the_column_and_select_it(noise):
    model = IVMRegressor(RBF(1.0, 2.0), likelihood=noise, **QUICK).fit(X, NOISES[noise])
    found = model.feature_importances_
    assert np.argmax(found) == 1
    moved = IVMRegressor(RBF(np.array([1e3, 1.0, 1e-3]), 2.0), likelihood=noise, **QUICK)
    moved = moved.fit(X * [1e3, 1.0, 1e-3], NOISES[noise])
    np.testing.assert_allclose(moved.feature_importances_, found, rtol=1e-3, atol=1e-6)


def test_importances_are_relative_entropies_and_work_in_scikit_learn(tmp_path):
    assert not hasattr(IVMClassifier(), "feature_importances_")
    for y in (REAL > 0, np.digitize(REAL, [-0.5, 0.5])):
        model = IVMClassifier(**QUICK).fit(X, y)
        assert np.argmax(model.feature_importances_) == 1
        model.save(tmp_path / "m.ivm")
        np.testing.assert_allclose(load(tmp_path / "m.ivm").feature_importances_, model.feature_importances_)
    active, expected = model.active_vectors_, []
    p = model.predict_proba(active)
    for j in range(3):
        total = 0.0
        for shift in (len(active) // 2, len(active) // 3):
            other = active.copy()
            other[:, j] = np.roll(other[:, j], shift)
            total += 0.5 * np.mean(np.sum(p * np.log(p / model.predict_proba(other)), axis=1))
        expected.append(total)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-6)
    assert SelectFromModel(IVMRegressor(**QUICK), max_features=1).fit(X, REAL).get_support().tolist() == [0, 1, 0]
    assert RFE(IVMClassifier(**QUICK), n_features_to_select=1).fit(X, REAL > 0).support_.tolist() == [
        False,
        True,
        False,
    ]
    words = np.array(["a", "b", "ab", "ba"] * 5, dtype=object)
    kernel = FromFunction(lambda A, B: np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A]))
    assert not hasattr(IVMClassifier(kernel, **QUICK).fit(words, [0, 1, 0, 1] * 5), "feature_importances_")


@pytest.mark.skipif("INFOVEC_DATA" not in os.environ, reason="needs the data sets")
def test_importances_find_the_four_inputs_of_pumadyn():
    file = Path(os.environ["INFOVEC_DATA"]) / "pumadyn32nm.npz"
    if not file.exists():
        pytest.skip("needs pumadyn32nm")
    with np.load(file) as data:
        Z, y = data["X_train"][:2000], data["y_train"][:2000]
    fewer = IVMRegressor(n_active=250, random_state=0).fit(Z, y)
    assert set(np.argsort(-fewer.feature_importances_)[:4].tolist()) == {3, 4, 14, 15}
    model = IVMRegressor(n_active=400, random_state=0).fit(Z, y)  # with 250 rounding decides between two optima
    order = np.argsort(-model.feature_importances_)
    assert set(order[:4].tolist()) == {3, 4, 14, 15}
    assert model.feature_importances_[order[3]] > 3.0 * model.feature_importances_[order[4]]
    assert set(model.relevances([str(j) for j in range(32)]).columns[:4]) == {"3", "4", "14", "15"}


def test_several_targets_share_their_rows_and_are_models_of_each(tmp_path):
    Y = np.column_stack([REAL, 1000.0 * X[:, 0] + 5.0, COUNTS])
    model = IVMRegressor(**QUICK).fit(X, Y)
    assert len(model.outputs_) == 3
    for k, one in enumerate(model.outputs_):
        np.testing.assert_array_equal(one.active_, model.active_)
        np.testing.assert_allclose(model.predict(SOME)[:, k], one.predict(SOME))
        alone = IVMRegressor(one.kernel_, one.likelihood_, **QUICK).set_params(initial=model.active_).fit(X, Y[:, k])
        np.testing.assert_allclose(one.predict(SOME), alone.predict(SOME), rtol=1e-6)
    mean, std = model.predict(SOME, return_std=True)
    assert mean.shape == std.shape == (9, 3)
    assert model.predict(SOME, return_cov=True)[1].shape == (9, 9, 3)
    assert model.predict_quantiles(SOME, [0.1, 0.9]).shape == (9, 2, 3)
    assert model.sample_y(SOME, 4).shape == (9, 3, 4)
    np.testing.assert_allclose(
        model.log_density(X, Y), sum(one.log_density(X, Y[:, k]) for k, one in enumerate(model.outputs_))
    )
    assert model.score(X, Y) > 0.5
    model.save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(load(tmp_path / "m.ivm").predict(SOME), model.predict(SOME))
    with pytest.raises(AttributeError, match=r"outputs_\[0\].kernel_"):
        _ = model.kernel_
    calls = {"relevances": (), "report": ("r.html",), "compress": (5,), "grow": (2,), "tell": (X, Y), "suggest": (X, 2)}
    for name, given in {**calls, "score_candidates": (X,)}.items():
        with pytest.raises(ParameterError, match=rf"^{name} is for .* one has 3: call outputs_\[0\]\.{name}\("):
            getattr(model, name)(*given)
    with pytest.raises(ParameterError, match=r"to_onnx\(model.outputs_\[0\]\)"):
        to_onnx(model)
    assert len(model.outputs_[0].compress(5).active_) == 5
    with pytest.raises(ParameterError, match="warm_start"):
        IVMRegressor(warm_start=True).fit(X, Y)
    assert not hasattr(model.fit(X, REAL), "outputs_")


def test_notebooks_show_kernels_plans_and_relevances_and_nothing_that_acts():
    plan = IVMRegressor(**QUICK).plan(X, REAL)._repr_html_()
    assert "20 of 120" in plan
    kernel = (RBF(np.ones(3)) + Standardised(Linear()))._repr_html_()
    assert "Standardised" in kernel
    model = IVMRegressor(RBF(np.array([1.0, 0.2, 5.0])), **QUICK).fit(X, REAL)
    shown = model.relevances(["<script>alert(1)</script>", "b\x1b[31m", "c"])._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in shown
