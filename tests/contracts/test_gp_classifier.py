"""The dense classifier as users of scikit-learn and pandas have it, by every way of inference and of learning."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from infovec import GPClassifier, IVMClassifier, load
from infovec.errors import ParameterError
from infovec.estimators import dense
from infovec.kernels import RBF, Bias, FromFunction, Linear
from infovec.likelihoods import Logit, Probit
from infovec.likelihoods.classes import MultivariateProbit, Softmax
from infovec.machines.defaults import column_spreads, length_scales

KERNEL = RBF(1.5, 5.0) + Bias()
INFERENCES = ("variational", "ep", "laplace", "gibbs")
FEW = {"n_samples": 60, "burn_in": 40, "evidence": None, "random_state": 0}


def blobs(n=60, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, 3))
    X[:, 0] += 2.5 * y
    return X, np.array(["ash", "birch", "cedar"])[y]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("inference", INFERENCES)
def test_every_way_of_inference_tells_classes_apart(inference, classes):
    X, y = blobs(classes=classes)
    frame = pd.DataFrame(X, columns=["height", "girth", "leaves"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few draws
        model = GPClassifier(KERNEL, inference, learn=None, **FEW).fit(frame, pd.Series(y, dtype="string"))
    Z, t = blobs(90, classes, seed=1)
    new = pd.DataFrame(Z, columns=frame.columns)
    proba, error = model.predict_proba(new, return_error=True)
    assert model.score(new, t) > 0.8
    assert list(model.classes_) == ["ash", "birch", "cedar"][:classes]
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)), proba, atol=1e-12)
    assert np.all(error >= 0.0)
    assert bool(error.any()) == (inference == "gibbs")
    mean, std = model.predict_latent(new)
    assert mean.shape == std.shape == ((90,) if classes == 2 else (90, 3))
    np.testing.assert_allclose(model.predict_latent(new, return_std=False), mean, atol=1e-9)
    odds = model.decision_function(new)
    np.testing.assert_array_equal(
        model.classes_[(odds > 0).astype(int) if classes == 2 else odds.argmax(1)], model.predict(new)
    )
    assert model.kernel_ == KERNEL
    assert np.isnan(model.log_evidence_) == (inference == "gibbs")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(new[["girth", "height", "leaves"]])


@pytest.mark.parametrize("classes", [2, 3])
def test_all_ways_are_about_the_same_model(classes):
    """The three that do not sample are near the one that does, EP nearest; so are the evidences."""
    X, y = blobs(40, classes)
    Z = blobs(50, classes, seed=1)[0]
    models = {
        name: GPClassifier(KERNEL, name, None, "probit", n_samples=2000, burn_in=200, random_state=0).fit(X, y)
        for name in INFERENCES
    }
    truth, error = models["gibbs"].predict_proba(Z, return_error=True)
    off = {name: np.abs(model.predict_proba(Z) - truth).max() for name, model in models.items()}
    assert off["ep"] < 0.03 + 4 * error.max()
    assert off["ep"] <= off["laplace"]
    assert max(off.values()) < 0.2
    exact, spread = models["gibbs"].log_evidence_, models["gibbs"].diagnostics_["evidence_error"]
    assert models["ep"].log_evidence_ == pytest.approx(exact, abs=3.0 + 4 * spread)
    assert models["variational"].log_evidence_ < exact
    assert models["gibbs"].diagnostics_["r_hat"] < 1.05


@pytest.mark.parametrize("learn", ["auto", "bound", "ep", "laplace", "importance"])
def test_every_way_of_learning_improves_on_a_bad_kernel(learn):
    X, y = blobs(50)
    Z, t = blobs(60, seed=1)
    inference = "laplace" if learn == "laplace" else "variational"
    bad = RBF(np.full(3, 0.2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of weights that collapse
        model = GPClassifier(bad, inference, learn, **FEW).fit(X, y)
    before = GPClassifier(bad, inference, None, **FEW).fit(X, y)
    assert model.score(Z, t) > max(0.75, before.score(Z, t))
    assert model.relevances().columns[0] == "column 0"
    assert ("bound" if learn == "importance" else "criterion") in model.history_


def test_default_kernels_and_labels_of_iris():
    X, y = load_iris(return_X_y=True)
    assert GPClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93
    V = X * [1e4, 1.0, 1e-4, 1.0]  # units of columns do not matter
    model = GPClassifier(inference="laplace", random_state=0)
    assert cross_val_score(model, V[::2], y[::2], cv=3).mean() > 0.9
    np.testing.assert_allclose(model.fit(V, y).predict_latent(V)[0], model.fit(X, y).predict_latent(X)[0], atol=1e-3)
    twin = clone(model)
    assert twin.get_params() == model.get_params()


def test_draws_of_length_scales_give_intervals():
    X, y = blobs(60)
    model = GPClassifier(inference="gibbs", learn="mcmc", n_samples=120, burn_in=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few draws
        model.fit(X, y)
    found = model.relevances()
    assert found.columns[0] == "column 0"
    assert np.all((found.low <= found.length_scale) & (found.length_scale <= found.high))
    assert " to " in str(found)
    assert np.isnan(model.log_evidence_)
    assert model.score(X, y) > 0.7
    assert model.predict_proba(X[:3], return_error=True)[1].max() > 0.0
    sampled = GPClassifier(learn="importance", n_samples=400, random_state=0).fit(X, y)
    spans = sampled.relevances()
    assert spans.low[0] < spans.length_scale[0] < spans.high[0]
    assert sampled.diagnostics_["weights"].sum() == pytest.approx(1.0)


def test_weights_that_collapse_and_chains_that_disagree_are_warned_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 10)), rng.integers(0, 3, 90)
    X[:, :2] += 2.5 * np.column_stack([np.cos(2.1 * y), np.sin(2.1 * y)])
    with pytest.warns(UserWarning, match="amount to .* equal ones.*n_samples.*learn='mcmc'"):
        GPClassifier(learn="importance", n_samples=30, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match=r"R-hat is .*raise burn_in and n_samples"):
        GPClassifier(RBF(2.0, 1e4), "gibbs", None, n_samples=40, burn_in=0, evidence=None, random_state=0).fit(X, y)


def test_likelihoods_by_name():
    for classes, kinds in ((2, (Probit, Logit)), (3, (MultivariateProbit, Softmax))):
        X, y = blobs(30, classes)
        for name, kind in zip(("probit", "logit"), kinds, strict=True):
            for inference in ("laplace", "ep"):
                model = GPClassifier(KERNEL, inference, None, name).fit(X, y)
                assert type(model.likelihood_) is kind
                assert model.score(X, y) > 0.8
        assert type(GPClassifier(KERNEL, "laplace", None).fit(X, y).likelihood_) is kinds[1]
        assert type(GPClassifier(KERNEL, "ep", None).fit(X, y).likelihood_) is kinds[0]


@pytest.mark.parametrize("evidence", ["annealing", "prior"])
def test_marginal_likelihoods_by_draws_come_with_an_error(evidence):
    X, y = blobs(12)
    model = GPClassifier(KERNEL, "gibbs", None, n_samples=40, burn_in=10, evidence=evidence, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few draws
        model.fit(X, y)
    exact = GPClassifier(KERNEL, "ep", None).fit(X, y).log_evidence_
    assert model.log_evidence_ == pytest.approx(exact, abs=1.5)
    assert 0.0 < model.diagnostics_["evidence_error"] < 1.0


def test_sparse_rows_and_objects():
    X, y = blobs(40)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    rows, csr = (GPClassifier(KERNEL, learn=None).fit(V, y) for V in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(csr.predict_proba(sparse.csr_matrix(X)), rows.predict_proba(X), atol=1e-8)
    words = ["aab", "abb", "bbb", "aaa", "xyz", "xyy", "zzy", "xxz"]
    shared = FromFunction(lambda A, B: np.array([[len(set(a) & set(b)) + 2.0 * (a == b) for b in B] for a in A]))
    for inference in INFERENCES:
        model = GPClassifier(shared, inference, None, n_samples=400, burn_in=50, evidence=None, random_state=0)
        model.fit(words, [0] * 4 + [1] * 4)
        assert list(model.predict(["aba", "zxy"])) == [0, 1]


@pytest.mark.parametrize(
    ("classes", "settings"),
    [
        (3, {}),
        (2, {}),
        (3, {"inference": "ep"}),
        (2, {"inference": "ep"}),
        (3, {"inference": "laplace"}),
        (3, {"inference": "laplace", "likelihood": "probit"}),
        (2, {"inference": "laplace"}),
        (3, {"inference": "gibbs"}),
        (2, {"inference": "gibbs"}),
        (3, {"shared_kernel": False}),
        (3, {"inference": "gibbs", "shared_kernel": False}),
        (3, {"inference": "laplace", "shared_kernel": False, "learn": "auto"}),
        (3, {"learn": "importance", "kernel": None}),
        (3, {"inference": "gibbs", "learn": "mcmc", "kernel": None}),
        (2, {"inference": "gibbs", "learn": "mcmc", "kernel": None}),
    ],
    ids=str,
)
def test_models_come_back_from_files_and_pickles(classes, settings, tmp_path):
    X, y = blobs(30, classes)
    model = GPClassifier(**{"kernel": KERNEL, "learn": None, **FEW, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few draws
        model.fit(X, y)
    model.save(tmp_path / "model.ivm")
    for again in (load(tmp_path / "model.ivm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.get_params() == model.get_params()
        assert again.history_.keys() == model.history_.keys()
        assert str(again.relevances()) == str(model.relevances())


@pytest.mark.parametrize("inference", ["variational", "laplace", "gibbs"])
def test_classes_may_have_kernels_of_their_own(inference):
    """Given ones predict as a shared one does; learned ones tell columns of one class from those of another."""
    X, y = blobs(50)
    Z, _ = blobs(30, seed=1)
    settings = {"inference": inference, "n_samples": 600, "burn_in": 40, "evidence": None, "random_state": 0}
    one, each = (GPClassifier(KERNEL, learn=None, shared_kernel=s, **settings).fit(X, y) for s in (True, False))
    assert each.kernel_ == [KERNEL] * 3
    atol = 0.08 if inference == "gibbs" else 1e-6
    np.testing.assert_allclose(each.predict_proba(Z), one.predict_proba(Z), atol=atol)
    mean, std = each.predict_latent(Z)
    assert mean.shape == std.shape == (30, 3)
    two = GPClassifier(KERNEL, learn=None, shared_kernel=False, **settings).fit(*blobs(30, classes=2))
    assert two.kernel_ == KERNEL  # two classes have one function
    if inference == "gibbs":
        return
    apart = RBF([1.5, 1.5, 1.5], 5.0) + Bias()
    learned = GPClassifier(apart, shared_kernel=False, **settings).fit(X, y)
    assert len({repr(kernel) for kernel in learned.kernel_}) == 3
    assert learned.log_evidence_ > GPClassifier(apart, learn=learned.learn if inference == "laplace" else "bound",
                                                **settings).fit(X, y).log_evidence_  # fmt: skip
    assert learned.relevances().columns[0] == "column 0"


def test_many_rows_are_warned_of_and_memory_is_counted_before_it_is_taken(monkeypatch):
    X, y = blobs(60)
    monkeypatch.setattr(dense, "_MANY", 50)
    with pytest.warns(UserWarning, match="60 rows.*IVMClassifier is far faster"):
        GPClassifier(KERNEL, learn=None).fit(X, y)
    many = np.zeros((4000, 2)), np.arange(4000) % 3
    monkeypatch.setattr(dense, "_MANY", 5000)
    monkeypatch.setattr(dense, "fit_dense", lambda *_: pytest.fail("work has begun"))
    for inference in INFERENCES:
        with pytest.raises(ParameterError, match=r"4000 rows and 3 classes takes .* GB.*max_memory.*IVMClassifier"):
            GPClassifier(KERNEL, inference, max_memory="0.5GB").fit(*many)


CASES = {
    "way": ({"inference": "exact"}, "inference must be one of"),
    "learning": ({"learn": "cv"}, "learn must be one of"),
    "draws of the kernel without draws": ({"learn": "mcmc"}, "needs inference='gibbs'"),
    "logit without auxiliary variables": ({"likelihood": "logit"}, "no auxiliary variables"),
    "logit learned by the bound": ({"inference": "laplace", "learn": "bound"}, "is about the probit"),
    "no draws": ({"inference": "gibbs", "n_samples": 0}, "n_samples must be a whole number from 1"),
    "half a chain": ({"n_chains": 0.5}, "n_chains must be a whole number from 1"),
    "kernels of classes by EP": ({"shared_kernel": False, "inference": "ep"}, "one kernel for all of them"),
    "drawn kernels of classes": ({"shared_kernel": False, "learn": "importance"}, "one kernel for all classes"),
    "evidence": ({"evidence": "exact"}, "evidence must be one of"),
    "kernel by a wrong name": ({"kernel": "rgb"}, "is not understood"),
    "no length scales": ({"kernel": Linear(), "learn": "importance"}, "draws length scales"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_does_not_go_together_is_refused_with_a_remedy(case):
    settings, message = CASES[case]
    with pytest.raises(ParameterError, match=message):
        GPClassifier(**settings).fit(*blobs(20))


def test_a_failed_fit_keeps_the_last_model_and_one_class_is_none():
    X, y = blobs(20)
    model = GPClassifier(KERNEL, learn=None).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ParameterError, match="one class only"):
        model.fit(X, ["ash"] * 20)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_the_same_seed_gives_the_same_model_and_progress_is_told(capsys, monkeypatch):
    X, y = blobs(30)
    monkeypatch.setattr("infovec.estimators.dense_fit._EVERY", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few draws
        a, b = (GPClassifier(None, "gibbs", "auto", verbose=1, **FEW).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    told = capsys.readouterr().err
    assert "infovec: learning, criterion" in told
    assert "infovec: sweep" in told


def waves(n, p, classes, seed):
    """Rows of which three columns count, two of them only together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    f = 2.0 * X[:, 1] * X[:, 4] + 2.0 * np.sin(2.0 * X[:, 2]) + 0.3 * rng.normal(size=n)
    return X, np.digitize(f, [0.0] if classes == 2 else [-1.0, 1.0])


def log_loss(model, X, y):
    return -np.mean(model.predict_log_proba(X)[np.arange(len(y)), y])


@pytest.mark.parametrize("learn", ["auto", "ep", "bound", "laplace"])
def test_two_classes_find_the_columns_that_count_as_the_sparse_machine_does(learn):
    X, y = waves(1250, 12, 2, seed=1)
    model = GPClassifier(learn=learn, random_state=0).fit(X[:250], y[:250])
    sparse_one = IVMClassifier(n_active=1.0, random_state=0).fit(X[:250], y[:250])
    assert log_loss(model, X[250:], y[250:]) < log_loss(sparse_one, X[250:], y[250:]) + 0.05
    assert set(model.relevances().columns[:3]) == {"column 1", "column 2", "column 4"}
    assert model.history_["theta"].shape[1] == 12 + 2


@pytest.mark.parametrize("inference", ["variational", "laplace"])
def test_three_classes_find_the_columns_that_count(inference):
    X, y = waves(1200, 8, 3, seed=2)
    model = GPClassifier(inference=inference, random_state=0).fit(X[:200], y[:200])
    fewer = GPClassifier(inference=inference, random_state=0).fit(X[:200, [1, 2, 4]], y[:200])
    assert set(model.relevances().columns[:3]) == {"column 1", "column 2", "column 4"}
    assert log_loss(model, X[200:], y[200:]) < log_loss(fewer, X[200:][:, [1, 2, 4]], y[200:]) + 0.1


@pytest.mark.parametrize("learn", ["ep", "laplace"])
def test_columns_that_count_the_same_keep_their_proportions(learn):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5)) * [1.0, 10.0, 0.1, 1.0, 5.0]
    total = np.sum(X / X.std(axis=0), axis=1) + rng.normal(size=200)
    for y in (np.digitize(total, [0.0]), np.digitize(total, [-1.0, 1.0])):
        model = GPClassifier(learn=learn, likelihood="probit", random_state=0).fit(X, y)
        scales = model.kernel_.left.length_scale / length_scales(*column_spreads(X))
        np.testing.assert_allclose(scales, scales[0], rtol=1e-6)
        assert model.history_["theta"].shape[1] == 3
        assert len(model.relevances()) == 0
        assert "share one length scale" in model.relevances().note


def test_two_columns_of_which_one_counts_have_relevances_after_a_file_too(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 2))
    model = GPClassifier(random_state=0).fit(X, np.sin(3.0 * X[:, 1]) + 0.1 * rng.normal(size=150) > 0.0)
    assert model.history_["theta"].shape[1] == 2 + 2
    model.save(tmp_path / "two.ivm")
    again = load(tmp_path / "two.ivm")
    for one in (model, again):
        assert one.relevances().columns[0] == "column 1"
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("learn", ["ep", "bound", "laplace"])
def test_of_many_columns_those_that_say_nothing_are_switched_off(learn):
    X, y = waves(1220, 70, 2, seed=5)
    y = (2.0 * X[:, 1] + 2.0 * np.sin(2.0 * X[:, 2]) > 0.0).astype(int)
    model = GPClassifier(learn=learn, random_state=0).fit(X[:220], y[:220])
    found = model.relevances()
    assert set(found.columns[:2]) == {"column 1", "column 2"}
    assert np.sum(found.relevance > 1e-3) < 10
    assert log_loss(model, X[220:], y[220:]) < 0.25


def test_kernels_that_are_given_keep_the_length_scales_they_have():
    X, y = waves(150, 5, 2, seed=6)
    model = GPClassifier(RBF(2.0) + Bias(), random_state=0).fit(X, y)
    assert np.ndim(model.kernel_.left.length_scale) == 0
    named = GPClassifier("matern", random_state=0).fit(X, y)
    assert len(named.relevances()) == 5
