"""Weights of classes: the model is that without them, predictions are for other frequencies of the classes."""

import numpy as np
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier

import infovec
from infovec.errors import ParameterError
from infovec.estimators.class_weight import class_shift
from infovec.kernels import RBF
from infovec.likelihoods import Probit


def data(n=150, C=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [0.8, 1.4][: C - 1])


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("Estimator", [IVMClassifier, IVMOrdinalClassifier])
def test_predictions_are_those_of_bayes_for_other_frequencies(Estimator, C):
    X, y = data(C=C)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    settings = {"kernel": RBF(1.0, 4.0), "n_active": 30, "random_state": 0}
    plain = Estimator(**settings).fit(X, y, sample_weight=weight)
    p = plain.predict_proba(X)
    for given, w in (
        ("balanced", weight.sum() / (C * np.bincount(y, weights=weight))),
        ({0: 1.0, 1: 5.0, 2: 0.3}, np.array([1.0, 5.0, 0.3])[:C]),
    ):
        given = {c: v for c, v in given.items() if c < C} if isinstance(given, dict) else given
        model = Estimator(class_weight=given, **settings).fit(X, y, sample_weight=weight)
        expected = w * p / (w * p).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
        np.testing.assert_array_equal(model.predict(X), np.argmax(expected, axis=1))
        np.testing.assert_array_equal(model.predict_latent(X)[0], plain.predict_latent(X)[0])
        assert model.log_evidence_ == plain.log_evidence_
        if hasattr(model, "decision_function"):
            odds = np.log(expected) - np.log(1.0 - expected)
            np.testing.assert_allclose(model.decision_function(X), odds[:, 1] if C == 2 else odds, rtol=1e-6, atol=1e-9)


def test_a_key_that_is_no_label_is_named():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match=r"every label of y, 'fatal', 'slight': 'fatel' is none of them"):
        IVMClassifier(n_active=5, class_weight={"fatel": 3.0}).fit(X, np.where(X[:, 0] > 0, "fatal", "slight"))


def test_balanced_weights_predict_balanced_rows_nearly_as_the_truth_does():
    """Two Gaussian classes, 300 rows to 30: log loss on as many rows of each class."""
    means = np.array([[1.2, 0.0], [0.0, 1.2]])
    y, t = np.repeat([0, 1], [300, 30]), np.repeat([0, 1], 1000)
    X, Z = (np.random.default_rng(k).normal(size=(len(c), 2)) + means[c] for k, c in enumerate((y, t)))
    log_odds = Z @ (means[1] - means[0])
    truth = np.mean(np.log1p(np.exp(np.where(t == 1, -log_odds, log_odds))))
    model = infovec.IVMClassifier(class_weight="balanced", n_active=60, random_state=0).fit(X, y)
    assert -np.mean(model.predict_log_proba(Z)[np.arange(2000), t]) < 1.05 * truth


def test_zero_leaves_a_class_out():
    X, y = data()
    model = IVMClassifier(n_active=20, class_weight={0: 1.0, 1: 2.0, 2: 0.0}, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert np.all(y[model.active_] < 2)
    grades = IVMOrdinalClassifier(
        categories=[0, 1, 2], n_active=20, class_weight={0: 1.0, 1: 2.0, 2: 0.0}, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(grades.predict_proba(X)[:, 2], 0.0)
    np.testing.assert_allclose(grades.predict_proba(X).sum(axis=1), 1.0)


def test_a_class_without_rows_keeps_its_probability():
    shift = class_shift("balanced", np.arange(3), np.array([0, 0, 0, 2]), None)
    np.testing.assert_allclose(np.exp(shift), [4 / 9, 1.0, 4 / 3])
    np.testing.assert_array_equal(class_shift(None, np.arange(3), np.array([0]), None), 0.0)


def test_files_and_another_fit(tmp_path):
    X, y = data()
    model = IVMClassifier(n_active=20, class_weight="balanced", random_state=0).fit(X, y)
    model.save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict_proba(X), model.predict_proba(X))
    again = model.set_params(class_weight=None).fit(X, y)
    np.testing.assert_array_equal(
        again.predict_proba(X), IVMClassifier(n_active=20, random_state=0).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("C", [2, 3])
def test_exported_models_are_shifted_too(C):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from infovec.onnx_export import to_onnx

    X, y = data(C=C)
    Estimator, given = (IVMClassifier, {"likelihood": Probit(0.2)}) if C == 2 else (IVMOrdinalClassifier, {})
    model = Estimator(n_active=20, class_weight="balanced", random_state=0, **given).fit(X, y)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    probability, label = session.run(["probability", "label"], {"X": X})
    np.testing.assert_allclose(probability, model.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(label, model.predict(X))
