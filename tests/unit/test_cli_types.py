"""Columns that have a type of their own: truth values and durations pass between CSV, Parquet, Python and here."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from infovec import IVMClassifier, IVMRegressor, load
from infovec.cli.commands import infovec
from infovec.cli.model import load_model
from infovec.datasets.cells import Marks, NoNumber, kind_of, numbers_of

RNG = np.random.default_rng(0)


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def frame(n=200):
    """A table with truth values, in one column some missing, and durations."""
    table = pd.DataFrame({"flag": RNG.random(n) < 0.5, "x": RNG.normal(size=n)})
    table["seen"] = pd.array(RNG.random(n) < 0.5, dtype="boolean")
    table.loc[::9, "seen"] = pd.NA
    return table.assign(y=table.flag + table.x > 0.5, z=table.flag + table.x)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    table = frame()
    for name, part in (("train", table[:150]), ("test", table[150:])):
        part.to_csv(f"{name}.csv", index=False)
        part.to_parquet(f"{name}.parquet")
        text = part.to_csv(index=False)
        with open(f"{name}_upper.csv", "w") as file:
            file.write(text.replace("True", "TRUE").replace("False", "false"))
    return table


def predicted(model, data):
    return list(csv.DictReader(io.StringIO(run("predict", model, data, "--proba").stdout)))


@pytest.mark.parametrize("kind", ["csv", "parquet", "python"])
def test_truth_values_pass_between_files_and_python(tables, kind):
    """Zeros and ones as a column; as a target True and False, whatever it was fitted to and reads."""
    if kind == "python":
        X = tables[["flag", "x", "seen"]][:150]
        IVMClassifier(n_active=30, random_state=0).fit(X, tables.y[:150]).save("m.ivm")
    else:
        run("fit", f"train.{kind}", "-t", "y", "-o", "m.ivm", "--drop", "z", "--active", 30)
    assert load("m.ivm").classes_.tolist() == [False, True]
    new = pd.read_csv("test.csv")
    model = load("m.ivm")
    assert model.score(new[["flag", "x", "seen"]], new["y"]) > 0.9
    expected = model.predict_proba(new[["flag", "x", "seen"]])[:, 1]
    for name in ("test.csv", "test_upper.csv", "test.parquet"):
        rows = predicted("m.ivm", name)
        assert {row["prediction"] for row in rows} == {"True", "False"}
        np.testing.assert_allclose([float(row["proba_True"]) for row in rows], expected, rtol=1e-6)
        if kind != "python":
            figures = json.loads(run("evaluate", "m.ivm", name, "--json").stdout)
            assert figures["error"]["value"] == pytest.approx(1.0 - model.score(new[["flag", "x", "seen"]], new["y"]))
            assert run("certify", "m.ivm", name).exit_code == 0
    if kind != "python":
        assert [column.kind for column in load_model("m.ivm").table.schema.columns] == ["number"] * 3
        assert json.loads(run("inspect", "m.ivm", "--json").stdout)["classes"] == [False, True]


def test_truth_values_are_kept_as_they_are_written(tables):
    run("fit", "train.csv", "-t", "z", "-o", "m.ivm", "--drop", "y", "--active", 30)
    for name, words in (("test.csv", {"True", "False"}), ("test_upper.csv", {"TRUE", "false"})):
        rows = csv.DictReader(io.StringIO(run("predict", "m.ivm", name, "--keep", "flag,seen,x").stdout))
        rows = list(rows)
        assert {row["flag"] for row in rows} == words
        assert {row["seen"] for row in rows} == words | {""}
        assert [float(row["x"]) for row in rows] == tables.x[150:].tolist()
    asked = list(csv.DictReader(io.StringIO(run("suggest", "m.ivm", "test.csv", "-n", 3).stdout)))
    assert {row["flag"] for row in asked} <= {"True", "False"}


def test_truth_values_may_be_numbers_to_regress_and_words_where_that_is_said(tables):
    run("fit", "train.csv", "-t", "y", "--task", "regress", "-o", "m.ivm", "--drop", "z", "--active", 30)
    assert load_model("m.ivm").table.task == "regress"
    run("fit", "train.csv", "-t", "y", "--categorical", "flag", "-o", "m.ivm", "--drop", "z", "--active", 30)
    assert load_model("m.ivm").table.words[0].categories == ("False", "True")
    run("evaluate", "m.ivm", "test.parquet")  # as a model of earlier versions, which had them as words


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (("True", "false", ""), "truth"), (("True", "1"), "word"), (("True", "?"), "word"), (("yes", "no"), "word"),
        (("1", "0"), "number"), (("", "NA"), "number"), (("tRUE", "fALSE"), "truth"),
    ],
)  # fmt: skip
def test_truth_values_are_those_of_pandas(cells, kind):
    assert kind_of(cells, Marks()) == kind
    found = pd.read_csv(io.StringIO("a,b\n" + "".join(f"{cell},1\n" for cell in cells)))["a"]
    truths = found.dtype == bool or (len(found.dropna()) > 0 and all(isinstance(v, bool) for v in found.dropna()))
    assert truths == (kind == "truth")


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        (("True", "False", "", "maybe", "True"), "maybe"), (("True", "FALSE", "1", "0.0"), None),
        (("True", "False", "2", "True"), "2"), (("12", "13", "True", "14"), "True"), (("3", "x", "True"), "x"),
        (("0", "1", "True"), None), (("True", "maybe", "1"), "maybe"),
    ],
)  # fmt: skip
def test_the_cell_that_is_neither_a_number_nor_a_truth_value_is_named(cells, wrong):
    if wrong is None:
        expected = [float(cell) if cell[0] in "01" else cell.lower() == "true" for cell in cells]
        np.testing.assert_array_equal(numbers_of(cells), expected)
        return
    with pytest.raises(NoNumber) as error:
        numbers_of(cells)
    assert (error.value.row, error.value.cell) == (cells.index(wrong), wrong)


def test_an_odd_cell_among_truth_values_is_named_by_predict_and_fit(tables):
    run("fit", "train.csv", "-t", "z", "-o", "m.ivm", "--drop", "y", "--active", 30)
    lines = Path("train.csv").read_text().splitlines()

    def with_flag(cell, name):
        Path(name).write_text("\n".join([*lines[:8], ",".join([cell, *lines[8].split(",")[1:]]), *lines[9:]]))

    for odd, meant in (("maybe", None), ("1", "True"), ("0", "False")):
        with_flag(odd, "odd.csv")
        if meant is None:
            said = run("predict", "m.ivm", "odd.csv", code=1).stderr
            assert "line 9, column 'flag': 'maybe' is not a number, nor True or False as others are" in said
        else:
            with_flag(meant, "plain.csv")
            assert run("predict", "m.ivm", "odd.csv").stdout == run("predict", "m.ivm", "plain.csv").stdout
        said = run("fit", "odd.csv", "-t", "z", "-o", "odd.ivm", "--drop", "y", "--active", 30).stderr
        assert "column 'flag' is taken as categories: 149 of 150 cells are True or False, 1 is not, such as " in said
        assert f"{'line 9 ' * (odd == 'maybe')}{odd!r}" in said


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_days(tmp_path, monkeypatch, unit):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    seconds = RNG.integers(0, 900_000, size=120)
    table = pd.DataFrame({"took": pd.to_timedelta(seconds, unit="s").astype(f"timedelta64[{unit}]"),
                          "x": RNG.normal(size=120)})  # fmt: skip
    table.loc[::10, "took"] = pd.NaT
    table["y"] = np.where(table.took.isna(), 3.0, seconds / 86400.0) + table.x
    table.to_parquet("x.parquet")
    run("fit", "x.parquet", "-t", "y", "-o", "m.ivm", "--active", 60)
    column = load_model("m.ivm").table.schema.columns[0]
    assert (column.form, column.kind) == ("number", "duration")
    assert column.fill == pytest.approx(table.took.median() / pd.Timedelta("1D"), rel=1e-5)
    X = table[["took", "x"]]
    IVMRegressor(n_active=60, random_state=0).fit(X, table.y).save("p.ivm")
    for name in ("m.ivm", "p.ivm"):
        rows = run("predict", name, "x.parquet").stdout.splitlines()[1:]
        np.testing.assert_allclose(np.array(rows, dtype=float), load(name).predict(X), rtol=1e-5, atol=1e-5)
    assert np.std(np.array(rows, dtype=float) - table.y) < 0.5


def test_times_of_day_are_fractions_of_a_day(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    moments = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 86400, size=60), unit="s")
    table = pd.DataFrame({"at": moments.time, "y": moments.hour + RNG.normal(size=60)})
    table.to_parquet("x.parquet")
    run("fit", "x.parquet", "-t", "y", "-o", "m.ivm", "--active", 30)
    assert load_model("m.ivm").table.schema.columns[0].kind == "time"
    rows = run("predict", "m.ivm", "x.parquet").stdout.splitlines()[1:]
    np.testing.assert_allclose(np.array(rows, dtype=float), load("m.ivm").predict(table[["at"]]), rtol=1e-5, atol=1e-5)


_ORDERS = {
    "texts": lambda z: pd.Categorical(np.array(["lo", "mid", "hi"])[z], ["lo", "mid", "hi"], ordered=True),
    "numbers": lambda z: pd.Categorical(z + 1, ordered=True),
    "numbers without an order": lambda z: pd.Categorical(z + 1),
    "intervals": lambda z: pd.cut(z, [-1, 0, 1, 2]),
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", _ORDERS)
def test_categories_of_python_are_read_from_files(tmp_path, monkeypatch, kind, gaps):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame({"a": RNG.normal(size=120), "o": _ORDERS[kind](RNG.integers(0, 3, size=120))})
    if gaps:
        X.loc[::7, "o"] = np.nan
    model = IVMClassifier(n_active=40, random_state=0).fit(X, X.a + X.o.cat.codes > 1)
    model.save("m.ivm")
    X.to_csv("x.csv", index=False)
    pd.read_csv("x.csv").to_parquet("x.parquet")
    if "numbers" in kind:  # as frames write them where some are missing
        X.assign(o=X.o.astype(float)).to_csv("x_float.csv", index=False)
    for name in ["x.csv", "x.parquet"] + ["x_float.csv"] * ("numbers" in kind):
        rows = predicted("m.ivm", name)
        np.testing.assert_allclose([float(row["proba_True"]) for row in rows], model.predict_proba(X)[:, 1], rtol=1e-6)
    asked = list(csv.DictReader(io.StringIO(run("suggest", "m.ivm", "x.csv", "-n", 3).stdout)))
    assert {row["o"] for row in asked} <= {"", *map(str, X.o.cat.categories)}


def test_an_order_that_is_not_taken_is_told_of(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame({"a": RNG.normal(size=60), "o": _ORDERS["texts"](RNG.integers(0, 3, size=60))})
    X.assign(p=X.o.astype(str).astype("category"), y=X.a + X.o.cat.codes).to_parquet("x.parquet")
    for held in ((), ("--test", 0.3)):
        said = run("fit", "x.parquet", "-t", "y", "-o", "m.ivm", "--active", 20, *held).stderr
        assert "column 'o' has ordered categories, whose order is not taken" in said
        assert "column 'p'" not in said
    assert "order" not in run("fit", "x.parquet", "-t", "y", "-o", "m.ivm", "--active", 20, "--drop", "o").stderr


def test_a_level_that_is_not_in_the_order_is_told_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame({"a": RNG.normal(size=60), "o": _ORDERS["texts"](RNG.integers(0, 3, size=60))})
    IVMClassifier(n_active=30, random_state=0).fit(X, X.a + X.o.cat.codes > 1).save("m.ivm")
    with open("x.csv", "w") as file:
        file.write("a,o\n0.1,lo\n0.2,huge\n")
    said = run("predict", "m.ivm", "x.csv").stderr
    assert "far from all of them): o=huge (1)" in said
