"""Estimators fitted to tables as they come: every estimator of infovec, found, not listed."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infovec
from infovec import IVMClassifier, IVMRegressor, TableEncoder
from infovec.errors import ParameterError
from infovec.estimators.saving import Savable
from infovec.kernels import RBF, Bias, Categorical, On, Tasks
from infovec.learning.model import Model
from infovec.likelihoods import Gaussian
from infovec.machines.defaults import mixed_kernel
from infovec.tables import Encoded

FOUND = [getattr(infovec, name) for name in infovec.__all__]
ESTIMATORS = [cls for cls in FOUND if isinstance(cls, type) and issubclass(cls, Savable)]
COLUMNS = ["age", "sex", "city", "when"]


def table(n=90, seed=0, gaps=0.15):
    """A table of numbers, categories, dates and gaps, and a function of its age, sex and city."""
    rng = np.random.default_rng(seed)
    age, sex, city = rng.normal(40.0, 10.0, n), rng.choice(["m", "f"], n), rng.choice(["a", "b", "c"], n)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    f = (age - 40.0) / 10.0 * np.where(sex == "m", 1.0, -1.0) + np.where(city == "a", 1.0, -0.5)
    frame = pd.DataFrame({"age": age, "sex": sex, "city": pd.Categorical(city), "when": when})
    gone = rng.random((n, 4)) < np.array([gaps, 0.0, gaps, 0.0])
    return frame.mask(gone), f


def targets(Estimator, f):
    if Estimator is infovec.IVMOrdinalClassifier:
        return np.digitize(f, [-1.0, 0.7])
    return np.where(f > 0, "yes", "no") if is_classifier(Estimator()) else f


def made(Estimator, **params):
    params = {"learn": None, "random_state": 0, "n_active": 40, **params}
    return Estimator(**{name: v for name, v in params.items() if name in Estimator().get_params()})


def scores(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_frames_go_into_fit_and_predict_and_files(Estimator, tmp_path):
    frame, f = table()
    y, old, new = targets(Estimator, f), slice(60), slice(60, None)
    model = made(Estimator).fit(frame[old], y[old])
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == COLUMNS
    expected = scores(model, frame[new])
    assert np.isfinite(expected).all()
    other = made(Estimator).fit(pl.from_pandas(frame[old]), y[old])
    np.testing.assert_allclose(scores(other, pl.from_pandas(frame[new])), expected)
    model.save(tmp_path / "m.ivm")
    again = infovec.load(tmp_path / "m.ivm")
    assert again.table_ == model.table_
    for same in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(scores(same, frame[new]), expected)
    encoded = TableEncoder().fit(frame[old]).transform(frame[new])
    np.testing.assert_allclose(scores(model, Encoded(encoded, model.table_)), expected)
    if hasattr(model, "log_evidence_"):
        assert clone(model).fit(frame[old], y[old]).log_evidence_ == pytest.approx(model.log_evidence_, rel=1e-6)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_units_and_names_of_categories_do_not_matter(Estimator):
    frame, f = table()
    y = targets(Estimator, f)
    others = frame.assign(
        age=1000.0 * frame.age - 7.0, sex=frame.sex.map({"m": "1", "f": "2"}), city=frame.city.astype(object),
        when=frame.when.dt.tz_localize("UTC"),
    )  # fmt: skip
    one, two = made(Estimator).fit(frame, y), made(Estimator).fit(others, y)
    np.testing.assert_allclose(scores(two, others), scores(one, frame), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_plain_frames_are_read_as_they_were(Estimator):
    frame, f = table()
    numbers = pd.DataFrame({"a": f, "b": np.arange(90), "c": np.arange(90) % 2 == 0})
    y = targets(Estimator, f)
    model = made(Estimator).fit(frame, y).fit(numbers, y)  # nothing is left of the fit to a table
    assert not hasattr(model, "table_")
    plain = made(Estimator).fit(numbers.to_numpy(dtype=float), y)
    np.testing.assert_array_equal(scores(model, numbers), scores(plain, numbers.to_numpy(dtype=float)))


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_arrays_may_have_gaps(Estimator):
    frame, f = table()
    X = np.column_stack([frame.age, f])
    y = targets(Estimator, f)
    model = made(Estimator).fit(X, y)
    assert np.isfinite(scores(model, X)).all()
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(np.column_stack([X, X[:, 0]]))
    with pytest.raises(ValueError, match="column 'x1' is infinite"):
        made(Estimator).fit(np.where(np.arange(2) == 1, np.inf, X), y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_what_does_not_fit_the_table(Estimator):
    frame, f = table()
    model = made(Estimator).fit(frame, targets(Estimator, f))
    cases = {
        "feature names should match": frame[["sex", "age", "city", "when"]],
        "feature names should match.": frame.drop(columns="sex"),
        "column 'sex' holds more than numbers, and X is of type ndarray": frame.to_numpy(),
        "'when' held dates.*holds text": frame.assign(when="1 January 2020"),
        "'age' held numbers.*holds text": frame.assign(age="old"),
        "'age' is infinite": frame.assign(age=np.inf),
    }
    for message, bad in cases.items():
        with pytest.raises(ValueError, match=f"(?s){message}"):
            model.predict(bad)
    written = frame.assign(when=frame["when"].dt.strftime("%Y-%m-%dT%H:%M:%S"))  # as a file has it
    np.testing.assert_array_equal(model.predict(written), model.predict(frame))


def test_the_kernel_of_mixed_tables():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(9, 2)), rng.integers(0, 3, (9, 2))])[:, [2, 0, 3, 1]]
    scale, relevance, numbers, codes = np.array([0.5, 2.0]), np.array([0.7, 0.2]), [1, 3], [0, 2]
    kernel = mixed_kernel(np.array(numbers), scale, np.array(codes), relevance, 3.0)
    for i in range(9):
        for j in range(9):
            square = sum((X[i, k] - X[j, k]) ** 2 / (2.0 * s**2) for k, s in zip(numbers, scale, strict=True))
            differ = sum(r * (X[i, k] != X[j, k]) for k, r in zip(codes, relevance, strict=True))
            assert kernel(X)[i, j] == pytest.approx(3.0 * np.exp(-square - differ) + 0.3)
    apart = mixed_kernel(np.array(numbers), scale, np.array(codes), relevance, 3.0, gaps=[2])
    np.testing.assert_allclose(apart(X), kernel(X), rtol=1e-12)


def test_kinds_of_columns_have_units_of_their_own():
    """Before columns are learned one by one numbers, categories and gaps are: gaps by chance count for nothing."""
    start = mixed_kernel(np.array([0, 2]), np.ones(2), np.array([1, 3, 4, 5]), 0.2, 3.0, gaps=[4, 5])
    moving = Model.begin(start, Gaussian(), tied=True)
    scales = [name for name in start.parameter_names if "length_scale" in name or "relevance" in name]
    groups = dict(zip(start.parameter_names, moving.group, strict=False))
    assert len({groups[name] for name in scales}) == 3
    assert groups[scales[0]] == groups[scales[1]]  # the length scales of both numbers
    of_numbers = Model.begin(RBF(np.ones(3)) + RBF(np.ones(3)), Gaussian(), tied=True)
    assert int(of_numbers.scales.sum()) == 1


def test_many_categories_do_not_tempt_the_evidence():
    """Without what active rows leave open it is largest where every row is on its own."""
    rng = np.random.default_rng(0)
    n, train = 1300, slice(400)
    codes, X = [rng.integers(0, 6, n) for _ in range(8)], rng.normal(size=(n, 4)).round(1)
    f = X[:, 0] - 2.0 + sum(1.2 * rng.normal(size=6)[code] for code in codes[:3])
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * f)), "a", "b")
    words = {f"c{j}": pd.Categorical([f"w{v}" for v in code]) for j, code in enumerate(codes)}
    frame = pd.DataFrame(words | {f"n{j}": X[:, j] for j in range(4)})
    frame = frame.mask(rng.random(frame.shape) < 0.15)

    def loss(model):
        proba = model.fit(frame[train], y[train]).predict_proba(frame[400:])
        return -np.mean(np.log(proba[np.arange(n - 400), (y[400:] == "b").astype(int)]))

    model, plain = (IVMClassifier(n_active=120, random_state=0, blur=blur) for blur in ("auto", False))
    assert loss(model) < loss(plain) - 0.02
    assert model.likelihood_.spread > 0.6 > plain.likelihood_.spread
    assert "of a kind" in model.relevances().note or len(model.relevances())


def test_tables_of_numbers_are_not_blurred():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    a, b = (IVMClassifier(n_active=20, random_state=0, blur=blur).fit(X, X[:, 0] > 0) for blur in ("auto", False))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize("seed", [2, 4, 12])
def test_noise_of_numbers_does_not_vanish_behind_categories_and_gaps(seed):
    frame, f = table(240, seed)
    y = f + 0.3 * np.random.default_rng(seed).normal(size=240)
    model = IVMRegressor(n_active=60, random_state=0).fit(frame[:160], y[:160])
    assert model.score(frame[160:], y[160:]) > 0.6
    assert model.likelihood_.variance > 0.01 * np.var(y)


def test_relevances_of_categories_are_learned():
    """Which column counts: one of categories, and whether a number is missing; others get next to nothing."""
    rng = np.random.default_rng(1)
    n = 300
    shop, noise = rng.choice(list("abcd"), n), rng.choice(list("uvw"), n)
    age, size = rng.normal(size=n), rng.normal(size=n)
    age[rng.random(n) < 0.3], size[rng.random(n) < 0.3] = np.nan, np.nan
    f = np.where(np.isin(shop, ["a", "b"]), 1.0, -1.0) * np.where(np.isnan(age), 1.0, -1.0)
    y = np.where(f + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    frame = pd.DataFrame({"shop": shop, "noise": noise, "age": age, "size": size})
    model = IVMClassifier(n_active=60, random_state=0).fit(frame[:200], y[:200])
    found = model.relevances()
    assert set(found.columns[:2]) == {"shop", "age"}
    assert found.relevance[2] < 0.1
    lines = str(found).splitlines()
    for column in frame.columns:
        line = next(line for line in lines if f" {column}" in line)
        assert line.endswith("(categories, without unit)") == (column in ("shop", "noise"))
        assert ("(categories, without unit)" in found._repr_html_().split(column)[1][:40]) == (
            column in ("shop", "noise")
        )
    assert model.score(frame[200:], y[200:]) > 0.9


def test_a_new_category_is_far_from_all():
    frame, f = table(gaps=0.0)
    model = made(IVMRegressor).fit(frame, f)
    std = model.predict_latent(frame)[1]
    with pytest.warns(UserWarning, match="90 of 90 cells of column 'city'"):
        assert (model.predict_latent(frame.assign(city="elsewhere"))[1] > std).all()
    with pytest.warns(UserWarning, match="column 'city' has missing values now and had none"):
        assert (model.predict_latent(frame.assign(city=None))[1] > std).all()


def test_kernels_that_take_categories_for_numbers_are_refused():
    frame, f = table()
    with pytest.raises(
        ValueError, match=r"takes column 'sex' for numbers.*On\(RBF\(np.ones\(2\)\), \['age', 'when'\]\)"
    ):
        IVMRegressor(kernel=RBF() + Bias()).fit(frame, f)
    kernel = (
        On(RBF([10.0, 100.0]), ["age", "when"])
        * On(Categorical(), ["sex", "city", "age is missing", "city is missing"])
        + Bias()
    )
    assert made(IVMRegressor, kernel=kernel).fit(frame, f).score(frame, f) > 0.8


def recommended(said, after, before="\n"):
    """The kernel in a message, as it is pasted."""
    names = {"On": On, "RBF": RBF, "Categorical": Categorical, "Bias": Bias, "np": np}
    return eval(said.split(after)[1].split(before)[0], names)


def test_the_kernel_that_is_recommended_is_one_to_paste():
    frame, f = table()
    for j in range(7):
        frame[f"number {j}"], frame[f"word {j}"] = np.arange(len(frame)) % (j + 2), np.arange(len(frame)) % 2
        frame[f"word {j}"] = frame[f"word {j}"].map({0: "it's", 1: None})
    with pytest.raises(ParameterError) as said:
        IVMRegressor(kernel=RBF() + Bias()).fit(frame, f)
    kernel = recommended(str(said.value), "such as ")
    assert made(IVMRegressor, kernel=kernel).fit(frame, f).n_features_in_ == 18
    assert kernel.left.right.columns[-1] == "word 6 is missing"
    note = made(IVMRegressor).fit(frame, f).relevances().note
    assert recommended(note, "kernel=", ", or --ard") == kernel


def test_the_kernel_that_is_recommended_predicts_better_than_one_scale_for_raw_columns():
    scores = []
    for seed in range(12, 17):
        frame, f = table(n=240, seed=seed)
        y = f + 0.3 * np.random.default_rng(seed).normal(size=len(f))
        with pytest.raises(ParameterError) as said:
            IVMRegressor(kernel=RBF() + Bias()).fit(frame, y)
        kernel = recommended(str(said.value), "such as ")
        shared = On(RBF(), ["age", "when"]) * On(Categorical(), kernel.left.right.columns) + Bias()
        models = [IVMRegressor(kernel=k, n_active=60, random_state=0) for k in (kernel, shared)]
        scores.append([model.fit(frame[:160], y[:160]).score(frame[160:], y[160:]) for model in models])
    own, one = np.transpose(scores)
    assert np.median(own) > 0.6
    assert np.sum(own > one) >= 4, scores


def test_tasks_of_tables(tmp_path):
    frame, f = table()
    kernel = Tasks(On(RBF(), ["age"]) * On(Categorical(), ["sex", "city"]) + Bias())
    model = made(IVMRegressor, kernel=kernel).fit(frame, f, groups=frame.index % 3)
    expected = model.predict(frame, groups=frame.index % 3)
    model.save(tmp_path / "m.ivm")
    np.testing.assert_array_equal(infovec.load(tmp_path / "m.ivm").predict(frame, groups=frame.index % 3), expected)


def test_all_that_goes_on_after_a_fit():
    frame, f = table(120)
    y = targets(IVMClassifier, f)
    model = made(IVMClassifier, warm_start=True)
    assert model.plan(frame[:80], y[:80]).n_active == 40
    model.fit(frame[:80], y[:80]).grow(10)
    assert len(model.active_) == 50
    model.tell(frame[80:100], y[80:100])
    assert model.n_samples_fit_ == 100
    assert len(model.suggest(frame[100:], 3)) == 3
    dense = made(IVMClassifier, n_active=100).fit(frame[:100], y[:100])
    np.testing.assert_allclose(
        clone(dense).fit(frame[:80], y[:80]).tell(frame[80:100], y[80:100]).predict_latent(frame[100:])[0],
        dense.predict_latent(frame[100:])[0], atol=0.2,
    )  # fmt: skip


def test_pipelines_and_searches():
    frame, f = table()
    parts = ColumnTransformer([("numbers", StandardScaler(), ["age"])], remainder="passthrough")
    pipeline = make_pipeline(parts.set_output(transform="pandas"), made(IVMRegressor))
    assert pipeline.fit(frame, f)[-1].feature_names_in_.tolist()[0] == "numbers__age"
    search = GridSearchCV(made(IVMRegressor), {"n_active": [10, 40]}, cv=2).fit(frame, f)
    assert search.best_params_["n_active"] == 40


def test_onnx_takes_encoded_rows():
    runtime = pytest.importorskip("onnxruntime")
    from infovec.onnx_export import to_onnx

    frame, f = table()
    model = made(IVMRegressor).fit(frame, f)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    encoded = TableEncoder().fit(frame).transform(frame)
    np.testing.assert_allclose(session.run(["mean"], {"X": encoded})[0], model.predict(frame), rtol=1e-6, atol=1e-8)


def test_certificates_of_tables():
    frame, f = table(200)
    found = made(IVMClassifier, learn="ep", n_active=30).fit_certified(frame, targets(IVMClassifier, f))
    assert found.gibbs_error < found.gibbs_bound < 0.8


def test_reports_speak_of_the_table(tmp_path):
    pytest.importorskip("matplotlib")
    frame, f = table()
    model = made(IVMClassifier).fit(frame, targets(IVMClassifier, f))
    model.report(tmp_path / "r.html", frame, targets(IVMClassifier, f))
    html = (tmp_path / "r.html").read_text()
    assert "2020-" in html
    assert "missing" in html
    assert "logistic regression" in html  # of zeros and ones for categories
    assert "linear model was fitted to the other test rows" in html
    model.report(
        tmp_path / "t.html", frame, targets(IVMClassifier, f), X_train=frame, y_train=targets(IVMClassifier, f)
    )
    assert "linear model was fitted to the training rows" in (tmp_path / "t.html").read_text()
