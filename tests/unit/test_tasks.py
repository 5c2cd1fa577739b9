"""Several tasks: independent given shared parameters, or correlated; labels of any type."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal

from infovec import IVMClassifier, IVMRegressor, load
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias, Coregion, Tasks
from infovec.learning import EvidenceByTask, LearnedRows, Model, ProjectedEvidence
from infovec.likelihoods import Gaussian, Poisson, Probit
from infovec.machines.by_task import evidence_by_task, whole_tasks
from infovec.machines.data import Data
from infovec.machines.sample import Sample

B = np.array([[1.0, 0.8, -0.5], [0.8, 1.2, -0.2], [-0.5, -0.2, 0.7]])
LABELS = {
    "texts": np.array(["north", "east", "west"]),
    "objects": np.array(["north", "east", "west"], dtype=object),
    "numbers": np.array([7, -2, 10**12]),
    "fractions": np.array([0.5, 0.25, 1e-9]),
    "truth": np.array([True, False, True]),
}


def draws(n=25, seed=0, noise=0.2):
    """Rows of three correlated tasks, in any order."""
    rng = np.random.default_rng(seed)
    task = rng.permutation(np.repeat(np.arange(3), n))
    X = rng.uniform(-3.0, 3.0, size=(3 * n, 2))
    f = np.linalg.cholesky(RBF(1.2)(X) * B[np.ix_(task, task)] + 1e-9 * np.eye(3 * n)) @ rng.normal(size=3 * n)
    return X, f + noise * rng.normal(size=3 * n), task, f


@pytest.mark.parametrize("approximation", ["projected", "factorised"])
def test_one_task_is_no_task(approximation):
    X, y, *_ = draws()
    for estimator, target in ((IVMRegressor, y), (IVMClassifier, y > 0.0)):
        settings = {"n_active": 40, "approximation": approximation, "random_state": 0}
        plain = estimator(kernel=RBF() + Bias(), **settings).fit(X, target)
        alone = estimator(kernel=Tasks(RBF() + Bias()), **settings).fit(X, target, groups=["the only one"] * len(y))
        assert list(alone.active_) == list(plain.active_)
        np.testing.assert_allclose(alone.kernel_.theta, plain.kernel_.theta, rtol=1e-8)
        latent = alone.predict_latent(X, groups=["the only one"] * len(y))
        np.testing.assert_allclose(latent, plain.predict_latent(X), rtol=1e-7, atol=1e-9)


def test_tasks_are_fits_of_their_own_with_shared_parameters():
    X, y, task, _ = draws()
    kernel, likelihood = RBF(1.1, 2.0) + Bias(0.3), Probit(0.2)
    settings = {"likelihood": likelihood, "learn": None, "n_active": 1.0, "random_state": 0}
    together = IVMClassifier(kernel=Tasks(kernel), **settings).fit(X, y > 0.0, groups=task)
    evidence = 0.0
    for t in range(3):
        own = task == t
        alone = IVMClassifier(kernel=kernel, **settings).fit(X[own], y[own] > 0.0)
        evidence += alone.log_evidence_
        latent = together.predict_latent(X, groups=np.full(len(X), t))
        np.testing.assert_allclose(latent, alone.predict_latent(X), rtol=2e-4, atol=1e-4)
    assert together.log_evidence_ == pytest.approx(evidence, abs=1e-5)


@pytest.mark.parametrize("rank", [1, 2])
def test_the_evidence_of_correlated_tasks_is_that_of_the_dense_model(rank):
    X, y, task, _ = draws()
    W = np.array([[0.9, 0.1], [0.5, -0.6], [-0.4, 0.8]])[:, :rank]
    kappa = np.array([0.2, 0.5, 0.1])
    kernel = Coregion(RBF(1.2, 1.5), rank=rank, loadings=W, kappa=kappa)
    settings = {"likelihood": Gaussian(0.04), "learn": None, "n_active": 1.0, "random_state": 0}
    model = IVMRegressor(kernel=kernel, **settings).fit(X, y, groups=task)
    distance = np.sum((X[:, None] - X) ** 2, axis=-1)
    K = 1.5 * np.exp(-0.5 * distance / 1.2**2) * (W @ W.T + np.diag(kappa))[task[:, None], task]
    dense = multivariate_normal(np.zeros(len(y)), K + 0.04 * np.eye(len(y))).logpdf(y)
    assert model.log_evidence_ == pytest.approx(dense, rel=1e-6)


def test_correlations_are_learned():
    found = []
    for seed in range(3):
        rng, task = np.random.default_rng(seed), np.repeat(np.arange(3), 70)
        X = rng.uniform(-8.0, 8.0, size=(len(task), 1))
        K = RBF(1.0)(X) * B[np.ix_(task, task)] + 1e-8 * np.eye(len(task))
        y = np.linalg.cholesky(K) @ rng.normal(size=len(task)) + 0.1 * rng.normal(size=len(task))
        model = IVMRegressor(kernel=Coregion(RBF(), rank=2), random_state=0).fit(X, y, groups=task)
        found.append(model.kernel_.correlation[np.triu_indices(3, 1)])
    true = (B / np.sqrt(np.outer(np.diagonal(B), np.diagonal(B))))[np.triu_indices(3, 1)]
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert np.all(np.abs(np.mean(found, axis=0) - true) < 4.0 * error + 0.02)
    assert np.mean(found, axis=0)[0] > 0.4 > -0.1 > np.mean(found, axis=0)[1]


def test_counts_and_classes_of_correlated_tasks():
    """The first task has few rows, and those of others to learn from."""
    rng, task = np.random.default_rng(4), np.repeat(np.arange(3), 60)
    X = rng.uniform(-8.0, 8.0, size=(180, 1))
    alike = np.array([[1.0, 0.9, -0.5], [0.9, 1.2, -0.2], [-0.5, -0.2, 0.7]])
    K = RBF(1.2)(X) * alike[np.ix_(task, task)] + 1e-9 * np.eye(180)
    f = 2.0 * np.linalg.cholesky(K) @ rng.normal(size=180)
    few = np.flatnonzero((task > 0) | (np.cumsum(task == 0) <= 12))
    rest = np.setdiff1d(np.arange(180), few)
    for make, y in ((IVMClassifier, (f > 0.0) * 1), (IVMRegressor, rng.poisson(np.exp(1.0 + 0.5 * f)))):
        settings = {"likelihood": "poisson" if make is IVMRegressor else "probit", "n_active": 60, "random_state": 0}
        models = [make(kernel=kernel(RBF()), **settings) for kernel in (Coregion, Tasks)]
        together, apart = (model.fit(X[few], y[few], groups=task[few]) for model in models)
        assert together.log_evidence_ > apart.log_evidence_ + 1.0
        losses = [
            -np.mean(np.log(model.predict_proba(X[rest], groups=task[rest])[np.arange(len(rest)), y[rest]]))
            if make is IVMClassifier
            else -np.mean(model.log_density(X[rest], y[rest], groups=task[rest]))
            for model in (together, apart)
        ]
        assert losses[0] < losses[1] + 0.05
    assert models[1].score(X[few], y[few], groups=task[few]) > 0.3


def test_many_classes():
    X, y, task, _ = draws(40)
    label = np.digitize(y, [-0.5, 0.5])
    model = IVMClassifier(kernel=Tasks(RBF() + Bias()), n_active=60, random_state=0).fit(X, label, groups=task)
    proba = model.predict_proba(X, groups=task)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)
    assert np.mean(model.predict(X, groups=task) == label) > 0.7


@pytest.mark.filterwarnings("ignore:the model says nearly the same")  # two tasks of several in one explain little
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_are_the_same_as_numbers_in_a_column(kind, tmp_path):
    X, y, task, _ = draws()
    labels = LABELS[kind][task]
    _, code = np.unique(labels, return_inverse=True)
    settings = {"n_active": 30, "random_state": 0}
    by_label = IVMRegressor(kernel=Tasks(RBF()), **settings).fit(X, y, groups=labels)
    by_number = IVMRegressor(kernel=Tasks(RBF(), column=0), **settings).fit(np.column_stack([code, X]), y)
    frame = pd.DataFrame({"a": X[:, 0], "place": code, "b": X[:, 1]})
    by_name = IVMRegressor(kernel=Tasks(RBF(), "place"), **settings).fit(frame, y)
    mean = by_label.predict(X, groups=labels)
    np.testing.assert_allclose(mean, by_number.predict(np.column_stack([code, X])), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mean, by_name.predict(frame), rtol=1e-6, atol=1e-9)
    assert (by_label.kernel_.column, by_number.kernel_.column, by_name.kernel_.column) == (2, 0, 1)
    assert by_label.n_features_in_ == 2
    by_label.save(tmp_path / "m.ivm")
    again = load(tmp_path / "m.ivm")
    assert list(again.tasks_) == list(np.unique(labels))
    np.testing.assert_array_equal(again.predict(X, groups=labels), mean)


@pytest.mark.parametrize("kernel", [Tasks(RBF(1.0, 2.0)), Coregion(RBF(1.0, 2.0))], ids=str)
def test_a_new_task_has_the_prior(kernel):
    X, y, task, _ = draws()
    model = IVMRegressor(kernel=kernel, random_state=0).fit(X, y, groups=task)
    mean, std = model.predict_latent(X[:4], groups=["new", "newer", "new", "newer"])
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    fitted = model.kernel_
    average = np.mean(np.diagonal(fitted.covariance)) if isinstance(fitted, Coregion) else 1.0
    np.testing.assert_allclose(std**2, average * fitted.kernel.variance, rtol=1e-9)


def test_new_tasks_are_alike_only_where_their_labels_are():
    kernel = Coregion(RBF(), 0, 1, loadings=[1.0, 0.5], kappa=[0.1, 0.3])
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [9.0, 0.0], [5.0, 0.0]])
    average = (1.1 + 0.55) / 2
    expected = np.zeros((5, 5))
    expected[:2, :2] = [[1.1, 0.5], [0.5, 0.55]]
    expected[2, 2] = expected[3, 3] = expected[4, 4] = expected[2, 4] = expected[4, 2] = average
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


def evidences(likelihood, y, seed=0):
    """The evidence of tasks, added up in bundles, and that of all rows at once."""
    rng = np.random.default_rng(seed)
    task = rng.permutation(np.repeat(np.arange(30), 12)).astype(np.float64)
    X = np.column_stack([rng.uniform(-3.0, 3.0, size=(360, 1)), task])
    y, rows = y(rng, X), np.arange(360)
    given = LearnedRows(rows, X, y)
    kernel = Tasks(RBF(1.2, 1.5) + Bias(0.3), 1)
    sample = Sample.of(X, y)
    data = Data(X, y, sample, rng.random(360), np.zeros(360, dtype=bool))
    return (
        evidence_by_task(data, kernel, given, 1e-8),
        ProjectedEvidence(given, rows, 1e-8),
        Model.begin(kernel, likelihood),
        data,
    )


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [
        (Gaussian(0.3), lambda rng, X: np.sin(X[:, 0] + X[:, 1]) + rng.normal(size=len(X))),
        (Probit(0.1), lambda rng, X: np.sign(np.sin(X[:, 0] + X[:, 1]) + rng.normal(size=len(X)))),
        (Poisson(0.2), lambda rng, X: rng.poisson(np.exp(np.sin(X[:, 0] + X[:, 1]))).astype(float)),
    ],
    ids=["gaussian", "probit", "poisson"],
)
def test_the_evidence_of_bundles_of_tasks_is_that_of_all_rows(likelihood, y):
    parts, whole, model, _ = evidences(likelihood, y)
    assert len(parts.parts) > 1
    assert sorted(np.concatenate([part.given.rows for part in parts.parts])) == list(range(360))
    for other in (model, model.with_theta(0.3 + model.theta)):
        (value, gradient), (expected, slope) = parts(other), whole(other)
        assert value == pytest.approx(expected, rel=1e-7)
        np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-5)
        assert parts.left_out(other) == pytest.approx(whole.left_out(other), rel=2e-3)


def test_rows_to_learn_from_are_whole_tasks():
    *_, model, data = evidences(Gaussian(0.3), lambda rng, X: rng.normal(size=len(X)))
    rows = whole_tasks(data, model.kernel, 100)
    tasks, counts = np.unique(data.X[rows, 1], return_counts=True)
    assert len(rows) == 96
    assert len(tasks) == 8
    assert np.all(counts == 12)
    assert np.array_equal(whole_tasks(data, model.kernel, 10_000), np.arange(360))


def test_learning_goes_bundle_by_bundle(monkeypatch):
    made = []
    monkeypatch.setattr(EvidenceByTask, "__call__", lambda self, model, call=EvidenceByTask.__call__: (
        made.append(len(self.parts)), call(self, model))[1])  # fmt: skip
    rng, task = np.random.default_rng(0), np.repeat(np.arange(60), 10)
    X = rng.uniform(-3.0, 3.0, size=(600, 1))
    y = np.sin(X[:, 0] + task) + 0.2 * rng.normal(size=600)
    model = IVMRegressor(kernel=Tasks(RBF()), n_active=300, random_state=0).fit(X, y, groups=task)
    assert min(made) == 3
    assert model.likelihood_.variance == pytest.approx(0.04, rel=0.3)


def test_relevances_are_those_of_the_other_columns():
    X, y, task, _ = draws()
    frame = pd.DataFrame({"a": X[:, 0], "place": task, "b": X[:, 1]})
    by_name = IVMRegressor(kernel=Tasks(RBF([1.0, 2.0]), "place"), learn=None).fit(frame, y)
    assert set(by_name.relevances().columns[:2]) == {"a", "b"}
    assert by_name.relevances().relevance[2] == 0.0
    grouped = IVMRegressor(kernel=Tasks(RBF([1.0, 2.0])), learn=None).fit(frame[["a", "b"]], y, groups=task)
    assert set(grouped.relevances().columns) == {"a", "b"}


def test_plans_and_growth_with_groups():
    X, y, task, _ = draws()
    model = IVMRegressor(kernel=Coregion(RBF()), n_active=10, warm_start=True, random_state=0)
    assert model.plan(X, y, groups=task).n_active == 10
    model.fit(X, y, groups=task)
    assert len(model.grow(5).active_) == 15
    plain = model.set_params(kernel=None).fit(X, y)  # tasks are forgotten
    assert not hasattr(plain, "tasks_")
    assert plain.predict(X).shape == y.shape


X, Y, TASK, _ = draws(8)
WRONG = {
    "no groups": (Tasks(RBF()), X, {}, "give fit"),
    "an unknown name": (Tasks(RBF(), "place"), X, {}, "none of the names of columns, of which X has none"),
    "another name": (Tasks(RBF(), "town"), pd.DataFrame(X, columns=["a", "b"]), {}, "which are a, b"),
    "no such column": (Tasks(RBF(), 5), X, {}, "column is 5, but the inputs have 2 columns"),
    "tasks only": (Tasks(RBF(), 0), TASK[:, None] * 1.0, {}, "others beside it"),
    "no whole numbers": (Tasks(RBF(), 0), X, {}, "must have the numbers of the tasks"),
    "large numbers": (Tasks(RBF(), 0), np.column_stack([TASK + 1e9, X]), {}, "must have the numbers of the tasks"),
    "numbers below zero": (Coregion(RBF(), 0), np.column_stack([TASK - 1.0, X]), {}, "numbered 0, 1, 2"),
    "sparse": (Tasks(RBF(), 0), sparse.csr_matrix(np.column_stack([TASK, X])), {}, "dense inputs only"),
    "sparse with groups": (Tasks(RBF()), sparse.csr_matrix(X), {"groups": TASK}, "go with rows of numbers"),
    "too few labels": (Tasks(RBF()), X, {"groups": TASK[:3]}, "24 rows, groups has 3 labels"),
    "no label": (Tasks(RBF()), X, {"groups": np.where(TASK > 0, TASK, np.nan)}, "no label for row"),
    "mixed labels": (Tasks(RBF()), X, {"groups": ["a", 1] * 12}, "labels of one type"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused_with_a_remedy(case):
    kernel, inputs, options, message = WRONG[case]
    options = {k: np.array(v, dtype=object) if case == "mixed labels" else v for k, v in options.items()}
    with pytest.raises(ParameterError, match=message):
        IVMRegressor(kernel=kernel).fit(inputs, Y, **options)


def test_predictions_ask_for_groups_if_there_were_some():
    grouped = IVMRegressor(kernel=Tasks(RBF()), learn=None).fit(X, Y, groups=TASK)
    with pytest.raises(ParameterError, match="fitted with groups"):
        grouped.predict(X)
    with pytest.raises(ParameterError, match="no tasks"):
        IVMRegressor(kernel=RBF(), learn=None).fit(X, Y).predict(X, groups=TASK)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tasks(RBF(), 1.5), "number or the name"),
        (lambda: Tasks(RBF())(X), "only an estimator knows names"),
        (lambda: Tasks(RBF(), 0)(sparse.csr_matrix(X)), "dense inputs only"),
        (lambda: Coregion(RBF(), 0)(np.abs(np.round(X))), "does not know its tasks yet"),
        (lambda: Coregion(RBF(), rank=0), "whole number from 1"),
        (lambda: Coregion(RBF(), loadings=[1.0]), "both loadings and kappa"),
        (lambda: Coregion(RBF(), rank=2, loadings=[[1.0], [2.0]], kappa=[1.0, 1.0]), "rank is 2"),
        (lambda: Coregion(RBF(), rank=2, loadings=[1.0, 2.0], kappa=[1.0, 1.0]), "need 4 loadings"),
        (lambda: Coregion(RBF(), rank=1, loadings=[1.0, 2.0], kappa=[1.0, -1.0]), "kappa must be positive"),
        (lambda: Coregion(RBF(), 0, 1, loadings=[1.0], kappa=[1.0])(X), "numbered 0, 1, 2"),
    ],
)
def test_impossible_kernels_are_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_they_are_not_exported():
    pytest.importorskip("onnx")
    from infovec.onnx_export import to_onnx

    model = IVMRegressor(kernel=Tasks(RBF(), 0), learn=None).fit(np.column_stack([TASK, X]), Y)
    with pytest.raises(ParameterError, match="cannot be exported"):
        to_onnx(model)


def test_reports_of_models_with_groups(tmp_path):
    pytest.importorskip("matplotlib")
    model = IVMRegressor(kernel=Tasks(RBF()), n_active=10, random_state=0).fit(X, Y, groups=TASK)
    model.report(tmp_path / "a.html")
    codes = np.searchsorted(model.tasks_, TASK)
    model.report(tmp_path / "b.html", np.column_stack([X, codes]), Y)  # numbers of the tasks as the last column
    assert "task" in (tmp_path / "b.html").read_text()
