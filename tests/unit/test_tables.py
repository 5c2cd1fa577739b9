"""Tables as they come: what the encoding makes of each kind of column, and what it says of those it cannot take."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from infovec import IVMRegressor, TableEncoder, load
from infovec.errors import ModelFileError, ParameterError
from infovec.onnx_export import to_onnx
from infovec.tables import TableSchema, is_plain

DAY = datetime.datetime(2020, 1, 1)
NAN = float("nan")
RNG = np.random.default_rng(0)


def encoded(values, library="pandas"):
    """The columns of the encoding of one column, and the names of these."""
    frame = pd.DataFrame({"c": values}) if library == "pandas" else pl.DataFrame({"c": values})
    encoder = TableEncoder().fit(frame)
    return encoder.transform(frame).T.tolist(), encoder.get_feature_names_out().tolist()


COLUMNS = {
    "numbers": ([1.0, 2.5], [[1.0, 2.5]]),
    "gaps": ([1.0, NAN, 5.0, 3.0], [[1.0, 3.0, 5.0, 3.0], [0, 1, 0, 0]]),
    "objects": (pd.Series([1, None, 2], dtype=object), [[1, 1.5, 2], [0, 1, 0]]),
    "nullable": (pd.Series([1, None, 2], dtype="Int64"), [[1, 1.5, 2], [0, 1, 0]]),
    "truth": (pd.Series([True, None, False], dtype="boolean"), [[1, 0.5, 0], [0, 1, 0]]),
    "texts": (["b", "a", None, "b"], [[1, 0, 1, 1], [0, 0, 1, 0]]),
    "strings": (pd.Series(["b", "a", None], dtype="string"), [[1, 0, 0], [0, 0, 1]]),
    "categories": (pd.Categorical(["b", None, "a"], categories=["z", "b", "a"]), [[1, 0, 0], [0, 1, 0]]),
    "labels": (pd.Categorical([3, 1, 3]), [[1, 0, 1]]),
    "ranks": (
        pd.Categorical(["lo", "hi", None, "mid"], ["lo", "mid", "hi"], ordered=True),
        [[0, 2, 1, 1], [0, 0, 1, 0]],
    ),
    "days": (pd.Series([DAY, pd.NaT, DAY + datetime.timedelta(2.5)]), [[18262, 18263.25, 18264.5], [0, 1, 0]]),
    "zones": (pd.Series([DAY]).dt.tz_localize("Europe/Berlin"), [[18262 - 1 / 24]]),
    "dates": ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)], [[18262, 18264]]),
    "spans": (pd.to_timedelta([12, 24], unit="h"), [[0.5, 1.0]]),
    "times": ([datetime.time(6), datetime.time(18)], [[0.25, 0.75]]),
    "months": (pd.period_range("2020-01", periods=2, freq="M"), [[18262, 18293]]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_pandas(name):
    values, expected = COLUMNS[name]
    found, names = encoded(values)
    np.testing.assert_allclose(found, expected)
    assert names == ["c", "c is missing"][: len(expected)]


POLARS = {
    "whole": (pl.Series([1, None, 2]), [[1, 1.5, 2], [0, 1, 0]]),
    "nan": (pl.Series([1.0, NAN, 2.0]), [[1, 1.5, 2], [0, 1, 0]]),
    "truth": (pl.Series([True, None, False]), [[1, 0.5, 0], [0, 1, 0]]),
    "texts": (pl.Series(["b", None, "b", "a"]), [[1, 1, 1, 0], [0, 1, 0, 0]]),
    "categories": (pl.Series(["b", None, "a"], dtype=pl.Categorical), [[1, 0, 0], [0, 1, 0]]),
    "listed": (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a", "z"])), [[1, 0]]),
    "dates": (pl.Series([datetime.date(2020, 1, 1), None]), [[18262, 18262], [0, 1]]),
    "moments": (pl.Series([DAY + datetime.timedelta(0.5)]), [[18262.5]]),
    "spans": (pl.Series([datetime.timedelta(0.5)]), [[0.5]]),
    "times": (pl.Series([datetime.time(6)]), [[0.25]]),
}


@pytest.mark.parametrize("name", POLARS)
def test_columns_of_polars(name):
    values, expected = POLARS[name]
    np.testing.assert_allclose(encoded(values, "polars")[0], expected)


def test_new_categories_and_new_gaps():
    frame = pd.DataFrame({"colour": ["red", "blue"], "size": [1.0, 3.0], "grade": pd.Categorical([1, 2], ordered=True)})
    encoder = TableEncoder().fit(frame)
    later = pd.DataFrame({"colour": ["green", None], "size": [2.0, NAN], "grade": pd.Categorical([2, 9], ordered=True)})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = encoder.transform(later)
    np.testing.assert_array_equal(found, [[-1, 2.0, 1.0], [-1, 2.0, -20.0]])  # green is none of both, 9 far from both
    texts = [str(one.message) for one in said]
    assert "1 of 2 cells of column 'grade' hold categories" in texts[0]
    assert texts[1].startswith("column 'size' has missing")
    assert texts[2].startswith("column 'colour' has missing values now and had none")
    assert encoder.schema_.word(2, found[1]) == "new"
    assert encoder.schema_.word(0, found[0]) == "new"


def test_a_category_missing_for_the_first_time_is_told_of():
    frame = pd.DataFrame({"colour": ["red", "blue"], "plan": ["a", "b"], "size": [1.0, 3.0]})
    encoder = TableEncoder().fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(frame.assign(colour=["green", "red"]))
    with pytest.warns(UserWarning, match="missing values now") as said:
        encoder.transform(frame.assign(colour=[None, "red"]))
    assert [str(one.message) for one in said] == [
        "column 'colour' has missing values now and had none when the model was fitted, which therefore takes them for "
        "none of its categories; fit to rows with missing values for it to learn what they mean"
    ]


def test_what_tells_nothing_is_said():
    with pytest.warns(UserWarning, match="column 'b' has no values"):
        encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}))
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"a": [3.0], "b": ["now"]})), [[3.0, 0.0]])
    with pytest.warns(
        UserWarning, match="column 'id' has more different texts than half of the rows.* std can be twice"
    ):
        TableEncoder().fit(pd.DataFrame({"id": [f"n{i}" for i in range(150)]}))
    with pytest.raises(ValueError, match="no column of X has any value"):
        TableEncoder().fit(pd.DataFrame({"a": [None, None]}))


BAD = {
    "mixed": ([1, "many"], "column 'c' holds numbers and text: row 0 has 1, row 1 has 'many'.*astype"),
    "nested": ([[1, 2], [3]], "column 'c' holds a list in row 0.*columns of its own"),
    "complex": ([1j, 2j], "column 'c' holds a complex in row 0"),
    "infinite": ([1.0, None, float("inf")], "row 1, column 'c' is infinite"),
    "large": ([1e31, None, 2.0], "row 0, column 'c' is 1e.31, too large"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_a_column(name):
    values, message = BAD[name]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        TableEncoder().fit(pd.DataFrame({"c": values}))


OTHERS = {
    "a date becomes text": ([DAY], ["1 May 2020"], "'c' held dates.*holds text now.*to_datetime"),
    "a number becomes text": (
        [1.0, None],
        ["x", "y"],
        "'c' held numbers.*holds text now, such as 'x': give it the type that it had$",
    ),
    "text becomes numbers": (
        ["x", "y"],
        [1.0, 2.0],
        r"'c' held text.*holds numbers now: .*Read it as text, for example by pandas.read_csv\(..., dtype={'c': str}\)",
    ),
    "text becomes a date": (["x", "y"], [DAY, DAY], "'c' held text.*holds dates now"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_columns_that_have_become_others(name):
    before, now, message = OTHERS[name]
    encoder = TableEncoder().fit(pd.DataFrame({"c": before}))
    with pytest.raises(ValueError, match=f"(?s){message}"):
        encoder.transform(pd.DataFrame({"c": now}))


LATER = {
    "amounts": (["2,006.82", "1,104.50", "12.00"], [2006.82, 1104.5, 12.0], None),
    "dollars": (["$2,006", "$1,104", None], [2006.0, 1104.0, NAN], None),
    "plain": (["1.5", "2.5e-05", None], [1.5, 2.5e-5, NAN], None),
    "powers": (["1,104.50", "2.5e-05", "1e3"], [1104.5, 2.5e-5, 1000.0], None),
    "listed": (pd.Categorical(["2,006.82", "1,104", None]), [2006.82, 1104.0, NAN], None),
    "some words": (["1.5", "none", "none"], [1.5, NAN, NAN], "2 of its 3 cells are no number (such as 'none')"),
    "words among amounts": (["1,104.50", "n/a", "7"], [1104.5, NAN, 7.0], "1 of its 3 cells is no number"),
    "numbers among amounts": (["1,104.50", 7.5, None], [1104.5, 7.5, NAN], None),
    "numbers among words": ([7.5, "many", None], [7.5, NAN, NAN], "1 of its 2 cells is no number (such as 'many')"),
    "words": (["many", "few"], None, None),
    "fractions": (["1,104.50", "12/05"], None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_remedy_for_texts_where_numbers_were_loses_nothing_that_it_does_not_count(name, gaps):
    values, numbers, lost = LATER[name]
    X = pd.DataFrame({"spend": np.arange(40.0), "a": RNG.normal(size=40)})
    if gaps:
        X.loc[::2, "a"] = NAN
    model = IVMRegressor(learn=None, n_active=10).fit(X, X["spend"])
    later = pd.DataFrame({"spend": values, "a": 0.0})
    if name == "plain" and not gaps:  # scikit-learn reads them
        assert np.isfinite(model.predict(later.dropna())).all()
        return
    with pytest.raises(ParameterError, match=r"(?s)spend.*text") as raised:
        model.predict(later)
    said = str(raised.value)
    assert ("coerce" in said) == (lost is not None)
    assert (lost or "") in said
    if numbers is None:
        assert "to_numeric" not in said
        return
    line = said[said.index("X['spend'] = ") :].split(", which makes")[0]
    scope = {"X": later, "pandas": pd}
    exec(line, scope)  # as a user pastes it
    np.testing.assert_array_equal(scope["X"]["spend"], numbers)


@pytest.mark.parametrize("gaps", [False, True])
def test_categories_most_of_which_are_unknown_are_told_of(gaps):
    X = pd.DataFrame({"plan": ["basic", "premium", "free", "old"] * 10, "a": np.arange(40.0)})
    if gaps:
        X.loc[::3, "plan"] = None
    model = IVMRegressor(learn=None, n_active=10).fit(X, X["a"])
    total = int(X["plan"].notna().sum())
    for frame in (X, X.astype({"plan": "category"}), pl.from_pandas(X)):
        upper = (
            frame.with_columns(pl.col("plan").str.to_uppercase())
            if isinstance(frame, pl.DataFrame)
            else frame.assign(plan=frame["plan"].astype(object).str.upper())
        )
        with pytest.warns(
            UserWarning, match=rf"{total} of {total} cells of column 'plan'.*'[A-Z]+', where it knows"
        ) as t:
            model.predict(upper)
        assert len(t) == 1
    with pytest.warns(UserWarning, match=r"1 of 1 cells of column 'plan'.*such as ' Basic', where it knows 'basic'\."):
        model.predict(pd.DataFrame({"plan": [" Basic"], "a": [0.0]}))
    with pytest.warns(UserWarning, match=r"6 of 9 cells.*'gold', where it knows 'basic', 'free', 'old', \.\.\.\."):
        model.predict(pd.DataFrame({"plan": ["gold"] * 6 + ["free"] * 3, "a": 0.0}))
    for n in (1, 3):
        with pytest.warns(UserWarning, match=rf"{n} of {n} cells of column 'plan'.*such as 'gold'"):
            model.predict(pd.DataFrame({"plan": ["gold"] * n, "a": 0.0}))
    with warnings.catch_warnings():  # rare categories beside others
        warnings.simplefilter("error")
        model.predict(pd.DataFrame({"plan": ["gold"] * 3 + ["free"], "a": 0.0}))
        model.predict(pd.DataFrame({"plan": ["gold"] * 5 + ["free"] * 5, "a": 0.0}))


def test_unknown_ranks_and_labels_are_told_of():
    grades = pd.Categorical(["lo", "mid", "hi"] * 4, ["lo", "mid", "hi"], ordered=True)
    encoder = TableEncoder().fit(pd.DataFrame({"grade": grades, "code": pd.Categorical([1, 2, 3] * 4)}))
    later = pd.DataFrame({"grade": ["low"] * 6 + ["hi"] * 2, "code": [1.0] * 2 + [9.0] * 6})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        encoder.transform(later)
    text = str(told[0].message)
    assert "6 of 8 cells of column 'grade'" in text
    assert "such as 'low', where it knows 'lo', 'mid', 'hi'" in text
    assert "6 of 8 cells of column 'code'" in text
    assert "such as '9', where it knows '1', '2', '3'" in text


@pytest.mark.parametrize("gaps", [0.1, 0.0])
def test_a_new_rank_is_neither_a_missing_one_nor_known(gaps):
    rng = np.random.default_rng(0)
    sizes, place = ["S", "M", "L", "XL"], rng.integers(0, 4, 400)
    size = pd.Categorical.from_codes(np.where(rng.random(400) < gaps, -1, place), sizes, ordered=True)
    X = pd.DataFrame({"size": size, "z": rng.normal(size=400)})
    y = place + np.where(X["size"].isna(), -5, 0) + 0.2 * rng.normal(size=400)
    model = IVMRegressor(n_active=40, random_state=0).fit(X, y)
    new = [*sizes, "XXL", None][: 5 + (gaps > 0)]
    later = pd.DataFrame({"size": pd.Categorical(new, [*sizes, "XXL"], ordered=True), "z": 0.0})
    with pytest.warns(UserWarning, match="ordered ones lie far from all") as told:
        mean, std = model.predict(later, return_std=True)
    assert len(told) == 1
    assert "1 of 5 cells of column 'size' hold categories" in str(told[0].message)
    assert "'XXL', where it knows 'S', 'M', 'L', ..." in str(told[0].message)
    np.testing.assert_allclose(mean[:4], range(4), atol=0.3)
    assert std[4] > 5 * std[:4].max()  # what is not known counts: the column is nearly all there is
    if gaps:
        assert mean[5] < -3
        assert std[5] < std[4] / 5


def test_other_columns_are_refused():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    encoder = TableEncoder().fit(frame)
    for other in (frame[["b", "a"]], frame[["a"]], frame.rename(columns={"b": "c"})):
        with pytest.raises(ValueError, match="feature names"):
            encoder.transform(other)


def test_labels_are_the_same_as_numbers_and_as_texts():
    encoder = TableEncoder().fit(pd.DataFrame({"c": pd.Categorical([10, 2, 30])}))
    for same in (pd.Categorical([30, 10]), [30.0, 10.0], pd.Categorical(["30", "10"])):
        np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"c": same})), [[2], [0]])


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("pqr"), 50), "b": rng.normal(size=50)}).mask(rng.random((50, 2)) < 0.2)
    order = rng.permutation(50)
    assert TableEncoder().fit(frame).schema_ == TableEncoder().fit(frame.iloc[order]).schema_


def test_a_schema_is_plain_data():
    frame = pd.DataFrame(
        {"a": pd.Categorical(["lo", None], ["lo", "hi"], ordered=True), "b": ["x", None], "c": [DAY, DAY]}
    )
    schema = TableEncoder().fit(frame).schema_
    data = schema.to_json()
    assert TableSchema.from_json(data) == schema
    for change in ({"form": "other"}, {"kind": "dates"}, {"fill": NAN}, {"more": 1}):
        with pytest.raises(ModelFileError):
            TableSchema.from_json([{**data[2], **change}])
    with pytest.raises(ModelFileError):
        TableSchema.from_json([{**data[1], "categories": ["x", "x"]}])


def test_it_is_a_transformer():
    frame = pd.DataFrame({"a": ["x", "y", None], "b": [1.0, NAN, 3.0]})
    pipeline = make_pipeline(TableEncoder()).set_output(transform="pandas").fit(frame)
    found = pipeline.transform(frame)
    assert list(found.columns) == ["a", "b", "a is missing", "b is missing"]
    assert clone(pipeline[0]).fit(frame).categorical_.tolist() == [0, 2, 3]
    array = np.array([[1.0, NAN], [2.0, 3.0]])
    np.testing.assert_array_equal(TableEncoder().fit_transform(array), [[1, 3, 1], [2, 3, 0]])


def test_the_encoder_of_a_model_makes_what_the_model_sees(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", None, "z"] * 5, "b": [1.0, NAN, 3.0, 4.0] * 5, "c": np.arange(20.0)})
    model = IVMRegressor(n_active=6, learn=None, random_state=0).fit(frame, np.arange(20.0) % 7)
    model.save(tmp_path / "m.ivm")
    for one in (model, load(tmp_path / "m.ivm")):
        encoder = TableEncoder.from_model(one)
        expected = TableEncoder().fit(frame)
        some = frame[:1]  # of which alone nothing could be learned of gaps and categories
        np.testing.assert_array_equal(encoder.transform(some), expected.transform(some))
        np.testing.assert_array_equal(encoder.transform(frame)[model.active_], model.active_vectors_)
        assert encoder.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        assert encoder.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="nothing to encode"):
        TableEncoder.from_model(model.fit(frame[["c"]], np.arange(20.0)))


@pytest.mark.parametrize("what", ["categories", "gaps"])
def test_several_targets_of_a_table_are_saved_and_encoded(what, tmp_path):
    frame = pd.DataFrame({"a": RNG.normal(size=120), "g": RNG.choice(["u", "v"], 120)})
    y = np.sin(frame["a"]) + (frame["g"] == "u") + 0.1 * RNG.normal(size=120)
    X = frame if what == "categories" else frame[["a"]].mask(np.arange(120)[:, None] % 9 == 0)
    model = IVMRegressor(n_active=20, random_state=0).fit(X, np.c_[y, -2.0 * y])
    model.save(tmp_path / "several.ivm")
    loaded = load(tmp_path / "several.ivm")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for one in (model, loaded):
        encoder, matrix = TableEncoder.from_model(one), TableEncoder().fit_transform(X)
        np.testing.assert_array_equal(encoder.transform(X), matrix)
    graph = pytest.importorskip("onnxruntime").InferenceSession(to_onnx(loaded.outputs_[1]).SerializeToString())
    np.testing.assert_allclose(graph.run(["mean"], {"X": matrix})[0], model.predict(X)[:, 1], rtol=1e-6)
    assert not hasattr(model.fit(frame[["a"]], np.c_[y, y]), "table_")
    assert not hasattr(model.fit(X, np.c_[y, y]).fit(frame[["a"]], y), "table_")


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_plain_tables_need_no_encoding():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": [0.5, 1.5]})
    assert is_plain(frame)
    assert is_plain(pl.from_pandas(frame))
    for column in ([None, 1.0], ["x", "y"], [DAY, DAY]):
        assert not is_plain(frame.assign(c=column))
        assert not is_plain(pl.from_pandas(frame.assign(c=column)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableEncoder().fit(frame).schema_.plain


def csv_of_dates(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table as ``pd.read_csv`` has it, with dates as texts of which some are missing, and what they tell."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 700, n)
    written = np.array([str(np.datetime64("2021-03-04") + int(d)) for d in day], dtype=object)
    written[rng.random(n) < 0.1] = np.nan
    table = pd.DataFrame({"since": written, "age": rng.normal(40.0, 9.0, n), "plan": rng.choice(["a", "b"], n)})
    return table, np.sin(day / 100.0) + 0.1 * rng.normal(size=n)


def test_texts_that_are_all_iso_dates_are_dates() -> None:
    table, y = csv_of_dates(200, 0)
    as_dates = table.assign(since=pd.to_datetime(table["since"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = TableEncoder().fit(table)
        np.testing.assert_array_equal(encoder.transform(table), TableEncoder().fit_transform(as_dates))
        np.testing.assert_array_equal(encoder.transform(as_dates), encoder.transform(table))
        in_polars = TableEncoder().fit_transform(
            pl.DataFrame({**table, "since": [*table["since"].replace({np.nan: None})]})
        )
    np.testing.assert_array_equal(in_polars, encoder.transform(table))
    assert [column.kind for column in encoder.schema_.columns] == ["date", "number", "text"]
    one = encoder.transform(pd.DataFrame({"since": ["1970-01-03T12:00:00+00:00"], "age": [1.0], "plan": ["a"]}))
    assert one[0, 0] == 2.5
    later, target = csv_of_dates(100, 1)
    model = IVMRegressor(n_active=60, random_state=0).fit(table, y)
    known = later["since"].notna()
    assert model.score(later[known], target[known]) > 0.7


def test_texts_that_are_said_to_be_categories_stay_so_and_a_text_that_is_no_date_is_told() -> None:
    table, _ = csv_of_dates(200, 0)
    for listed in (
        table.astype({"since": "category"}),
        pl.DataFrame({"since": pl.Series(["2021-03-04"] * 3, dtype=pl.Categorical)}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert TableEncoder().fit(listed).schema_.columns[0].form == "category"
    mixed = table.assign(since=["on demand", *table["since"][1:]])
    with pytest.warns(
        UserWarning,
        match=r"'since' holds dates, but not only \('on demand'\).*leaves 1 of 178 missing.*errors=\"coerce\"",
    ):
        TableEncoder().fit(mixed)
    encoder = TableEncoder().fit(table)
    with pytest.raises(ParameterError, match=r"held dates when the model was fitted, and holds text now.*to_datetime"):
        encoder.transform(mixed)
    wrong = table.assign(since=["2021-02-30", *table["since"][1:]])  # which is no day
    with pytest.warns(UserWarning, match="'2021-02-30'"):
        assert TableEncoder().fit(wrong).schema_.columns[0].form == "category"
    codes = table.assign(since=["2021", *["2022"] * 199])
    assert TableEncoder().fit(codes).schema_.columns[0].form == "category"


def test_rare_categories_of_a_search_are_not_told_of():
    """Folds of categories that few rows have, and rows left out one by one."""
    rng = np.random.default_rng(1)
    plan = np.where(rng.random(60) < 0.6, "basic", [f"plan {k}" for k in rng.integers(0, 12, 60)])
    X, y = pd.DataFrame({"plan": plan, "a": rng.normal(size=60)}), rng.normal(size=60)
    model = IVMRegressor(learn=None, n_active=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cv in (KFold(10), LeaveOneOut()):
            search = GridSearchCV(model, {"n_active": [5, 10]}, cv=cv, scoring="neg_mean_squared_error")
            assert np.isfinite(search.fit(X, y).best_score_)
