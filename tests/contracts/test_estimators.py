"""Estimators as scikit-learn, pandas and careless users use them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from fixed import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from scipy import sparse, stats
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import infovec
from infovec.kernels import (
    MLP,
    RBF,
    Bias,
    FromFunction,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Relevance,
    White,
)
from infovec.likelihoods import Gaussian, Likelihood, Logit, Ordinal, Poisson, Probit
from infovec.likelihoods.tails import residual_density

# checks of how X and y are read, with a fit for every kind of array and nothing that learning has a part in
OF_INPUTS = (
    "check_estimator_sparse",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_positive_only_tag_during_fit",
)


@pytest.mark.filterwarnings("ignore:IVMOrdinalClassifier orders the categories")
@parametrize_with_checks(
    [
        infovec.IVMClassifier(),
        infovec.IVMRegressor(),
        infovec.IVMOrdinalClassifier(),
        infovec.GPClassifier(),
        infovec.IVMRegressor(target="auto"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    if any(check.func.__name__.startswith(name) for name in OF_INPUTS):
        estimator.set_params(learn=None)
    check(estimator)


@pytest.mark.parametrize("Estimator", [infovec.IVMClassifier, infovec.IVMRegressor])
def test_sparse_inputs_are_learned_from_as_dense_ones(Estimator):
    X, y = blobs(80)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, csr = (Estimator(dtype="float64", random_state=0).fit(V, y) for V in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(csr.kernel_.theta, dense.kernel_.theta, atol=1e-4)
    np.testing.assert_allclose(csr.predict_latent(X)[0], dense.predict_latent(X)[0], atol=1e-4)


def blobs(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, 4)) + 2.0 * y[:, None] * [1, -1, 0, 0], y


def ordered(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + 0.3 * X[:, 1] + 0.2 * rng.normal(size=n), [-0.7, 0.0, 0.8])


def test_pandas_frames_with_string_labels():
    X, y = blobs()
    frame = pd.DataFrame(X, columns=["height", "width", "depth", "mass"])
    labels = pd.Series(np.where(y, "sick", "healthy"), dtype="string")
    model = IVMClassifier(n_active=40, random_state=0).fit(frame, labels)
    assert list(model.classes_) == ["healthy", "sick"]
    assert list(model.feature_names_in_) == ["height", "width", "depth", "mass"]
    assert model.score(frame, labels) > 0.85
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["width", "height", "depth", "mass"]])


@pytest.mark.parametrize("Estimator", [IVMClassifier, IVMRegressor, IVMOrdinalClassifier])
def test_every_kind_of_array_gives_the_same_predictions(Estimator):
    X, y = blobs()
    X = np.round(X, 2).astype(np.float32)
    read_only = X.astype(np.float64)
    read_only.setflags(write=False)
    variants = {
        "float32": X,
        "float64": X.astype(np.float64),
        "Fortran order": np.asfortranarray(X),
        "read-only": read_only,
        "CSR": sparse.csr_matrix(X),
        "CSR array": sparse.csr_array(X),
        "CSC": sparse.csc_matrix(X),
        "list": X.tolist(),
        "strided": np.repeat(X, 2, axis=0)[::2],
    }
    settings = {"kernel": RBF(2.0, 5.0) + Bias(), "n_active": 30, "initial": [0], "dtype": "float64"}
    expected = Estimator(**settings).fit(X.astype(np.float64), y).predict_latent(X.astype(np.float64))[0]
    for name, variant in variants.items():
        model = Estimator(**settings).fit(variant, y)
        np.testing.assert_allclose(model.predict_latent(variant)[0], expected, atol=1e-5, err_msg=name)
    assert sparse.issparse(Estimator(**settings).fit(sparse.csr_matrix(X), y).active_vectors_)


@pytest.mark.parametrize("kernel", [None, Linear() + Bias(), Matern(2.0)], ids=str)
def test_csr_with_default_and_other_kernels(kernel):
    X, y = blobs()
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = IVMClassifier(kernel=kernel, n_active=30, initial=[0], dtype="float64").fit(X, y)
    csr = IVMClassifier(kernel=kernel, n_active=30, initial=[0], dtype="float64").fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(csr.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-6)


def test_pipelines_searches_and_clones():
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), IVMClassifier(n_active=30, random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85
    search = GridSearchCV(
        IVMClassifier(n_active=30, random_state=0),
        {"kernel": [RBF(0.1), RBF(2.0, 10.0)], "score": ["entropy", "random"]},
        scoring="neg_log_loss", cv=3,
    ).fit(X, y)  # fmt: skip
    assert search.best_params_["kernel"] == RBF(2.0, 10.0)
    model = IVMClassifier(score="information_gain", kernel=RBF(3.0))
    twin = clone(model)
    assert twin.get_params()["score"] == "information_gain"
    assert twin.kernel == RBF(3.0)
    assert model.set_params(score="random").get_params()["score"] == "random"
    assert "score='random'" in repr(model)
    assert OneVsRestClassifier(IVMClassifier(n_active=40, random_state=0)).fit(*ordered()).score(*ordered()) > 0.8


def test_probabilities_are_honest_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)  # raw: columns differ in scale by a factor 1e5
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:400], order[400:]
    model = IVMClassifier(n_active=150, random_state=0).fit(X[train], y[train])
    proba = model.predict_proba(X[test])
    assert model.score(X[test], y[test]) > 0.94
    assert log_loss(y[test], proba) < 0.2
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_log_proba(X[test]), np.log(proba), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(model.decision_function(X[test]) > 0, proba[:, 1] > 0.5)
    mean, std = model.predict_latent(X[test])
    np.testing.assert_allclose(model.predict_latent(X[test], return_std=False), mean, rtol=1e-10)
    assert np.all(std > 0)


def test_logit_and_probit_agree_roughly():
    X, y = blobs(400)
    a, b = (IVMClassifier(likelihood=v, n_active=80, random_state=0).fit(X, y) for v in ("probit", "logit"))
    assert isinstance(b.likelihood_, Logit)
    assert np.corrcoef(a.predict_proba(X)[:, 1], b.predict_proba(X)[:, 1])[0, 1] > 0.95


def test_unbalanced_classes_set_the_bias():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.zeros(500, dtype=int)
    y[:15] = 1
    X[:15] += 2.5
    model = IVMClassifier(n_active=100, random_state=0).fit(X, y)
    assert model.likelihood_.bias == pytest.approx(ndtri(15 / 500))
    assert np.mean(model.predict_proba(X)[:, 1]) == pytest.approx(0.03, abs=0.03)


def test_regression_on_raw_targets_with_calibrated_errors():
    X, y = load_diabetes(return_X_y=True)
    y = 1e4 + 50.0 * y
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:300], order[300:]
    model = infovec.IVMRegressor(n_active=200, random_state=0).fit(X[train], y[train])
    mean, std = model.predict(X[test], return_std=True)
    assert model.score(X[test], y[test]) > 0.3
    within = np.mean(np.abs(y[test] - mean) < 2 * std)
    assert 0.9 < within < 1.0
    np.testing.assert_allclose(model.predict(X[test]), mean)
    density = model.log_density(X[test], y[test])
    residual = residual_density(model.residual_quantiles_)
    expected = stats.t.logpdf((y[test] - mean) / std, residual.df, scale=residual.scale) - np.log(std)
    np.testing.assert_allclose(density, expected, rtol=1e-10)
    normal = -0.5 * (np.log(2 * np.pi * std**2) + ((y[test] - mean) / std) ** 2)
    assert density.mean() == pytest.approx(normal.mean(), abs=0.01)  # residuals are nearly normal here


@pytest.mark.filterwarnings("ignore:the model says nearly the same")  # one of noise alone
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student_t", "poisson"])
def test_every_likelihood_by_name(likelihood):
    rng = np.random.default_rng(0)
    x = np.linspace(-2, 2, 150)[:, None]
    rate = np.exp(1.0 + np.sin(2 * x[:, 0]))
    y = rng.poisson(rate).astype(float)
    model = IVMRegressor(likelihood=likelihood, n_active=60, random_state=0).fit(x, y)
    mean, std = model.predict(x, return_std=True)
    assert np.sqrt(np.mean((mean - rate) ** 2)) < (1.6 if likelihood == "student_t" else 1.2)
    assert np.sqrt(np.mean(std**2)) == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)), rel=0.5)
    alone = IVMRegressor(kernel=RBF(1.0, 1e-9), likelihood=model.likelihood_, n_active=60, random_state=0).fit(x, y)
    assert model.log_evidence_ > alone.log_evidence_ + 20.0  # a function explains them better than noise alone


def test_a_variance_for_each_row():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 5, 100)[:, None]
    variance = np.where(x[:, 0] < 2.5, 0.001, 4.0)
    y = np.sin(x[:, 0]) + np.sqrt(variance) * rng.normal(size=100)
    model = IVMRegressor(kernel=RBF(1.0), likelihood=Gaussian(variance), n_active=1.0, random_state=0, dtype="float64")
    model.set_params(approximation="factorised").fit(x, y)
    error = np.abs(model.predict_latent(x)[0] - np.sin(x[:, 0]))
    assert error[x[:, 0] < 2.4].max() < 0.1
    np.testing.assert_allclose(model.site_precision_, 1.0 / variance[model.active_])


def test_ordered_categories():
    X, y = ordered()
    model = IVMOrdinalClassifier(n_active=100, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.mean(np.abs(model.predict(X) - y)) < 0.25
    words = np.array(["never", "sometimes", "often", "always"])
    named = IVMOrdinalClassifier(categories=words, n_active=100, random_state=0).fit(X, words[y])
    assert list(named.categories_) == list(words)
    assert list(named.classes_) == sorted(words)
    np.testing.assert_allclose(named.predict_proba(X)[:, [1, 3, 2, 0]], model.predict_proba(X))
    gap = IVMOrdinalClassifier(categories=[0, 1, 2, 3, 4], n_active=50).fit(X, y)  # 4 never occurs
    assert gap.predict_proba(X).shape == (200, 5)


def test_objects_and_precomputed_kernels():
    words = ["ant", "bee", "cat", "dog", "elk", "fox"] * 5 + ["12", "345", "67", "890", "24", "531"] * 5
    y = ["word"] * 30 + ["number"] * 30

    def share(X, Z):
        sets = [[set(v) for v in side] for side in (X, Z)]
        return np.array([[len(a & b) for b in sets[1]] for a in sets[0]], dtype=float)

    model = IVMClassifier(kernel=FromFunction(share), n_active=20, random_state=0).fit(words, y)
    assert list(model.predict(["bat", "999"])) == ["word", "number"]
    rows = np.arange(60)[:, None]
    same = IVMClassifier(kernel=Precomputed(share(words, words)), n_active=20, random_state=0).fit(rows, y)
    np.testing.assert_allclose(same.predict_proba(rows), model.predict_proba(words), atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 20])
def test_few_rows(n):
    X, y = blobs(20)
    target = X[:, 0] + 3.0
    mean = IVMRegressor(random_state=0).fit(X[:n], target[:n]).predict(X)
    if n == 1:
        np.testing.assert_allclose(mean, target[0])  # all that is known
    elif n == 2:  # what one row says of the other is what the other says of it
        assert mean[:2].sum() == pytest.approx(target[:2].sum())
        assert np.all(np.abs(mean[:2] - target[:2]) < 0.3 * np.ptp(target[:2]))
    else:
        assert np.corrcoef(mean, target)[0, 1] > 0.98
    if n > 1:
        y[:2] = [0, 1]
        proba = IVMClassifier(random_state=0).fit(X[:n], y[:n]).predict_proba(X[:2])
        assert np.all(np.diagonal(proba) > 0.8)
        if n == 2:
            assert proba[0, 0] == pytest.approx(proba[1, 1], abs=1e-4)


def test_duplicate_rows_and_constant_columns():
    X, y = blobs(60)
    X = np.hstack([np.vstack([X] * 5), np.full((300, 1), 7.0)])
    y = np.tile(y, 5)
    model = IVMClassifier(n_active=300, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.all(np.isfinite(model.predict_proba(X + 1.0)))
    everything_constant = IVMRegressor(random_state=0).fit(np.ones((30, 3)), np.full(30, 5.0))
    np.testing.assert_allclose(everything_constant.predict(np.ones((2, 3))), 5.0)


def with_value(value):
    X, y = blobs()
    X[3, 2] = value
    return X, y


BAD = {
    "infinity": (IVMRegressor(), *with_value(np.inf), "Row 3, column 2.*contains infinity.*make it NaN; else drop"),
    "one class": (IVMClassifier(), blobs()[0], np.ones(150), "one class only.*two classes"),
    "one category": (IVMOrdinalClassifier(), blobs()[0], np.ones(150), "one class only.*two categories"),
    "gap in ordinal labels": (
        IVMOrdinalClassifier(), ordered()[0], np.array([0, 1, 3, 4])[ordered()[1]],
        "2 does not occur.*categories=",
    ),
    "categories that miss a label": (IVMOrdinalClassifier(categories=[0, 1, 2]), *ordered(), r"missing: \[3\]"),
    "too few thresholds": (IVMOrdinalClassifier(likelihood=Ordinal([0.0])), *ordered(), "give 3 thresholds"),
    "n_active zero": (IVMClassifier(n_active=0), *blobs(), "n_active must be a whole number from 1"),
    "n_active negative": (IVMClassifier(n_active=-3), *blobs(), "n_active must be"),
    "n_active too large a fraction": (IVMClassifier(n_active=1.5), *blobs(), "n_active must be"),
    "n_active text": (IVMClassifier(n_active="many"), *blobs(), "n_active must be"),
    "text in X": (IVMClassifier(), [["a", "b"], ["c", "d"]], [0, 1], "text where numbers belong.*DataFrame"),
    "a label that is missing": (
        IVMClassifier(), blobs()[0], np.array(["a", np.nan, "b"] * 50, dtype=object),
        "row 1 of y has no label.*drop such rows",
    ),
    "text as targets": (IVMRegressor(), blobs()[0], ["x"] * 150, "text where numbers belong"),
    "unknown score": (IVMClassifier(score="luck"), *blobs(), "score must be one of"),
    "unknown likelihood": (IVMClassifier(likelihood="normal"), *blobs(), "likelihood must be a Likelihood or one of"),
    "likelihood for numbers": (IVMClassifier(likelihood=Gaussian()), *blobs(), "use IVMRegressor"),
    "likelihood for classes": (IVMRegressor(likelihood=Probit()), *blobs(), "use IVMClassifier"),
    "kernel by a wrong name": (IVMClassifier(kernel="rgb + linear"), *blobs(), "is not understood.*the names are rbf"),
    "kernel of another kind": (IVMClassifier(kernel=3), *blobs(), "kernel must be None"),
    "counts that are negative": (
        IVMRegressor(likelihood=Poisson()), blobs()[0], blobs()[0][:, 0], "targets must be counts",
    ),
    "length scales": (IVMClassifier(kernel=RBF([1.0, 2.0])), *blobs(), "2 entries, but the inputs have 4 columns"),
    "approximation": (IVMClassifier(approximation="magic"), *blobs(), "approximation must be one of"),
    "learn": (IVMClassifier(learn="by heart"), *blobs(), "learn must be one of"),
    "dtype": (IVMClassifier(dtype="float16"), *blobs(), "dtype must be one of"),
    "block_size": (IVMClassifier(block_size=0), *blobs(), "block_size must be a whole number"),
    "unequal lengths": (IVMClassifier(), blobs()[0], [0, 1], "inconsistent numbers of samples"),
    "objects and targets": (
        IVMClassifier(kernel=FromFunction(lambda X, Z: np.ones((len(X), len(Z))))), ["a", "b", "c"], [0, 1],
        "3 objects, y has 2 targets",
    ),
    "NaN in y": (IVMRegressor(), blobs()[0], with_value(np.nan)[0][:, 2], "row 3"),
    "score with NaN": (IVMRegressor(score=lambda *a: np.nan * a[0]), *blobs(), "none of them NaN"),
    "score of one number": (IVMRegressor(score=lambda *a: 1.0), *blobs(), "one number for each"),
    "kernel with NaN": (
        IVMRegressor(kernel=FromFunction(lambda X, Z: np.full((len(X), len(Z)), np.nan))), ["a", "b"], [0.0, 1.0],
        "kernel is not finite",
    ),
    "pairwise function": (
        IVMRegressor(kernel=FromFunction(lambda a, b: float(a is b))), ["a", "b"], [0.0, 1.0], "must return a len",
    ),
    "Gram matrix as X": (IVMClassifier(kernel=Precomputed(np.eye(150))), np.eye(150), blobs()[1], "np.arange"),
    "categories twice": (IVMOrdinalClassifier(categories=[0, 1, 1, 2, 3]), *ordered(), "distinct labels"),
    "own likelihood for classes": (IVMClassifier(likelihood=Poisson()), *blobs(), "Discrete"),
    "initial as one number": (IVMClassifier(initial=5), *blobs(), "initial must be a list"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_with_a_remedy(case):
    estimator, X, y, message = BAD[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        clone(estimator).fit(X, y)


def test_bad_input_at_prediction_loses_nothing():
    X, y = blobs()
    model = IVMClassifier(n_active=20, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="X has 3 features, but IVMClassifier is expecting 4 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(with_value(np.nan)[0])
    with pytest.raises(ValueError, match="one class only"):
        clone(model).fit(X, np.zeros(150))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_failed_fit_keeps_the_model_of_the_last_good_one():
    X, y = blobs()
    model = IVMClassifier(n_active=20, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    for bad in ((X[:, :2], np.zeros(150)), (with_value(np.inf)[0], y)):
        with pytest.raises(ValueError, match=r"class|infinity"):
            model.fit(*bad)
    with pytest.raises(ValueError, match="n_active"):
        model.set_params(n_active=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert list(model.classes_) == [0, 1]


def test_outliers_do_not_move_student_t_noise():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.uniform(0, 10, 200))[:, None]
        y = np.sin(x[:, 0]) + 0.1 * rng.normal(size=200)
        y[rng.choice(200, 20, replace=False)] += 5.0 * rng.normal(size=20)
        model = IVMRegressor(likelihood="student_t", random_state=seed).fit(x, y)
        assert np.sqrt(np.mean((model.predict(x) - np.sin(x[:, 0])) ** 2)) < 0.15


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_with_an_offset_lose_nothing(offset, dtype, monkeypatch):
    monkeypatch.setattr("infovec.machines.prepare.SMALL_STUBS", 0)  # single precision even for few rows
    x = np.round(np.random.default_rng(0).uniform(-3, 3, (150, 1)), 3)
    y = np.sin(x[:, 0])
    model = IVMRegressor(n_active=60, dtype=dtype, random_state=0).fit(x + offset, y)
    assert model.score(x + offset, y) > 0.95
    np.testing.assert_array_equal(model.active_vectors_, (x + offset)[model.active_])


@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, -7e5])
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student_t"])
def test_constant_targets(value, likelihood):
    x = np.linspace(0, 1, 50)[:, None]
    model = IVMRegressor(likelihood=likelihood, n_active=20, random_state=0).fit(x, np.full(50, value))
    mean, std = model.predict(x, return_std=True)
    unit = abs(value) or 1.0  # nothing else is known of how far they spread
    np.testing.assert_allclose(mean, value, atol=1e-6 * unit)
    assert np.all((std > 0.1 * unit) & (std < 10.0 * unit))


def test_when_no_row_is_informative_the_prior_predicts():
    x = np.linspace(0, 1, 30)[:, None]
    model = IVMRegressor(likelihood="poisson", random_state=0).fit(x, np.zeros(30))  # a fold without events
    rate = model.predict(x)
    assert np.all(rate < 0.01)
    before = np.exp(model.likelihood_.bias + 0.5 * model.kernel_.diag(x))  # log E exp(-S) is the mean of -S on the way
    assert -np.sum(before) < model.log_evidence_ < -np.sum(rate)  # from before to after nothing was counted
    flat = IVMClassifier(kernel=RBF(1.0, 1e-12), random_state=0).fit(x, np.arange(30) % 2)
    assert len(flat.active_) == 0
    assert "informative" in flat.stop_reason_
    np.testing.assert_allclose(flat.predict_proba(x), 0.5)
    assert flat.log_evidence_ == pytest.approx(30 * np.log(0.5))
    assert flat.posterior_.relative_entropy() == 0.0


def test_large_counts():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (150, 1))
    y = np.round(np.exp(14 + np.sin(x[:, 0])))
    model = IVMRegressor(likelihood="poisson", n_active=100, random_state=0).fit(x, y)
    assert model.score(x, y) > 0.8


def test_the_order_of_a_categorical_is_kept_and_words_are_warned_of():
    X, y = ordered()
    words = ["never", "sometimes", "often", "always"]
    grades = pd.Series(pd.Categorical.from_codes(y, words, ordered=True))
    model = IVMOrdinalClassifier(n_active=60, random_state=0).fit(X, grades)
    assert list(model.categories_) == words
    assert list(model.classes_) == sorted(words)
    assert model.score(X, grades) > 0.8
    with pytest.warns(UserWarning, match="alphabetically: always, never, often, sometimes"):
        IVMOrdinalClassifier(n_active=20).fit(X, np.array(words)[y])


def test_every_kernel_takes_csr():
    X, y = blobs()
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    for kernel in (Periodic(RBF(2.0), 9.0), Relevance(RBF(), 0.5), Matern(2.0) * MLP(), Polynomial() + White(0.1)):
        dense = IVMClassifier(kernel=kernel, n_active=20, initial=[0]).fit(X, y)
        csr = IVMClassifier(kernel=kernel, n_active=20, initial=[0]).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(csr.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-6)


def test_a_likelihood_of_the_users_own():
    @dataclass(frozen=True, eq=False, repr=False)
    class Own(Likelihood):
        noise: float = 0.2

        def log_prob(self, y, f):
            return -0.5 * (((y - f) / self.noise) ** 2 + np.log(2 * np.pi * self.noise**2))

        def predict(self, mean, var):
            return mean, var + self.noise**2  # a plain tuple will do

    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (80, 1))
    y = np.sin(x[:, 0]) + 0.2 * rng.normal(size=80)
    settings = {"kernel": RBF(1.0), "n_active": 30, "initial": [0], "score": "entropy"}
    own = IVMRegressor(likelihood=Own(), **settings).fit(x, y)
    built_in = IVMRegressor(likelihood=Gaussian(0.04), **settings).fit(x, y)
    for a, b in zip(own.predict(x, return_std=True), built_in.predict(x, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert Own(0.1) != Own(0.3)
    assert "noise=0.3" in repr(Own(0.3))


def test_settings_that_are_forgiven():
    X, y = blobs()
    mask = np.zeros(150, dtype=bool)
    mask[[4, 7]] = True
    assert list(IVMClassifier(initial=mask, n_active=5).fit(X, y).active_[:2]) == [4, 7]
    assert len(IVMClassifier(initial=[], n_active=5, dtype=np.float64).fit(X, y).active_) == 5
    assert len(repr(IVMClassifier(n_active=30).fit(X, y).posterior_)) < 200
    frame = pd.DataFrame({"word": ["aa", "ab", "bb", "ba"]})
    kernel = FromFunction(lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A]))
    assert list(IVMClassifier(kernel=kernel).fit(frame, [0, 0, 1, 1]).predict(frame)) == [0, 0, 1, 1]
