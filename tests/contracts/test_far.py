"""Rows that are not in memory, on disk or on the workers of a cluster: the same model, form by form."""

import os
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.errors import ClusterError, DataError, ParameterError
from infovec.estimators import far
from infovec.kernels import RBF, Bias
from infovec.learning import Learning
from infovec.machines import prepare, staged
from infovec.machines.against_rest import AgainstRest
from infovec.machines.classes import ClassMachine
from infovec.shards import InProcess, stored

N = 240
FEW = Learning(major_steps=1, minor_steps=1)


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3)) * [1.0, 10.0, 0.1] + 5.0
    X[50:53] = X[10:13]  # rows of equal inputs
    return X, np.sin(X[:, 0]) + 0.1 * (X[:, 1] - 5.0) + 0.5 * rng.normal(size=N)


def two(f):
    return (f > 0.0).astype(int)


def ten(f):
    return np.digitize(f, np.quantile(f, np.arange(0.1, 1.0, 0.1)))


def words(f):
    return np.array(["no", "perhaps", "yes"])[np.digitize(f, [-0.5, 0.5])]


def heavy(f):
    return f + 0.2 * np.random.default_rng(6).standard_t(3, len(f))


COUPLED = RBF([1.5, 15.0, 0.3], 3.0) + Bias(1.0)
WEIGHT = np.random.default_rng(5).integers(0, 3, N).astype(float)
FORMS = {
    "two classes": (IVMClassifier, two, {}, None),
    "two classes, learned": (IVMClassifier, two, {"learn": "ep"}, None),
    "two classes, factorised": (IVMClassifier, two, {"approximation": "factorised"}, None),
    "two classes, gain": (IVMClassifier, two, {"score": "projected_gain"}, None),
    "two classes, auto": (IVMClassifier, two, {"n_active": "auto"}, None),
    "two classes, moved": (IVMClassifier, two, {"move": True}, None),
    "regression, moved": (IVMRegressor, lambda f: f, {"move": True, "kernel": COUPLED}, None),
    "two classes, weights": (IVMClassifier, two, {}, WEIGHT),
    "ten classes": (IVMClassifier, ten, {"kernel": COUPLED, "n_active": 12}, None),
    "words, factorised": (IVMClassifier, words, {"approximation": "factorised"}, None),
    "words, coupled": (IVMClassifier, words, {"multi_class": "probit", "kernel": COUPLED}, WEIGHT),
    "words, coupled factorised": (
        IVMClassifier,
        words,
        {"multi_class": "softmax", "approximation": "factorised"},
        None,
    ),
    "words, variational": (IVMClassifier, words, {"multi_class": "variational"}, None),
    "regression": (IVMRegressor, lambda f: f, {"learn": FEW}, None),
    "regression, Student": (IVMRegressor, lambda f: f, {"likelihood": "student_t"}, WEIGHT),
    "regression, factorised": (IVMRegressor, lambda f: f, {"approximation": "factorised"}, None),
    "ordinal": (IVMOrdinalClassifier, ten, {}, None),
}
ON_ALL = Learning(all_rows=True, minor_steps=2)
ON_ALL_ROWS = {
    "two classes": (IVMClassifier, two, {}, None),
    "words": (IVMClassifier, words, {}, WEIGHT),
    "words, a kernel each": (IVMClassifier, words, {"shared_kernel": False}, None),
    "words, coupled": (IVMClassifier, words, {"multi_class": "probit"}, None),
    "words, variational": (IVMClassifier, words, {"multi_class": "variational"}, None),
    "regression": (IVMRegressor, lambda f: f, {}, None),
    "regression, Student": (IVMRegressor, heavy, {"likelihood": "student_t"}, None),
    "counts": (IVMRegressor, lambda f: np.round(np.exp(f)), {"likelihood": "poisson"}, WEIGHT),
    "ordinal": (IVMOrdinalClassifier, ten, {}, None),
}
each_form = pytest.mark.parametrize("form", FORMS)


def fitted(form, X, y, weight, **more):
    kind, _, settings, _ = FORMS[form]
    settings = {"n_active": 20, "learn": None, "random_state": 0, "dtype": "float64"} | settings | more
    return kind(**settings).fit(X, y, weight)


def check_same(got, expected, X, atol):
    np.testing.assert_array_equal(got.active_, expected.active_)
    if hasattr(expected, "classes_"):
        np.testing.assert_allclose(got.predict_proba(X), expected.predict_proba(X), rtol=0, atol=atol)
    else:
        for a, b in zip(got.predict(X, return_std=True), expected.predict(X, return_std=True), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=atol * np.std(expected.predict(X)))
    np.testing.assert_allclose(got.active_vectors_, expected.active_vectors_)
    assert got.n_features_in_ == expected.n_features_in_


@pytest.fixture
def small_pieces(monkeypatch):
    """All that slices counts as too large, and shards have few rows."""
    monkeypatch.setattr(far, "_SHARE", 0.0)
    monkeypatch.setattr(stored, "_FEWEST", 50)
    monkeypatch.setattr(stored, "_MOST", 90)


def on_disk(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


@each_form
def test_rows_on_disk_give_the_same_model(form, tmp_path, small_pieces):
    X, f = rows()
    y, weight = FORMS[form][1](f), FORMS[form][3]
    expected = fitted(form, X, y, weight)
    check_same(fitted(form, on_disk(X, tmp_path), y, weight), expected, X, 1e-9)


@pytest.mark.parametrize("form", ["two classes", "ten classes", "regression"])
def test_the_same_in_single_precision(form, tmp_path, small_pieces, monkeypatch):
    monkeypatch.setattr(prepare, "SMALL_STUBS", 0)
    X, f = rows()
    y = FORMS[form][1](f)
    expected = fitted(form, X, y, None, dtype="float32")
    assert expected.dtype_ == "float32"
    check_same(fitted(form, on_disk(X, tmp_path), y, None, dtype="float32"), expected, X, 1e-5)


@contextmanager
def hdf5(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        yield file.create_dataset("X", data=X, chunks=(37, 3))


@contextmanager
def zarr(X, tmp_path):
    made = pytest.importorskip("zarr").create_array(str(tmp_path / "X.zarr"), shape=X.shape, chunks=(37, 3), dtype="f8")
    made[:] = X
    yield made


@pytest.mark.parametrize("kind", [hdf5, zarr])
def test_what_slices_is_enough(kind, tmp_path, small_pieces):
    X, f = rows()
    expected = fitted("two classes", X, two(f), None)
    with kind(X, tmp_path) as data:
        model = fitted("two classes", data, two(f), None)
        check_same(model, expected, X, 1e-9)
        np.testing.assert_array_equal(model.predict(data), model.predict(X))


@pytest.fixture
def small_samples(monkeypatch):
    """Samples to learn from are much smaller than the rows, which have a stage of their own."""
    monkeypatch.setattr(staged, "_SMALL", 0)
    for name in ("_STAGES", "_EXACT"):
        monkeypatch.setattr(staged, name, (staged.Stage(60, 10, 4, 1e-3), staged.Stage(90, 15, 4, 1e-3)))
    for kind in (ClassMachine, AgainstRest):
        monkeypatch.setattr(kind, "few", staged.Stage(60, 10, 4, 1e-3))
        monkeypatch.setattr(kind, "more", staged.Stage(90, 15, 0, 1e-2))


def learned_on_all(form, X, y, weight):
    kind, _, settings, _ = ON_ALL_ROWS[form]
    model = kind(n_active=20, learn=ON_ALL, random_state=0, dtype="float64", **settings)
    return model.fit(X, y, weight)


@pytest.mark.parametrize("form", ON_ALL_ROWS)
def test_parameters_learned_from_all_rows_wherever_they_are(form, tmp_path, small_pieces, small_samples, client):
    """To six digits: sums of gradients differ by rounding, and a line search makes more of it."""
    X, f = rows()
    y, weight = ON_ALL_ROWS[form][1](f), ON_ALL_ROWS[form][3]
    expected = learned_on_all(form, X, y, weight)
    for there in (on_disk(X, tmp_path), dask_array(X)):
        got = learned_on_all(form, there, y, weight)
        np.testing.assert_allclose(got.history_["theta"], expected.history_["theta"], rtol=1e-5, atol=1e-5)
        check_same(got, expected, X, 1e-5)


def test_learning_from_all_rows_raises_their_evidence(small_samples):
    X, f = rows()
    few, every = (
        IVMRegressor(n_active=20, learn=Learning(all_rows=choice), random_state=0).fit(X, f) for choice in (False, True)
    )
    assert every.log_evidence_ > few.log_evidence_ + 0.1


def test_learning_from_all_rows_is_refused_where_not_all_have_sites():
    X, f = rows()
    with pytest.raises(ParameterError, match="all_rows is for criterion='ep' and approximation='projected'"):
        IVMClassifier(approximation="factorised", learn=Learning(all_rows=True)).fit(X, two(f))


def test_a_plan_knows_of_learning_from_all_rows(small_samples):
    X, f = rows()
    few, every = (
        IVMClassifier(n_active=20, learn=Learning(all_rows=a)).plan(X, two(f)).learning for a in (False, True)
    )
    assert every > few


def test_nothing_stays_on_disk(tmp_path, small_pieces, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    X, f = rows()
    fitted("two classes", on_disk(X, tmp_path), two(f), None)
    assert not list((tmp_path / "work").iterdir())


def parquet(folder, X, y=None, split=(100, 170)):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    folder.mkdir()
    for k, at in enumerate(np.split(np.arange(len(X)), split)):
        columns = {f"x{j}": X[at, j] for j in range(X.shape[1])} | ({} if y is None else {"label": y[at]})
        pq.write_table(arrow.table(columns), folder / f"{k}.parquet", row_group_size=40)
    return folder


def test_a_folder_of_tables(tmp_path, small_pieces):
    from infovec.datasets import ParquetRows

    X, f = rows()
    table = ParquetRows(parquet(tmp_path / "rows", X, words(f)), target="label")
    assert table.shape == X.shape
    np.testing.assert_array_equal(table[35:130:3], X[35:130:3])
    np.testing.assert_array_equal(table[np.array([200, 3, 99])], X[[200, 3, 99]])
    model = fitted("words, factorised", table, table.column("label"), None)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["x0", "x1", "x2"])
    check_same(model, fitted("words, factorised", frame, words(f), None), frame, 1e-9)
    assert list(model.feature_names_in_) == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(model.predict(table), model.predict(frame))


def test_a_number_that_is_none_is_named_by_file_and_row(tmp_path, small_pieces):
    from infovec.datasets import ParquetRows

    X, f = rows()
    X[130, 1] = np.nan
    table = ParquetRows(parquet(tmp_path / "rows", X, two(f)), target="label")
    with pytest.raises(ParameterError, match=r"1\.parquet, row 30, column 'x1' of X is not finite"):
        fitted("two classes", table, two(f), None)


def test_files_that_do_not_agree(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    from infovec.datasets import ParquetRows

    folder = parquet(tmp_path / "rows", rows()[0])
    pq.write_table(arrow.table({"x0": ["a"], "x1": [1.0], "x2": [2.0]}), folder / "9.parquet")
    with pytest.raises(DataError, match=r"9\.parquet, column 'x0' holds string, in .*0\.parquet double"):
        ParquetRows(folder)


@contextmanager
def workers(n):
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None)
        try:
            with distributed.Client(cluster) as client:
                client.wait_for_workers(n)
                assert len(client.nthreads()) == n
                yield client
        finally:
            cluster.close()


@pytest.fixture(scope="module")
def client():
    with workers(2) as client:
        yield client


pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def dask_array(X, chunks=40):
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


@each_form
def test_every_form_on_a_cluster(form, client):
    X, f = rows()
    y, weight = FORMS[form][1](f), FORMS[form][3]
    expected = fitted(form, X, y, weight)
    check_same(fitted(form, dask_array(X), y, weight), expected, X, 1e-9)


def test_single_precision_on_a_cluster(client, monkeypatch):
    monkeypatch.setattr(prepare, "SMALL_STUBS", 0)
    X, f = rows()
    for form in ("two classes", "ten classes", "regression"):
        y = FORMS[form][1](f)
        expected = fitted(form, X, y, None, dtype="float32")
        check_same(fitted(form, dask_array(X), y, None, dtype="float32"), expected, X, 1e-5)


def test_four_workers(monkeypatch, stores):
    """Their sums are added up in a tree."""
    X, f = rows()
    with workers(4) as client:
        for dtype, stubs, atol in (("float64", 10**6, 1e-9), ("float32", 0, 1e-5)):
            monkeypatch.setattr(prepare, "SMALL_STUBS", stubs)
            for form in ("two classes", "ten classes", "regression"):
                y = FORMS[form][1](f)
                expected = fitted(form, X, y, None, dtype=dtype)
                kind, _, settings, _ = FORMS[form]
                settings = {"n_active": 20, "learn": None, "random_state": 0} | settings | {"dtype": dtype}
                there = client.persist(dask_array(X))
                client.rebalance(there)
                check_same(kind(**settings).fit(there, dask_array(y), client=client), expected, X, atol)
    assert all(len(store.houses) == 4 for store in stores)


def test_shards_are_given_back(client, monkeypatch):
    """Ten classes one after the other, not ten times the memory of one."""
    from infovec.shards.tenancy import Tenancy

    made, most, stores = Tenancy.make, [0], []

    def make(self, token, *spec):
        made(self, token, *spec)
        most[0] = max(most[0], len(self.made))
        stores.append(self)

    monkeypatch.setattr(Tenancy, "make", make)
    X, f = rows()
    fitted("ten classes", dask_array(X), ten(f), None)
    assert most[0] == 1
    assert not any(house.made for house in stores)


def test_searches_and_pipelines_on_a_cluster(client):
    """joblib's backend of Dask, and a scaler that knows Dask."""
    import joblib
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    class Scaler(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.mean_, self.scale_ = X.mean(axis=0).compute(), X.std(axis=0).compute()
            return self

        def transform(self, X):
            return (X - self.mean_) / self.scale_

    X, f = rows()
    model = IVMClassifier(n_active=20, learn=None, random_state=0, dtype="float64")
    expected = cross_val_score(model, X, two(f), cv=3)
    with joblib.parallel_config("dask"):
        np.testing.assert_array_equal(cross_val_score(model, X, two(f), cv=3, n_jobs=2), expected)
    pipeline = make_pipeline(Scaler(), model).fit(dask_array(X), dask_array(two(f)))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    proba = pipeline.predict_proba(dask_array(X))
    assert hasattr(proba, "dask")
    np.testing.assert_allclose(proba.compute(), model.fit(scaled, two(f)).predict_proba(scaled), atol=1e-9)


def test_dask_ml(client):
    preprocessing = pytest.importorskip("dask_ml.preprocessing", exc_type=ImportError)
    from dask_ml.wrappers import ParallelPostFit
    from sklearn.pipeline import make_pipeline

    X, f = rows()
    dX, model = dask_array(X), IVMClassifier(n_active=20, learn=None, random_state=0, dtype="float64")
    pipeline = make_pipeline(preprocessing.StandardScaler(), model).fit(dX, dask_array(two(f)))
    np.testing.assert_allclose(
        pipeline.predict_proba(dX).compute(), pipeline.predict_proba(X.copy()), atol=1e-9
    )  # which it scales in place
    wrapped = ParallelPostFit(model).fit(X, two(f))
    np.testing.assert_allclose(wrapped.predict_proba(dX).compute(), model.fit(X, two(f)).predict_proba(X), atol=1e-9)


def test_a_worker_is_killed(client):
    """In the middle of selection, and of a sweep; benchmarks.faults does it at random moments."""
    from infovec.shards import cluster as remote

    X, f = rows()
    expected, each = fitted("two classes", X, two(f), None), remote.ClusterStore.each
    for method in ("absorb", "sweep"):
        client.wait_for_workers(2)
        killed = []

        def begin(self, calls, method=method, killed=killed):
            if not killed and calls and calls[0][1].keywords.get("method") == method:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
            return each(self, calls)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote.ClusterStore, "each", begin)
            check_same(fitted("two classes", dask_array(X), two(f), None), expected, X, 1e-9)
        assert killed


def test_a_worker_that_stands_still_holds_up_one_exchange(monkeypatch):
    from infovec.shards import calls
    from infovec.shards import cluster as remote

    X, f = rows()
    expected, each, stopped = fitted("two classes", X, two(f), None), remote.ClusterStore.each, []
    monkeypatch.setattr(calls, "_POLL", 0.2)
    monkeypatch.setattr(calls, "_SLOW", 2.0)
    monkeypatch.setattr(calls, "_SLOWEST", 2.0)
    with workers(2) as client:

        def begin(self, asked):
            several = len(self.houses) > 1  # Dask decides which workers have chunks
            if several and not stopped and asked and asked[0][1].keywords.get("method") == "sweep":
                stopped.append(client.run(os.getpid)[self.houses[0].worker])
                os.kill(stopped[0], signal.SIGSTOP)
            return each(self, asked)

        monkeypatch.setattr(remote.ClusterStore, "each", begin)
        try:
            model = fitted("two classes", dask_array(X, 20), two(f), None)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
    assert stopped
    check_same(model, expected, X, 1e-9)


def test_predictions_are_lazy(client):
    X, f = rows()
    model, dX = fitted("words, factorised", X, words(f), None), dask_array(X)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        lazy = getattr(model, name)(dX)
        assert hasattr(lazy, "dask")
        np.testing.assert_allclose(lazy.compute() if name != "predict" else lazy.compute() == getattr(model, name)(X),
                                   getattr(model, name)(X) if name != "predict" else True)  # fmt: skip
    regressor = fitted("regression", X, f, None)
    for a, b in zip(regressor.predict(dX, return_std=True), regressor.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(a.compute(), b)
    np.testing.assert_allclose(regressor.predict_quantiles(dX).compute(), regressor.predict_quantiles(X))


def test_dataframes(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, f = rows()
    X[:, 2] = np.round(X[:, 2])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    expected = fitted("two classes", frame, two(f), None)
    frame["a"], frame["c"] = frame["a"].astype("Float64"), frame["c"].astype("Int64").astype("category")
    frame["label"] = pd.Series(two(f)).astype("Int64")
    table = dd.from_pandas(frame, npartitions=5)
    unknown = table[table["b"] > -1e9]  # whose chunks have lengths that nobody knows
    model = fitted("two classes", unknown[["a", "b", "c"]], unknown["label"].astype("int64"), None)
    check_same(model, expected, pd.DataFrame(X, columns=["a", "b", "c"]), 1e-9)
    proba = model.predict_proba(unknown[["a", "b", "c"]]).compute()
    np.testing.assert_allclose(proba, expected.predict_proba(pd.DataFrame(X, columns=["a", "b", "c"])), atol=1e-9)


def test_chunks_without_rows_and_classes_of_one_chunk(client):
    da = pytest.importorskip("dask.array")
    X, f = rows()
    order = np.argsort(f)
    X, f = X[order], f[order]  # the first class is in the first chunks only
    parts = [dask_array(X[:90]), da.zeros((0, 3), chunks=(1, 3)), dask_array(X[90:])]
    expected = fitted("words, factorised", X, words(f), None)
    model = fitted("words, factorised", da.concatenate(parts), words(f), None)
    for one, other in zip(model.predict_latent(X), expected.predict_latent(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    check_same(model, expected, X, 1e-6)  # calibration is found to six digits, from sums that differ by rounding


def test_a_cluster_says_where_a_number_is_none(client):
    X, f = rows()
    X[130, 1] = np.nan
    with pytest.raises(ParameterError, match=r"row 130 \(row 10 of chunk 3\), column 1 of X is not finite"):
        fitted("two classes", dask_array(X), two(f), None)


def test_columns_of_words_in_some_chunks(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    from dask import delayed

    good = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 0.0]})
    bad = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 0.0]}).astype({"a": object})
    parts = [delayed(good), delayed(bad)]
    table = dd.from_delayed(parts, meta=good, verify_meta=False)
    with pytest.raises(ParameterError, match=r"chunk 1 of X, column 'a': text where numbers belong"):
        fitted("two classes", table, np.array([0, 1, 0, 1]), None)


def test_chunks_that_do_not_fit_into_a_worker(client):
    da = pytest.importorskip("dask.array")
    X = da.zeros((10**10, 3), chunks=(10**10, 3))
    with pytest.raises(ClusterError, match=r"does not fit into a worker .* rechunk X"):
        IVMClassifier().fit(X, np.zeros(3))


def test_workers_without_the_package(client, monkeypatch):
    run = type(client).run
    monkeypatch.setattr(type(client), "run", lambda self, f, *a, **k: dict.fromkeys(run(self, f, *a, **k), False))
    with pytest.raises(ClusterError, match="infovec is not installed on"):
        fitted("two classes", dask_array(rows()[0]), two(rows()[1]), None)


@pytest.fixture
def stores(monkeypatch):
    """Those that are made."""
    from infovec.shards import cluster as remote

    found, made = [], remote.ClusterStore.__init__

    def init(self, *args):
        made(self, *args)
        found.append(self)

    monkeypatch.setattr(remote.ClusterStore, "__init__", init)
    return found


def test_bytes_of_a_message_do_not_depend_on_the_rows(client, stores):
    """But for what is known of rows left out, which at most a million of them tell."""
    few, many = {}, {}
    for n, largest in ((200, few), (800, many)):
        X = np.random.default_rng(0).normal(size=(n, 3))
        model = IVMClassifier(n_active=20, learn=None, random_state=0, block_size=5, pool_size=20)
        model.fit(dask_array(X, n // 5), two(X[:, 0]))
        for method, out, back in stores[-1].traffic:
            each = (out + back) / len(stores[-1].houses)
            largest[method] = max(largest.get(method, 0.0), each)
    assert {"candidates", "absorb", "sweep"} < set(few)
    assert {method for method in few if few[method] != many[method]} == {"marginals"}


def test_the_plan_of_a_cluster(client, stores):
    X, f = rows()
    model = IVMClassifier(n_active=20, learn=None, random_state=0)
    dX = dask_array(X).persist()
    there, here = model.plan(dX, two(f)), model.plan(X, two(f), workers=100)
    assert (there.workers, here.workers) == (len(stores[0].houses), 100)  # which of them have chunks Dask decides
    for plan in (there, here):
        assert plan.n_rows == N - 3  # three rows are equal to others
        assert 0.0 < plan.computing < plan.seconds
        assert plan.worker_memory > 0
        assert "over the network" in str(plan)
    assert there.block_bytes == here.block_bytes


def test_nothing_of_dask_is_imported_unless_used():
    code = (
        "import sys, numpy as np; from infovec import IVMClassifier; X = np.random.default_rng(0).normal(size=(50, 2));"
        "IVMClassifier(n_active=5, learn=None).fit(X, X[:, 0] > 0).predict(X);"
        "assert not {'dask', 'distributed', 'h5py'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Killed(BaseException):
    """As if the process were gone."""


@pytest.mark.parametrize("place", ["disk", "cluster"])
@pytest.mark.parametrize("method", ["absorb", "sweep"])
def test_a_fit_goes_on_from_its_checkpoint_wherever_rows_are(place, method, client, tmp_path, small_pieces):
    from infovec.shards import cluster
    from infovec.shards import on_disk as disk

    X, f = rows()
    far_rows, kind = (on_disk(X, tmp_path), disk.OneByOne) if place == "disk" else (dask_array(X), cluster.Everywhere)
    kind = InProcess if place == "disk" and method == "absorb" else kind  # rows that are selected from fit into memory
    model = IVMClassifier(n_active=20, learn=None, random_state=0, block_size=5, dtype="float64")
    expected, path = model.fit(X, two(f)).predict_proba(X), tmp_path / "fit.ivm"
    told, count = {name: getattr(kind, name) for name in ("call", "add")}, []

    def killed(name):
        def say(self, asked, args):
            count.append(asked == method)
            if sum(count) == 3:
                raise Killed
            return told[name](self, asked, args)

        return say

    with pytest.MonkeyPatch.context() as patch:
        for name in told:
            patch.setattr(kind, name, killed(name))
        with pytest.raises(Killed):
            model.fit(far_rows, two(f), checkpoint=path)
    assert path.exists()
    np.testing.assert_allclose(model.fit(far_rows, two(f), checkpoint=path).predict_proba(X), expected, atol=1e-9)
    assert not path.exists()


def test_a_scheduler_that_is_gone(tmp_path):
    X, f = rows()
    path = tmp_path / "fit.ivm"
    with workers(1) as client:
        dX = dask_array(X)
        from infovec.shards import calls
        from infovec.shards import cluster as remote

        each, closed = remote.ClusterStore.each, []

        def begin(self, asked):
            if not closed and asked and asked[0][1].keywords.get("method") == "absorb":
                closed.append(client.cluster.close())
            return each(self, asked)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote.ClusterStore, "each", begin)
            patch.setattr(calls, "_WAIT", 2.0)
            with pytest.raises(ClusterError, match="goes on from where it was"):
                IVMClassifier(n_active=20, learn=None, random_state=0).fit(dX, two(f), checkpoint=path)
    with workers(1):
        model = IVMClassifier(n_active=20, learn=None, random_state=0).fit(dask_array(X), two(f), checkpoint=path)
    check_same(model, fitted("two classes", X, two(f), None), X, 1e-9)
    assert not path.exists()
