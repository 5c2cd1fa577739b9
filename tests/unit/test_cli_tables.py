"""Tables as they come: each trouble has its message, each exit its code."""

import csv
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from infovec import IVMRegressor, TableEncoder, load
from infovec.cli.commands import infovec
from infovec.cli.gather import Choices, gather
from infovec.cli.model import load_model, save_model
from infovec.cli.table import Encoder, Table, stacked
from infovec.datasets import open_source
from infovec.errors import ModelFileError

RNG = np.random.default_rng(0)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        return CliRunner().invoke(infovec, [str(a) for a in arguments])

    return command


@pytest.fixture
def fails(run, tmp_path):
    """Fit to a text; return the message, which must come with exit code 1 and without a model."""

    def fit(content, *options):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "x.csv").write_bytes(data)
        result = run("fit", "x.csv", "--target", "y", "-o", "m.ivm", "--active", 5, *options)
        assert result.exit_code == 1, result.output
        assert not (tmp_path / "m.ivm").exists()
        assert result.stdout == ""
        return result.stderr

    return fit


def rows(n, template="{i},{j},{y}\n"):
    return "".join(template.format(i=i, j=(7 * i) % 11, y=i % 2) for i in range(n))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,y\n1,2,0\n3,4\n5,6,1\n", "x.csv, line 3: 2 fields, where the header has 3"),
        ("a,b,y\n1,2,0\n3,4,1,9\n", "x.csv, line 3: 4 fields, where the header has 3"),
        ("a,b,y\n" + rows(40000) + "1,2\n", "x.csv, line 40002: 2 fields, where the header has 3"),
        ("a,näme,y\n1,2,0\n".encode("latin-1"), "x.csv, line 1: byte 0xe4 is not utf-8"),
        ("a,b,y\n" + rows(3) + "1,2,ja\n3,4,\xfcbel\n", None),
        ("a,a,y\n1,2,0\n", "the header has 'a' more than once (columns 1 and 2)"),
        ("a,b,y\n", "x.csv has a header but no rows"),
        ("", "x.csv is empty"),
        ("\n\n", "x.csv is empty"),
        ("a,b,y\n1,1e308,0\n2,3,1\n", "x.csv, line 2, column 'b': 1e+308 is too large to compute with"),
        ("a,b,y\n1,-inf,0\n2,3,1\n", "x.csv, line 2, column 'b': -inf is too large to compute with"),
        ("a,day,y\n" + rows(9, "{i},2024-01-{i:02d},{y}\n"), "column 'day' holds dates (such as '2024-01-00')"),
        ("a,day,y\n" + rows(9, "{i},3/{i}/2024 12:30,{y}\n"), "column 'day' holds dates"),
        ("a;b;y\n" + rows(9, "{i};1,00{j};{y}\n").replace("10", "1"), "column 'b' has numbers with a comma"),
        ("id,b,y\n" + rows(200, "n{i},{j},{y}\n"), "column 'id' holds 200 different words in 200 rows"),
        ("a,b,y\n1,2,0\n2,3,\n", "x.csv, line 3: the target 'y' is missing"),
        ("a,b,y\n1,2,p\n2,3,\n", "x.csv, line 3: the target 'y' is missing"),
        ("a,b,y\n1,2,0\n2,3,0\n", "target 'y' is 0 in all 2 rows"),
        ("a,y\n,0\n,1\n", "no column beside the target has values"),
        ("y\n0\n1\n", "has no column beside the target 'y'"),
        ("a,b,label\n1,2,0\n", "x.csv has no column 'y'; it has 'a', 'b', 'label'"),
        ("1,2,0\n3,4,1\n", "The first line is all numbers: if it is no header, add --no-header"),
        (
            "a,b,y\n" + rows(3000) + "x,2,0\n",
            "line 3002, column 'a': 'x' is not a number. Mend the cell, or say --categorical 'a'",
        ),
        (
            "a,b,y\n" + rows(3000) + "1,2,no\n",
            "column 'y': 'no' is not a number. If the target is a class, say --task classify",
        ),
        ("a,b,y\n" + rows(300, "{i},{j},r{i}\n"), "target 'y' has 300 different labels in 300 rows"),
        ("a,b,y\n1,2,1.5e35\n2,3,0.5\n", "target 'y': 1.5e+35 is too large"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(fails, content, message):
    if message is None:  # bytes that are no UTF-8, in a line further down
        content, message = content.encode("latin-1"), "x.csv, line 6: byte 0xfc is not utf-8"
    assert message in fails(content)


def test_all_columns_that_need_a_decision_are_named_at_once_with_a_command_to_paste(run, tmp_path):
    lines = ["customer id,since,spend,last_login,plan,note,status"]
    for i in range(200):
        day, note = f"{i % 28 + 1:02d}", f"n{i}"
        plan = ("basic", "premium")[i % 2]
        lines.append(f'c{i},2021-03-{day},"{1 + i % 9},{100 + i}.50",{day}.04.2022,{plan},{note},{i // 3 % 2}')
    (tmp_path / "train.csv").write_text("\n".join(lines))
    command = ["fit", "train.csv", "--target", "status", "-o", "m.ivm", "--active", "5", "--drop=note"]
    result = run(*command)
    assert result.exit_code == 1
    for name in ("'customer id' holds 200 different words", "'since' holds dates", "'spend' holds numbers",
                 "'last_login' holds dates"):  # fmt: skip
        assert name in result.stderr
    assert "'plan'" not in result.stderr
    line = result.stderr.strip().partition("For example: infovec ")[2]
    assert line.endswith("--drop 'note,customer id' --dates since,last_login --thousands ,")
    assert run(*shlex.split(line)).exit_code == 0
    assert [column.name for column in load_model("m.ivm").table.schema.columns] == [
        "since", "spend", "last_login", "plan"
    ]  # fmt: skip


def test_columns_that_only_the_file_can_mend_have_no_command(fails):
    table = "a,b,y\n" + "".join(f"{i},${i}.00,{i % 2}\n" for i in range(30))
    assert "For example" not in fails(table)
    both = "a,b,c,y\n" + "".join(f"{i},${i}.00,2021-01-{i % 28 + 1:02d},{i % 2}\n" for i in range(30))
    assert "write 104300.00" in fails(both)
    assert "--dates c" in fails(both)


def test_a_target_that_holds_words_cannot_be_regressed(fails):
    assert "holds words, so it cannot be regressed" in fails("a,y\n1,p\n2,q\n", "--task", "regress")


@pytest.mark.parametrize(
    "amount", ["$104,{i:03d}.00", "104 {i:03d}", "1.104.{i:03d},50 €", "EUR 1{i:03d}", "104,{i:03d}"]
)
@pytest.mark.parametrize("n", [30, 300])
def test_amounts_are_said_to_be_so_and_not_sent_in_a_circle(fails, amount, n):
    lines = [f'{i},"{amount.format(i=i)}"' for i in range(n)]
    target, column = "\n".join(["a,y", *lines]), "\n".join(["y,a", *lines])
    known = {"104,{i:03d}": "if it stands between thousands, --thousands ,",
             "104 {i:03d}": "has marks between thousands: say --thousands space"}  # fmt: skip
    cause = known.get(amount, "write 104300.00 for $104,300.00")
    for message in (
        fails(target), fails(target, "--task", "regress"), fails(column),
        fails("a,y\n" + "".join(f"{i},{i}.5\n" for i in range(3000)) + lines[-1]),
        *([fails(target, "--task", "classify")] if n > 100 else []),
    ):  # fmt: skip
        assert cause in message
        assert "--task regress" not in message


@pytest.mark.parametrize(
    ("mark", "form", "delimiter"),
    [(",", "1,{i:03d}.5", ","), (".", "1.{i:03d},5", ";"), ("space", "1 {i:03d},5", ";"),
     ("space", "1\u202f{i:03d}.5", ","), ("'", "1’{i:03d}.5", ",")],
)  # fmt: skip
def test_marks_between_thousands_are_read_when_they_are_named(run, tmp_path, mark, form, delimiter):
    """As targets and as columns, while fitting and predicting; a model of plain numbers is the same."""
    for name, write in (("marked", lambda i: form.format(i=i)), ("plain", lambda i: f"{1000 + i}.5")):
        lines = [delimiter.join((str(i % 7), f'"{write(i)}"', f'"{write(2 * i)}"')) for i in range(60)]
        (tmp_path / f"{name}.csv").write_text("\n".join([delimiter.join("aby"), *lines]))
    marks = {"plain": (), "marked": ("--thousands", mark)}
    found = {}
    for name, options in marks.items():
        done = run("fit", f"{name}.csv", "-t", "y", "-o", f"{name}.ivm", "--task", "regress", "--active", 20, *options)
        assert done.exit_code == 0, done.output
        done = run("predict", f"{name}.ivm", f"{name}.csv", "-o", f"{name}.out.csv", *options)
        assert done.exit_code == 0, done.output
        found[name] = (tmp_path / f"{name}.out.csv").read_text()
    assert found["marked"] == found["plain"]
    asked = run("predict", "plain.ivm", "marked.csv", "-o", "x.csv")
    assert asked.exit_code == 1
    if mark == ",":
        asked = run("fit", "marked.csv", "-t", "y", "-o", "x.ivm", "--thousands", ",", "--decimal", ",")
        assert asked.exit_code == 2
        assert "one mark cannot be both" in asked.output


@pytest.mark.parametrize("cell", ["1,2", "12,34", "1,234,5", "1234,567", ",123", "1,2345"])
def test_marks_elsewhere_are_no_thousands(fails, cell):
    table = "a,y\n" + "".join(f'{i},"1,{i:03d}"\n' for i in range(40)) + f'1,"{cell}"\n'
    assert "column 'y'" in (said := fails(table, "--task", "regress", "--thousands", ",")) or "target 'y'" in said


def test_amounts_that_are_classes_may_be_so(run, tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{i % 2},${i % 2}.50\n" for i in range(40)))
    assert run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 5).exit_code == 0
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{i},${i % 40}.50\n" for i in range(400)))
    options = ("--task", "ordinal", "--order", ",".join(f"${i}.50" for i in range(40)))
    assert run("fit", "x.csv", "-t", "y", "-o", "o.ivm", "--active", 5, *options).exit_code == 0


def test_the_order_of_words_must_be_said(fails):
    table = "a,y\n" + "".join(f"{i},{('low', 'middle', 'high')[i % 3]}\n" for i in range(30))
    assert "name the categories from lowest to highest" in fails(table, "--task", "ordinal")
    assert "--order does not name middle" in fails(table, "--order", "low,high")


def test_a_byte_order_mark_is_no_part_of_a_name(run, tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfa,b,y\n" + rows(40).encode())
    done = run("fit", "x.csv", "--target", "y", "-o", "m.ivm", "--active", 5, "--drop", "a")
    assert done.exit_code == 0, done.output
    (tmp_path / "x.csv").write_bytes("ä,b,y\n".encode("latin-1") + rows(40).encode())
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 5, "--drop", "ä", "--encoding", "latin-1")
    assert done.exit_code == 0, done.output


def test_a_column_without_values_is_left_out_and_said(run, tmp_path):
    (tmp_path / "x.csv").write_text("a,gap,b,,y\n" + rows(40, "{i},,{j},,{y}\n"))
    done = run("fit", "x.csv", "--target", "y", "-o", "m.ivm", "--active", 5)
    assert done.exit_code == 0, done.output
    assert "column 'gap' has no values and is left out" in done.stderr
    assert "column 'column 4' has no values and is left out" in done.stderr
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")  # it need not be there
    assert run("predict", "m.ivm", "new.csv").exit_code == 0


@pytest.fixture
def mixed(tmp_path):
    """A table with numbers far from zero, words and gaps."""
    n = 400
    size, color = 1.7e9 + RNG.normal(size=n), RNG.choice(["red", "green", "blue"], size=n)
    weight = 1e-6 * RNG.normal(size=n)
    score = np.sin(2 * (size - 1.7e9)) + 2.0 * (color == "red") + 1e5 * weight + 0.05 * RNG.normal(size=n)
    with (tmp_path / "mixed.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "color", "weight", "score"])
        for i in range(n):
            gap = i % 50 == 7
            writer.writerow(
                [repr(float(size[i])), "" if i % 60 == 5 else color[i], "NA" if gap else weight[i], score[i]]
            )
    return tmp_path / "mixed.csv", size, color, weight, score


def test_gathered_rows_are_those_of_the_encoder(mixed):
    """What training reads in one pass in single precision, prediction reads block by block."""
    path, *_ = mixed
    gathered = gather(open_source(str(path)), Choices("score"), lambda n: None)
    assert gathered.table.features == ("size", "color", "weight")
    assert gathered.table.schema.names == ["size", "color", "weight", "color is missing", "weight is missing"]
    again = Table.from_json(gathered.table.to_json())
    assert again == gathered.table
    encode = Encoder(again, "mixed.csv")
    blocks = list(open_source(str(path)).blocks(again.wanted(with_target=True)))
    X = stacked([encode(block) for block in blocks])
    np.testing.assert_allclose(gathered.X.matrix, X.matrix, rtol=1e-13, atol=1e-9)
    frame = pd.read_csv(path)[list(again.features)]
    np.testing.assert_allclose(TableEncoder().fit(frame).transform(frame), X.matrix, rtol=1e-13, atol=1e-9)
    np.testing.assert_array_equal(gathered.target.y, np.concatenate([block.target for block in blocks]))


@pytest.mark.parametrize("impute", [False, True])
def test_gaps_are_the_median_and_a_column_that_says_so(mixed, impute):
    path, size, _, weight, _ = mixed
    gathered = gather(open_source(str(path)), Choices("score", impute=impute), lambda n: None)
    (size_, _, weight_), seen = gathered.table.schema.columns, np.arange(400) % 50 != 7
    numbers = (size_, weight_)
    assert numbers[0].fill == pytest.approx(np.median(size), abs=1e-6)
    assert numbers[1].fill == pytest.approx(np.median(weight[seen]), rel=1e-5)
    assert [column.indicator for column in numbers] == [False, not impute]
    assert "values are missing, in column 'weight' (8, the first in line 9), 'color' (7" in gathered.notes[0]


def test_columns_keep_the_units_of_the_table(mixed):
    """In single precision where that tells rows apart, and zero stays zero."""
    path, size, _, weight, _ = mixed
    choices = Choices("score", impute=True, drop=("color",))
    gathered = gather(open_source(str(path)), choices, lambda n: None)
    seen = np.arange(400) % 50 != 7
    assert gathered.X.dtype == np.float64  # size is far from zero
    np.testing.assert_allclose(gathered.X[seen], np.stack([size, weight], axis=1)[seen], rtol=1e-7, atol=1e-13)
    np.testing.assert_allclose(gathered.X[:, 0], size, rtol=0, atol=1e-6)
    near = gather(open_source(str(path)), Choices("score", impute=True, drop=("color", "size")), lambda n: None)
    assert near.X.dtype == np.float32
    np.testing.assert_array_equal(near.X[seen, 0], weight[seen].astype(np.float32))


@pytest.mark.parametrize("options", [(), ("--kernel", "rbf + linear"), ("--kernel", "linear", "--ard")])
def test_models_of_numbers_take_frames(run, tmp_path, options):
    """What the command line fits, Python loads: columns have the units of the table, whatever these are."""
    size, weight = 1e6 + 30.0 * RNG.normal(size=200), 1e-5 * RNG.normal(size=200)
    frame = pd.DataFrame({"size": size, "weight": weight, "constant": 2.7})
    frame["y"] = np.where(size - 1e6 + 3e6 * weight + RNG.normal(size=200) > 0.0, "big", "small")
    frame.to_csv(tmp_path / "x.csv", index=False)
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 40, *options)
    assert done.exit_code == 0, done.output
    run("predict", "m.ivm", "x.csv", "--proba", "-o", "p.csv")
    model, X = load(tmp_path / "m.ivm"), frame.drop(columns="y")
    assert model.feature_names_in_.tolist() == ["size", "weight", "constant"]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv")["proba_big"], model.predict_proba(X)[:, 0], rtol=1e-6)
    assert model.score(X, frame["y"]) > 0.95
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["weight", "size", "constant"]])


def test_units_of_earlier_files_are_said(run, tmp_path):
    """They had columns centred and scaled outside of the model: right on the command line, not in Python."""
    frame = pd.DataFrame({"a": 100.0 + RNG.normal(size=60), "b": RNG.normal(size=60)})
    frame["y"] = frame["a"] - 100.0 + frame["b"]
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 30).exit_code == 0
    model = load_model(str(tmp_path / "m.ivm"))
    inside = (frame[["a", "b"]].to_numpy() - [100.0, 0.0]) / [2.0, 0.5]
    estimator = IVMRegressor(n_active=30, random_state=0).fit(inside, frame["y"])
    save_model(model._replace(estimator=estimator, table=replace(model.table, centre=(100.0, 0.0), scale=(2.0, 0.5))),
               str(tmp_path / "old.ivm"))  # fmt: skip
    with pytest.warns(UserWarning, match=r"columns in units of its own.*fit it again"):
        load(tmp_path / "old.ivm")
    predicted = run("predict", "old.ivm", "x.csv").stdout.splitlines()[1:]
    np.testing.assert_allclose(np.array(predicted, dtype=float), estimator.predict(inside), rtol=1e-6, atol=1e-6)


def test_raw_rows_are_predicted_right(mixed, run):
    """Scaling, categories and imputation travel with the model."""
    path, size, color, weight, score = mixed
    done = run("fit", path, "--target", "score", "-o", "m.ivm", "--active", 120)
    assert done.exit_code == 0, done.output
    new = path.parent / "new.csv"
    with new.open("w", newline="") as file:  # other order, another column
        writer = csv.writer(file)
        writer.writerow(["color", "extra", "weight", "size"])
        writer.writerows([color[i], "?", weight[i], repr(float(size[i]))] for i in range(400))
    predicted = run("predict", "m.ivm", new).stdout.splitlines()
    assert predicted[0] == "prediction"
    seen = (np.arange(400) % 50 != 7) & (np.arange(400) % 60 != 5)
    error = np.array(predicted[1:], dtype=float) - score
    assert np.sqrt(np.mean(error[seen] ** 2)) < 0.12


def test_models_of_files_take_frames(mixed, run, tmp_path):
    path, *_ = mixed
    run("fit", path, "--target", "score", "-o", "m.ivm", "--active", 20)
    run("predict", "m.ivm", path, "-o", "p.csv")
    model, frame = load(tmp_path / "m.ivm"), pd.read_csv(path)
    expected = model.predict(frame[["size", "color", "weight"]])
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv").prediction, expected, rtol=1e-6, atol=1e-6)
    shown = run("inspect", "m.ivm", "--points", 3).stdout
    assert "color green" in shown or "color red" in shown or "color blue" in shown


@pytest.mark.parametrize("more", [(), ("--ard",)])
def test_models_of_files_with_dates_take_frames_with_dates(run, tmp_path, more):
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(RNG.integers(0, 900, 60), unit="D")
    frame = pd.DataFrame({"day": days, "size": RNG.normal(size=60)})
    frame.assign(y=np.where(frame.day > "2022-05-01", "late", "early")).to_csv(tmp_path / "x.csv", index=False)
    run("fit", "x.csv", "--target", "y", "--dates", "day", "-o", "m.ivm", "--active", 20, *more)
    run("predict", "m.ivm", "x.csv", "--proba", "-o", "p.csv")
    model = load(tmp_path / "m.ivm")
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1], pd.read_csv(tmp_path / "p.csv").proba_late, rtol=1e-6)
    with pytest.raises(ValueError, match="'day' held dates"):
        model.predict(frame.assign(day=1.0))


def test_words_not_seen_before_are_counted(mixed, run):
    path, *_ = mixed
    run("fit", path, "--target", "score", "-o", "m.ivm", "--active", 20)
    (path.parent / "new.csv").write_text("color,weight,size\npink,0,1.7e9\nblue,0,1.7e9\npink,0,1.7e9\nteal,0,1.7e9\n")
    done = run("predict", "m.ivm", "new.csv")
    assert done.exit_code == 0, done.output
    assert "3 cells hold words that were not there when the model was fitted" in done.stderr
    assert "color=pink (2), color=teal (1)" in done.stderr
    (path.parent / "all.csv").write_text("color,weight,size\n" + "RED,0,1.7e9\n" * 9)
    assert run("predict", "m.ivm", "all.csv").stderr.count("were not there when the model was fitted") == 1
    pink, blue, again, teal = done.stdout.splitlines()[1:]
    assert pink == again == teal != blue


def test_gaps_that_were_not_there_are_said(run, tmp_path):
    (tmp_path / "x.csv").write_text("a,c,y\n" + rows(40, "{i},c{j},{y}\n"))
    run("fit", "x.csv", "--target", "y", "-o", "m.ivm", "--active", 5)
    (tmp_path / "new.csv").write_text("a,c\n1,c1\n,c2\n2,\n")
    done = run("predict", "m.ivm", "new.csv")
    assert done.exit_code == 0, done.output
    assert "column 'a' has missing values now and had none when the model was fitted" in done.stderr
    assert len(done.stdout.splitlines()) == 4


def test_new_rows_that_do_not_fit_the_model(mixed, run):
    path, *_ = mixed
    run("fit", path, "--target", "score", "-o", "m.ivm", "--active", 20)
    (path.parent / "new.csv").write_text("color,size\nred,1\n")
    assert "new.csv has no column 'weight'; it has 'color', 'size'" in run("predict", "m.ivm", "new.csv").stderr
    (path.parent / "new.csv").write_text("color,weight,size\nred,heavy,1\n")
    assert "line 2, column 'weight': 'heavy' is not a number" in run("predict", "m.ivm", "new.csv").stderr
    (path.parent / "new.csv").write_text("color,weight,size\nred,1e308,1\n")
    assert "line 2, column 'weight': 1e+308 is too large" in run("predict", "m.ivm", "new.csv").stderr


def test_columns_named_as_categorical_are(run, tmp_path):
    days = "".join(f"{i},2024-01-0{1 + i % 3},{i % 4},{i % 2}\n" for i in range(60))
    (tmp_path / "x.csv").write_text("a,day,floor,y\n" + days)
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 9, "--categorical", "day,floor", "--json")
    assert done.exit_code == 0, done.output
    assert '"columns": 3' in done.stdout
    model = load_model(str(tmp_path / "m.ivm"))
    assert [column.categories for column in model.table.words][1] == ("0", "1", "2", "3")


def test_tables_of_earlier_versions_are_read():
    old = {
        "task": "regress", "target": "y", "target_kind": "number", "numbers": ["a", "b"], "words": [],
        "fill": [1.0, 2.0],
        "centre": [0.5, 0.0], "scale": [2.0, 1.0], "sparse": False,
    }  # fmt: skip
    table = Table.from_json(old)
    assert table.features == ("a", "b")
    assert [column.fill for column in table.schema.columns] == [1.0, 2.0]
    assert table.schema.plain
    with pytest.raises(ModelFileError, match="fitted by an earlier version of infovec to a table with words"):
        Table.from_json({**old, "words": [{"name": "c", "categories": ["x"], "fill": None}]})


def table_of_words(word, n=60):
    """A table whose labels are those of rows with a word, and some numbers."""
    lines = [f"{RNG.normal():.3f},{(word, 'basic')[i % 2]},{'ab'[i % 2]}" for i in range(n)]
    return "x,ins,y\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("word", ["none", "na", "NONE", "?", "None", "n/a", ""])
def test_predictions_of_a_frame_are_those_of_the_file(run, tmp_path, word):
    (tmp_path / "n.csv").write_text(table_of_words(word))
    fitted = run("fit", "n.csv", "-t", "y", "-o", "n.ivm", "--active", 20)
    assert fitted.exit_code == 0, fitted.output
    assert run("predict", "n.ivm", "n.csv", "--proba", "-o", "p.csv").exit_code == 0
    frame = pd.read_csv("n.csv")
    p = load("n.ivm").predict_proba(frame[["x", "ins"]])
    np.testing.assert_allclose(pd.read_csv("p.csv")[["proba_a", "proba_b"]], p, atol=1e-6)
    assert (pd.read_csv("p.csv")["prediction"] == frame["y"]).all()
    gaps = frame["ins"].isna().any()
    assert gaps == ("30 values are missing, in column 'ins' (30" in fitted.stderr)
    assert (f"Words taken for missing: {word!r} in column 'ins'" in fitted.stderr) == (gaps and word != "")


def test_words_for_gaps_among_numbers_are_named(run, tmp_path):
    table = table_of_words("more").splitlines()
    table[3] = "?" + table[3][table[3].index(",") :]
    (tmp_path / "n.csv").write_text("\n".join(table) + "\n")
    fitted = run("fit", "n.csv", "-t", "y", "-o", "n.ivm", "--active", 20)
    said = "1 value is missing, in column 'x' (1, the first in line 4): the model learns what that means. Words taken "
    assert f"{said}for missing: '?' in column 'x'" in fitted.stderr


def test_a_category_missing_for_the_first_time_is_told_of_once(run, tmp_path):
    (tmp_path / "n.csv").write_text(table_of_words("more"))
    assert run("fit", "n.csv", "-t", "y", "-o", "n.ivm", "--active", 20).exit_code == 0
    row = "0.123456789012345678901234567890,,a\n"
    (tmp_path / "m.csv").write_text("x,ins,y\n" + row * 70000)  # several blocks
    for command in ("predict", "evaluate"):
        done = run(command, "n.ivm", "m.csv")
        assert done.stderr.count("column 'ins' has missing values now and had none") == 1, done.stderr


def test_marks_between_thousands_are_kept_with_the_model(run, tmp_path):
    (tmp_path / "n.csv").write_text("x,y\n" + "".join(f'"{1000 + 37 * i:,}.50",{i % 2}\n' for i in range(40)))
    (tmp_path / "plain.csv").write_text("x,y\n" + "".join(f"{1000 + 37 * i}.50,{i % 2}\n" for i in range(40)))
    (tmp_path / "comma.csv").write_text("x;y\n" + "".join(f"{1000 + 37 * i},50;{i % 2}\n" for i in range(40)))
    fit = ("-t", "y", "--task", "classify", "--active", 10)
    assert run("fit", "n.csv", *fit, "-o", "n.ivm", "--thousands", ",").exit_code == 0
    assert run("fit", "plain.csv", *fit, "-o", "plain.ivm").exit_code == 0
    assert load_model("n.ivm").thousands == ","
    assert load_model("plain.ivm").thousands is None
    found = [run("predict", "n.ivm", *table).stdout
             for table in (("n.csv",), ("plain.csv",), ("comma.csv", "--decimal", ","))]  # fmt: skip
    assert len(found[0].splitlines()) == 41
    assert found[1:] == found[:1] * 2
    for command in (("evaluate", "n.ivm"), ("compare", "n.ivm", "plain.ivm")):
        done = run(*command, "plain.csv")
        assert done.exit_code == 0, done.output
    assert run("evaluate", "n.ivm", "n.csv").exit_code == 0
    for command in ("predict", "evaluate"):
        assert "'1,000.50' has marks between thousands: say --thousands ," in run(command, "plain.ivm", "n.csv").stderr
    save_model(load_model("n.ivm")._replace(thousands="x"), "odd.ivm")
    assert "the thousands" in run("predict", "odd.ivm", "n.csv").stderr


def ages(odd, n=60, form="{i}.0"):
    """A table with a column of numbers some cells of which are others."""
    cells = [odd.get(i, form.format(i=20 + i % 30)) for i in range(n)]
    return "age,b,y\n" + "".join(f"{cell},{i / 7:.3f},{i % 2}\n" for i, cell in enumerate(cells))


@pytest.mark.parametrize("n", [60, 3000])
def test_a_cell_among_numbers_that_is_none_is_named(fails, run, n):
    """It used to make the column one of categories, or one of too many words."""
    said = fails(ages({5: "oops", 7: ""}, n))
    assert (
        f"x.csv, column 'age' is not of numbers only: {n - 2} of {n - 1} cells are numbers, line 7 'oops' is not"
        in said
    )
    for remedy in ("Mend the cell", "--missing oops", "--categorical 'age'", "--drop 'age'"):
        assert remedy in said
    line = said.strip().partition("For example: infovec ")[2]
    assert line.endswith("--missing oops")
    assert run(*shlex.split(line)).exit_code == 0
    known = load_model("m.ivm")
    assert known.missing == ("oops",)
    assert known.table.schema.columns[0].kind == "number"
    assert known.table.schema.columns[0].indicator
    assert run("predict", "m.ivm", "x.csv").stdout.count("\n") == n + 1  # it is kept with the model
    assert run("evaluate", "m.ivm", "x.csv").exit_code == 0
    save_model(known._replace(missing=(1,)), "odd.ivm")
    assert "the words for missing values" in run("predict", "odd.ivm", "x.csv").stderr


def test_all_cells_that_are_no_numbers_are_counted(fails):
    said = fails(ages({5: "oops", 9: "none at all", 11: "oops", 12: "?!"}))
    assert "56 of 60 cells are numbers, 4 are not, such as line 7 'oops', line 11 'none at all', line 14 '?!'" in said
    assert "column 'age' has numbers with a unit ('20 yrs'). Write 20 for 20 yrs" in fails(ages({}, form="{i} yrs"))


def test_a_target_of_numbers_with_an_odd_cell_is_not_sent_in_a_circle(fails, run):
    content = "a,y\n" + "".join(f"{i},{i / 7:.3f}\n" for i in range(60)) + "1,oops\n"
    for options in ((), ("--task", "regress")):
        said = fails(content, *options)
        assert "60 of 61 cells are numbers, line 62 'oops' is not. Mend the cell, or say --missing oops and" in said
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--missing", "oops", "--skip-missing-target", "--active", 9)
    assert done.exit_code == 0, done.output


def test_codes_beside_a_handful_of_numbers_are_categories(run, tmp_path):
    """As in Python; they are told of where most of them are numbers."""
    lines = [f"{(*range(1, 6), 'other')[i % 6]},{('a', 'b', '7')[i % 3]},{i % 2}" for i in range(60)]
    (tmp_path / "x.csv").write_text("code,kind,y\n" + "\n".join(lines) + "\n")
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 9)
    assert done.exit_code == 0, done.output
    assert load_model("m.ivm").table.words[0].categories == ("1", "2", "3", "4", "5", "other")
    assert "column 'code' is taken as categories: 50 of 60 cells are numbers, 10 are not, such as line 7" in done.stderr
    assert "column 'kind'" not in done.stderr


def test_points_where_commas_are_before_decimals(fails, run):
    """A table of which one column has been through pandas, and one whose points stand between thousands."""
    mixed = "price;age;y\n" + "".join(f"1.{i:03d},5;{20 + i % 30}.0;{i % 2}\n" for i in range(60))
    said = fails(mixed, "--thousands", ".")
    assert "column 'age' has numbers with a point ('20.0'), where commas are before decimals. Write 20,0 for" in said
    assert "has numbers with a point" in fails(mixed.replace("1.", ""), "--decimal", ",")
    both = "a;x;y\n" + "".join(f"{1 + i % 9}.{100 + i};-0,{10 + i};{i},{i % 7}1\n" for i in range(60))
    for options in ((), ("--task", "regress")):
        assert "--thousands . where points stand between thousands in other columns" in fails(both, *options)
    line = fails(both, "--decimal", ",").strip().partition("For example: infovec ")[2]
    assert line.endswith("--thousands .")
    for words in (shlex.split(line), ["fit", "x.csv", "-t", "y", "-o", "n.ivm", "--thousands", "."]):
        assert run(*words).exit_code == 0


@pytest.mark.parametrize("held", [(), ("--test", "0.3")])
def test_a_column_that_counts_the_rows_is_told_of(run, tmp_path, held):
    frame = pd.DataFrame(
        {"a": RNG.normal(size=80), "age": RNG.integers(20, 60, size=80), "y": RNG.choice(["p", "q"], 80)}
    )
    frame["half"] = np.arange(80) / 2
    frame["day"] = [str(np.datetime64("2024-01-01") + k) for k in range(80)]
    frame.to_csv(tmp_path / "x.csv")  # with an index without a name
    fit = ("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 9, "--dates", "day", *held)
    said = run(*fit).stderr
    assert said.count("rises from row to row") == 1
    assert (
        "column 'column 1' rises from row to row as their numbers do: if it says nothing else of them, say --drop"
        in said
    )
    assert "rises from row to row" not in run(*fit, "--drop", "column 1").stderr


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_a_header_without_rows_is_predicted(mixed, run, tmp_path, name):
    path, *_ = mixed
    run("fit", path, "--target", "score", "-o", "m.ivm", "--active", 20)
    empty = pd.read_csv(path)[:0].drop(columns="score").assign(extra="")
    if name == "new.csv":
        empty.to_csv(name, index=False)
    else:
        pytest.importorskip("pyarrow")
        empty.astype({"size": float, "weight": float}).to_parquet(name)
    done = run("predict", "m.ivm", name, "--std", "--keep", "extra")
    assert done.exit_code == 0, done.output
    assert done.stdout == "extra,prediction,std\n"
    assert done.stderr == ""
    assert run("predict", "m.ivm", name, "--json").stdout == ""
    for command in ("evaluate", "suggest"):
        assert run(command, "m.ivm", name).exit_code == 1


def test_columns_are_those_of_the_table(run, tmp_path):
    """Not those as well that say where values are missing."""
    (tmp_path / "x.csv").write_text("a,b,y\n" + rows(40).replace("5,2,", ",2,"))
    done = run("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 9, "--json")
    assert '"columns": 2' in done.stdout
    assert "2 columns" in done.stderr


def points(delimiter=";", more=""):
    """Areas and prices of houses with points between thousands, which may be decimals."""
    table = [("area", "rooms", "price"), *((420 + 17 * i, i % 5, 90_000 + 1311 * i) for i in range(60))]
    cells = [[cell if isinstance(cell, str) else f"{cell:,}".replace(",", ".") for cell in row] for row in table]
    return "".join(delimiter.join(row) + "\n" for row in cells) + more


def test_points_before_three_digits_are_asked_about_in_tables_of_semicolons(run, tmp_path):
    (tmp_path / "p.csv").write_text(points())
    command = ("fit", "p.csv", "-t", "price", "-o", "p.ivm", "--active", "10", "--task", "regress")
    asked = run(*command)
    assert asked.exit_code == 1
    assert "columns 'area' (1.015), 'price' (90.000)" in asked.stderr
    assert "--thousands . if 1.015 is 1015, or --decimal . if points are before decimals" in asked.stderr
    line = asked.stderr.strip().partition("For example: infovec ")[2]
    assert line.endswith("--thousands .")
    for words, largest in ((shlex.split(line), 167349.0), ([*command, "--decimal", "."], 167.349)):
        done = run(*words)
        assert done.exit_code == 0
        assert f"to {largest:g}" in done.stderr
        for reads in ("evaluate", "predict"):  # as in the fit, without being told
            assert run(reads, "p.ivm", "p.csv").exit_code == 0


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (points(more="1.5;2;100.000\n"), ()), (points(more="0.150;2;100.000\n"), ()), (points(","), ()),
        (points("\t"), ()), (points(" "), ("--delimiter", " ")), (points(), ("--thousands", "space")),
        ("one;price\n" + "".join(f"1.250;{i}\n" for i in range(30)), ()),
        (points().replace("price", "other").replace("rooms", "price"), ("--drop", "other", "--categorical", "area")),
    ],
    ids=["other points", "zero", "commas", "tabs", "spaces", "other thousands", "one cell", "left out"],
)  # fmt: skip
def test_points_that_are_clear_are_not_asked_about(run, tmp_path, content, options):
    (tmp_path / "p.csv").write_text(content)
    done = run("fit", "p.csv", "-t", "price", "-o", "p.ivm", "--active", "10", *options)
    assert done.exit_code == 0, done.output


def test_new_rows_of_semicolons_are_asked_about_too(run, tmp_path):
    (tmp_path / "c.csv").write_text(points(","))
    (tmp_path / "s.csv").write_text(points())
    assert run("fit", "c.csv", "-t", "price", "-o", "c.ivm", "--active", "10", "--task", "regress").exit_code == 0
    asked = run("predict", "c.ivm", "s.csv")
    assert asked.exit_code == 1
    assert "column 'area' (1.015): all points stand before three digits" in asked.stderr
    found = [run("predict", "c.ivm", *table).stdout for table in (("c.csv",), ("s.csv", "--decimal", "."))]
    assert len(found[0].splitlines()) == 61
    assert found[0] == found[1]


def test_marks_kept_with_a_model_are_not_taken_for_decimals_of_a_table_of_commas(run, tmp_path):
    (tmp_path / "s.csv").write_text(points())
    fit = ("fit", "s.csv", "-t", "price", "-o", "s.ivm", "--active", "10", "--task", "regress", "--thousands", ".")
    assert run(*fit).exit_code == 0
    header = "area,rooms,price\n"
    (tmp_path / "c.csv").write_text(header + "46.125,2,90000\n420.250,3,95000\n")
    (tmp_path / "plain.csv").write_text(header + "46125,2,90000\n420250,3,95000\n")
    (tmp_path / "quoted.csv").write_text(header + '"46.125,00",2,90000\n420.250,3,95000\n')
    for command in ("predict", "evaluate"):
        asked = run(command, "s.ivm", "c.csv")
        assert asked.exit_code == 1
        assert "column 'area': 46.125 has a point, in a table of commas" in asked.stderr
        assert "say --decimal . if" in asked.stderr
    as_thousands = run("predict", "s.ivm", "plain.csv").stdout
    assert run("predict", "s.ivm", "c.csv", "--thousands", ".").stdout == as_thousands
    assert run("predict", "s.ivm", "quoted.csv").stdout == as_thousands
    assert run("predict", "s.ivm", "c.csv", "--decimal", ".").stdout not in ("", as_thousands)


def test_a_target_with_points_where_commas_are_before_decimals_is_not_sent_in_a_circle(fails, run):
    table = "size;y\n" + "".join(f"{46 + i},5;{90 + i}.{100 + i}\n" for i in range(200))
    for options in ((), ("--task", "regress")):
        said = fails(table, "--decimal", ",", *options)
        assert "if points stand between thousands, say --thousands ." in said
        line = fails(table, *options).strip().partition("For example: infovec ")[2]
        assert line.endswith("--thousands .")
    assert run(*shlex.split(line)).exit_code == 0
