"""What is said to users who give something else than was meant: the cause, the place and the remedy."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

from infovec import GPClassifier, IVMClassifier, IVMOrdinalClassifier, IVMRegressor, TableEncoder
from infovec.errors import ParameterError
from infovec.kernels import RBF, Bias
from infovec.machines.plan import Plan

X = np.random.default_rng(0).normal(size=(60, 3))
REAL = np.sin(2.0 * X[:, 1])
QUICK = {"n_active": 10, "learn": None, "random_state": 0}
MISSING = [
    ["a", "b", None] * 10,
    ["a", "b", float("nan")] * 10,
    np.array([1, 0, None] * 10, dtype=object),
    [True, False, None] * 10,
    pd.Series(["a", "b", None] * 10, dtype="string"),
    pd.Series(["a", "b", None] * 10, dtype="category"),
    pl.Series(["a", "b", None] * 10),
    pl.Series([True, False, None] * 10),
    np.array([1.0, 0.0, np.nan] * 10),
]


@pytest.mark.parametrize("y", MISSING, ids=range(len(MISSING)))
def test_labels_that_are_missing_are_told_with_their_row(y):
    rows = np.random.default_rng(0).normal(size=(30, 2))
    for model in (IVMClassifier(**QUICK), IVMOrdinalClassifier(**QUICK), GPClassifier(learn=None)):
        with pytest.raises(ParameterError, match=r"row 2 .*y.*drop such rows, or .*null_category"):
            model.fit(rows, y)
    unlabelled = IVMClassifier(**{**QUICK, "learn": None}, likelihood="null_category").fit(rows, y)
    assert len(unlabelled.classes_) == 2
    with pytest.raises(ParameterError, match="row 1 of y has no label"):
        IVMClassifier(**QUICK).fit(rows, ["a", "b"] * 15).tell(rows[:2], ["a", None])


def test_parts_of_kernels_are_named_where_the_whole_has_no_such_parameter():
    with pytest.raises(ParameterError, match=r"write kernel__left__length_scale$"):
        IVMRegressor(RBF() + Bias()).set_params(kernel__length_scale=2.0)
    with pytest.raises(ParameterError, match="kernel__left__variance or kernel__right__variance"):
        IVMRegressor(RBF() + Bias()).set_params(kernel__variance=2.0)
    with pytest.raises(ParameterError, match="'slope' is no parameter of Sum"):
        IVMRegressor(RBF() + Bias()).set_params(kernel__slope=2.0)
    with pytest.raises(
        ParameterError,
        match=r'to search over it, learn=Learning\(fixed=\["kernel.left.length_scale"\]\).*in the unit of',
    ):
        IVMRegressor().set_params(kernel__length_scale=2.0)
    with pytest.raises(ParameterError, match=r'learn=Learning\(fixed=\["likelihood.variance"\]\)'):
        IVMRegressor().set_params(likelihood__variance=2.0)


def test_a_lazy_frame_is_to_be_collected():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    for call in (IVMRegressor(**QUICK).fit, IVMRegressor(**QUICK).fit(frame, REAL).score):
        with pytest.raises(ParameterError, match=r"X.collect\(\)"):
            call(frame.lazy(), REAL)


def test_columns_in_another_order_are_named():
    gaps = np.where(np.arange(len(X)) % 7 == 0, np.nan, X[:, 2])
    for frame in (
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": gaps}),
    ):
        model = IVMRegressor(**QUICK).fit(frame, REAL)
        other = frame[["a", "c", "b"]]
        for given in (other, pl.from_pandas(other)):
            with pytest.raises(
                ParameterError, match=r"Column 1 of X is 'c', and was 'b' .*X\[model.feature_names_in_\]"
            ):
                model.predict(given)
            np.testing.assert_array_equal(model.predict(given[model.feature_names_in_]), model.predict(frame))


def test_tables_that_a_pipeline_has_made_arrays_of_are_sent_to_set_output():
    frame = pd.DataFrame({"a": X[:, 0], "word": ["red", "blue"] * 30})
    step = make_column_transformer(("passthrough", ["a", "word"]), verbose_feature_names_out=False)
    with pytest.raises(ParameterError, match=r'ColumnTransformer, with \.set_output\(transform="pandas"\)'):
        make_pipeline(step, IVMRegressor(**QUICK)).fit(frame, REAL)
    step.set_output(transform="pandas")
    make_pipeline(step, IVMRegressor(**QUICK)).fit(frame, REAL).predict(frame)


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_truth_values_where_the_model_knows_other_numbers_are_refused(library, gap):
    term, owns = np.array([36.0, 60.0] * 30), X[:, 1] > 0
    a = [None if gap and k == 1 else v for k, v in enumerate(X[:, 0].tolist())]
    model = IVMRegressor(**QUICK).fit(library({"a": a, "term": term, "owns": owns}), REAL)
    with pytest.raises(ParameterError, match=r"'term' held numbers from 36 to 60 .* and holds truth values now"):
        model.predict(library({"a": a, "term": term == 36.0, "owns": owns}))
    both = [library({"a": a, "term": term, "owns": kind}) for kind in (owns, owns.astype(float))]
    np.testing.assert_array_equal(*map(model.predict, both))


DATES = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(60), unit="D"))
TARGETS = {
    "dates": (DATES, "dates"),
    "with zones": (DATES.dt.tz_localize("UTC"), "dates"),
    "objects": (DATES.dt.date, "dates"),
    "polars": (pl.Series(DATES.to_list()), "dates"),
    "a list": (DATES.dt.date.to_list(), "dates"),
    "durations": (DATES - DATES[0], "durations"),
    "of numpy": ((DATES - DATES[0]).to_numpy(), "durations"),
    "several": (np.column_stack([DATES, DATES]), "dates"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_that_are_dates_or_durations_are_no_numbers(name):
    y, what = TARGETS[name]
    with pytest.raises(ParameterError, match=rf"the targets are {what}: .*pandas.Timedelta\(days=1\)"):
        IVMRegressor(**QUICK).fit(X, y)


def test_columns_of_one_name_are_named():
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    for given in (frame, frame.assign(b="word"), frame.mask(X > 2.0)):
        with pytest.raises(ParameterError, match=r"2 columns with the name 'a', numbers 0, 2: .*duplicated\(\)"):
            IVMRegressor(**QUICK).fit(given, REAL)
        with pytest.raises(ParameterError, match="2 columns with the name 'a'"):
            TableEncoder().fit(given)
    kept = frame.loc[:, ~frame.columns.duplicated()]
    assert IVMRegressor(**QUICK).fit(kept, REAL).n_features_in_ == 2


def test_deviations_and_covariances_are_asked_for_one_by_one():
    model = IVMRegressor(**QUICK).fit(X, REAL)
    with pytest.raises(ParameterError, match="not both: leave out return_std"):
        model.predict(X, return_std=True, return_cov=True)


FORMS = {
    "array": (lambda rows: rows, "1"),
    "pandas": (lambda rows: pd.DataFrame(rows, columns=[*"abc"]), "'b'"),
    "nullable": (lambda rows: pd.DataFrame(rows, columns=[*"abc"]).astype("Float64"), "'b'"),
    "polars": (lambda rows: pl.DataFrame(rows, schema=[*"abc"]), "'b'"),
    "sparse": (sparse.csr_matrix, "1"),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("cls", [IVMRegressor, GPClassifier], ids=lambda cls: cls.__name__)
def test_values_that_are_missing_or_infinite_are_told_with_their_place_and_a_remedy_that_is_true(name, cls):
    form, column = FORMS[name]
    y = REAL if cls is IVMRegressor else X[:, 1] > 0
    settings = QUICK if cls is IVMRegressor else {"learn": None}
    model = cls(**settings).fit(form(X), y)
    for value, message in ((np.nan, "NaN, and the model was fitted .*Fit to rows some of which"), (np.inf, "infinity")):
        rows = X.copy()
        rows[2, 1] = value
        with pytest.raises(ParameterError, match=rf"^Row 2, column {column}: X contains {message}") as raised:
            model.predict(form(rows))
        assert not re.search(r"HistGradient|natively|Imputer", str(raised.value))
        if value == value or name == "sparse":
            with pytest.raises(ParameterError, match=rf"^Row 2, column {column}: .*(make it NaN|dense array)"):
                cls(**settings).fit(form(rows), y)
        else:
            assert np.isfinite(cls(**settings).fit(form(rows), y).predict(form(rows)[:3])[0])


def test_names_of_other_libraries_are_those_of_here():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    with pytest.raises(ParameterError, match=r"multi_class must be .*'multinomial', which is called 'softmax' here$"):
        IVMClassifier(multi_class="multinomial").fit(X, y)
    with pytest.raises(ParameterError, match=r"multi_class must be .* got 'many'$"):
        IVMClassifier(multi_class="many").fit(X, y)


def test_plans_say_nothing_of_blocks_where_there_are_none():
    plan = Plan(1.0, 1000, 10, 5, 5, 1, 1, "float64")
    assert "candidates" not in str(plan) + plan._repr_html_()
    assert "5 rows considered" in str(plan)
    larger = plan._replace(block_size=4, pool_size=8)
    assert "blocks of up to 4 from 8 candidates" in str(larger)
    assert "from 8 candidates" in larger._repr_html_()
