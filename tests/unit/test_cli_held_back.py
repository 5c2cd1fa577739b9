"""Rows held back, rows that a model was fitted to, and two models on the same rows."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn import datasets as sklearn_datasets
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from infovec import IVMClassifier, IVMRegressor, report
from infovec.cli.commands import infovec
from infovec.cli.compare import losses
from infovec.cli.evaluate import _rows_of_fit
from infovec.cli.model import load_model
from infovec.cli.room import model_bytes
from infovec.cli.screen import Screen
from infovec.datasets import open_source, text
from infovec.datasets.held_back import Learned
from infovec.datasets.sketch import Overlap, Sketch
from infovec.datasets.source import Block, Wanted
from infovec.evaluation import NumberPredictions

RNG = np.random.default_rng(0)


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def write(path, rows):
    path.write_text("a,b,color,y,price\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, n = tmp_path_factory.mktemp("held"), 240
    a, b, color = RNG.normal(size=n).round(3), RNG.normal(size=n).round(3), RNG.choice(["red", "blue"], size=n)
    f = a + (color == "red") + 0.3 * RNG.normal(size=n)
    y = np.where(f > 0.5, "yes", "no").astype(object)
    y[-1] = "rare"
    rows = list(zip(a, b, color, y, (100 + 20 * f).round(2), strict=True))
    write(folder / "all.csv", rows)
    write(folder / "train.csv", rows[:150])
    write(folder / "test.csv", rows[150:-1])
    write(folder / "half.csv", [*rows[120:150], *rows[150:180]])
    common = ("--active", 20, "--quiet")
    run("fit", folder / "train.csv", "-t", "y", "-o", folder / "m.ivm", "--drop", "price", *common)
    run("fit", folder / "train.csv", "-t", "y", "-o", folder / "few.ivm", "--drop", "price,a", *common)
    run("fit", folder / "train.csv", "-t", "price", "-o", folder / "r.ivm", "--drop", "y", *common)
    run("fit", folder / "train.csv", "-t", "price", "-o", folder / "s.ivm", "--drop", "y,a", *common)
    return folder


@pytest.mark.parametrize("target", ["y", "price"])
def test_rows_held_back_are_not_learned_on(folder, tmp_path, target):
    """The figures are those of the same model on the same rows, from a file of their own."""
    drop = "price" if target == "y" else "y"
    fit = (
        "fit",
        folder / "all.csv",
        "-t",
        target,
        "-o",
        tmp_path / "m.ivm",
        "--active",
        15,
        "--drop",
        drop,
        "--time",
        "60s",  # which no machine needs: two runs are compared
    )
    done = run(*fit, "--test", 0.25, "--seed", 3, "--json")
    found = json.loads(done.stdout)
    kind = "word" if target == "y" else "number"
    with open_source(str(folder / "all.csv")) as source:
        learned = Learned(source, 0.25, 3)
        wanted = Wanted(("a", "b"), ("color",), target, kind)
        kept = [line for block in learned.blocks(wanted) for line in block.lines]
        held = [line for block in learned.held_back().blocks(wanted) for line in block.lines]
    assert sorted([*kept, *held]) == list(range(2, 242))
    assert (found["rows"], found["test"]["rows"]) == (len(kept), len(held))
    assert f"{len(held)} rows held back" in done.stderr
    if target == "y":
        assert 241 in kept  # the only row of its class
        assert found["classes"] == ["no", "rare", "yes"]
    lines = (folder / "all.csv").read_text().splitlines()
    (tmp_path / "held.csv").write_text("\n".join([lines[0], *(lines[k - 1] for k in held)]) + "\n")
    judged = json.loads(run("evaluate", tmp_path / "m.ivm", tmp_path / "held.csv", "--json").stdout)
    assert judged.pop("share_of_training_rows") < 0.1
    assert found["test"] == {key: value for key, value in judged.items() if key in found["test"]}
    text = run(*fit, "--test", 0.25, "--report", tmp_path / "r.html").stdout
    assert "rows held back: " in text
    assert "with their standard errors" in text
    assert run(*fit, "--test", 0.25, "--quiet").stdout == text[text.index("rows held back: ") :]
    assert (tmp_path / "r.html").stat().st_size > 10_000
    assert "no row is held back" in run(*fit, "--test", 1e-6, code=1).stderr


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_the_linear_model_of_a_report_learns_from_the_rows_of_the_fit(tmp_path, task):
    """It is that of scikit-learn fitted to them, and judged by the rows held back."""
    a, n = RNG.normal(size=(300, 6)).round(3), 300
    f = a @ [1.0, -1.0, 0.5, 0.3, -0.3, 0.2] + 0.5 * RNG.normal(size=n)
    y = np.where(f > 0, "yes", "no") if task == "classify" else f.round(3)
    (tmp_path / "x.csv").write_text(
        "a,b,c,d,e,f,y\n" + "".join(f"{','.join(map(str, r))},{t}\n" for r, t in zip(a, y, strict=True))
    )
    run("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 15, "--test", 0.1,
        "--kernel", "rbf", "--seed", 1, "--report", tmp_path / "r.html")  # fmt: skip
    page = (tmp_path / "r.html").read_text()
    assert "The linear model was fitted to the training rows." in page
    assert "fold by fold" not in page
    with open_source(str(tmp_path / "x.csv")) as source:
        learned = Learned(source, 0.1, 1)
        wanted = Wanted(tuple("abcdef"), (), "y", "word" if task == "classify" else "number")
        kept = np.array([line for block in learned.blocks(wanted) for line in block.lines]) - 2
    held = np.setdiff1d(np.arange(n), kept)
    simple = make_pipeline(
        StandardScaler(), LogisticRegression() if task == "classify" else RidgeCV(np.logspace(-3, 3, 13))
    )
    simple.fit(a[kept], y[kept])
    loss = (log_loss(y[held], simple.predict_proba(a[held])) if task == "classify" else
            np.mean((simple.predict(a[held]) - y[held]) ** 2))  # fmt: skip
    row = re.search(r"<td[^>]*>(?:logistic|linear) regression</td><td[^>]*>([\d.]+)", page)
    assert float(row[1]) == pytest.approx(loss, rel=0.01)
    lines = (tmp_path / "x.csv").read_text().splitlines()
    for name, rows in (("train", kept), ("test", held)):
        (tmp_path / f"{name}.csv").write_text("\n".join([lines[0], *(lines[1 + i] for i in rows)]) + "\n")
    evaluate = ("evaluate", tmp_path / "m.ivm", tmp_path / "test.csv", "--report", tmp_path / "r.html")
    done = run(*evaluate, "--train", tmp_path / "train.csv")
    page = (tmp_path / "r.html").read_text()
    assert row[0] in page
    assert "The linear model was fitted to the training rows." in page
    assert "disadvantage" not in page
    assert "--train" not in done.stderr
    assert (
        "of its rows are rows that the model was fitted to" in run(*evaluate, "--train", tmp_path / "test.csv").stderr
    )
    run(*evaluate)
    before = (tmp_path / "r.html").read_text().split("Beside simpler models")[0]
    folds = len(held) - len(held) // 5
    assert f"at a disadvantage: it has learned from {folds} other test rows at a time, where this model has " in before
    assert f"learned from {len(kept)}. " in before
    assert "--train is for --report" in run(*evaluate[:3], "--train", tmp_path / "train.csv", code=2).output


def test_rows_of_the_fit_are_taken_evenly_where_they_are_many(folder, monkeypatch):
    monkeypatch.setattr(report, "MOST", 20)
    monkeypatch.setattr(text, "_BLOCK", 300)  # bytes
    options = {"delimiter": None, "encoding": "utf-8", "no_header": False, "decimal": None, "thousands": None,
               "missing": (), "skip_missing_target": False}  # fmt: skip
    X, y = _rows_of_fit(Screen(True, False), load_model(str(folder / "r.ivm")), str(folder / "train.csv"), options)
    table = np.loadtxt(folder / "train.csv", delimiter=",", skiprows=1, dtype=str)
    assert len(y) == X.shape[0] == 38
    np.testing.assert_array_equal(y, table[::4, -1].astype(float))
    np.testing.assert_allclose(X.matrix[:, 0], table[::4, 0].astype(float))


def test_surprising_rows_have_the_numbers_that_they_have_in_the_table(folder, tmp_path):
    """Of rows held back, with rows that were left out before them, and of a second file."""
    lines = (folder / "all.csv").read_text().splitlines()
    for row in (3, 4, 90):
        lines[row] = lines[row].rsplit(",", 1)[0] + ","  # no price
    (tmp_path / "gaps.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "more.csv").write_text("\n".join([lines[0], *lines[150:]]) + "\n")
    fit = ("-t", "price", "--drop", "y", "--skip-missing-target", "--quiet", "--active", 15, "--time", "60s")
    saved = ("-o", tmp_path / "m.ivm", "--report", tmp_path / "r.html")
    evaluated = ("evaluate", folder / "r.ivm", tmp_path / "gaps.csv", "--skip-missing-target")
    for command, table in (
        (("fit", tmp_path / "gaps.csv", *fit, *saved, "--test", 0.25), lines),
        (("fit", tmp_path / "gaps.csv", tmp_path / "more.csv", *fit, *saved, "--test", 0.8), [*lines, *lines[150:]]),
        ((*evaluated, "--report", tmp_path / "r.html"), lines),
    ):
        run(*command)
        part = (tmp_path / "r.html").read_text().split("Most surprising")[1].split("</table>")[0]
        found = re.findall(r'<tr><td class="number">(\d+)</td><td[^>]*>([^<]*)</td>', part)
        assert len(found) == 8
        for row, price in found:
            assert f"{float(table[int(row)].rsplit(',', 1)[1]):.4g}" == price


@pytest.mark.parametrize(("table", "share"), [("train.csv", 1.0), ("half.csv", 0.5), ("test.csv", 0.0)])
@pytest.mark.parametrize("model", ["m.ivm", "r.ivm"])
def test_rows_of_the_fit_are_known_again(folder, tmp_path, model, table, share):
    lines = (folder / table).read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *RNG.permutation(lines[1:])]) + "\n")
    for command in ("evaluate", "certify") if model == "m.ivm" and table == "test.csv" else ("evaluate",):
        done = run(command, folder / model, tmp_path / "t.csv")
        assert ("are rows that the model was fitted to" in done.stderr) == (share > 0)
    found = json.loads(run("evaluate", folder / model, tmp_path / "t.csv", "--json").stdout)
    assert found["share_of_training_rows"] == share


def blocks(X, words, y, size=1000):
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        yield Block(start, X[part], [words[part]], y[part])


@pytest.mark.parametrize("rows", [500, 20_000])
def test_a_sketch_knows_any_part_of_the_rows(rows):
    """Against the share that is true, for parts of any size, in other orders, of columns in another order."""
    X, y = RNG.normal(size=(rows, 3)), RNG.normal(size=rows)
    words = RNG.choice(["a", "b", None], size=rows).tolist()
    wanted, turned = Wanted(("p", "q", "r"), ("w",), "y"), Wanted(("r", "p", "q"), ("w",), "y")
    sketch = Sketch()
    for block in blocks(X, words, y):
        sketch.add(wanted, block)
    again = Sketch.from_json(json.loads(json.dumps(sketch.to_json())))
    np.testing.assert_array_equal(again.smallest, sketch.smallest)
    assert len(sketch.smallest) == min(rows, 1024)
    assert len(json.dumps(sketch.to_json())) < 6000
    for known, new in ((rows, 0), (rows // 5, rows // 5), (0, rows)):
        at = RNG.permutation(rows)[:known]
        Z = np.concatenate([X[at], RNG.normal(size=(new, 3))])
        more = [*(words[i] for i in at), *RNG.choice(["a", "b"], size=new).tolist()]
        t = np.concatenate([y[at], RNG.normal(size=new)])
        overlap = Overlap(again)
        for block in blocks(Z[:, [2, 0, 1]].astype(np.float32).astype(np.float64), more, t.astype(np.float32)):
            overlap.add(turned, block)
        expected = known / (known + new)
        assert abs(overlap.share - expected) <= 4 * np.sqrt(
            expected * (1 - expected) * rows / min(rows, 1024) / (known + new)
        )
        assert overlap.rows == known + new


def test_hashes_look_at_every_cell_and_are_salted():
    X, wanted = RNG.normal(size=(50, 4)), Wanted(tuple("pqrs"), ("w",), "y", "word")
    words, y = ["a"] * 50, ["yes"] * 50
    sketch = Sketch(b"salt")
    before = sketch.hashes(wanted, Block(0, X, [words], y))
    assert len(np.unique(before)) == 50
    for j in range(4):
        changed = X.copy()
        changed[:, j] *= 1.0001
        assert not np.any(sketch.hashes(wanted, Block(0, changed, [words], y)) == before)
    assert not np.any(sketch.hashes(wanted, Block(0, X, [["b"] * 50], y)) == before)
    assert not np.any(sketch.hashes(wanted, Block(0, X, [words], ["no"] * 50)) == before)
    assert not np.any(Sketch(b"more").hashes(wanted, Block(0, X, [words], y)) == before)
    assert Sketch().salt != Sketch().salt
    from scipy import sparse

    thin = X * (RNG.random(X.shape) < 0.5)
    dense, few = Block(0, thin, [words], y), Block(0, sparse.csr_matrix(thin), [words], y)
    np.testing.assert_array_equal(sketch.hashes(wanted, dense), sketch.hashes(wanted, few))
    for wrong in (3, {"salt": "00"}, {"salt": "zz", "smallest": ""}, {"salt": "00", "smallest": "AQAAAAAAAAA="}):
        with pytest.raises(ValueError):
            Sketch.from_json(wrong)


def test_models_of_unequal_numbers_of_rows_are_said_to_be_so(folder, tmp_path):
    lines = (folder / "train.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(lines[:41]))
    target = load_model(str(folder / "m.ivm")).table.target
    run("fit", tmp_path / "part.csv", "-t", target, "-o", tmp_path / "p.ivm", "--active", 5, "--drop", "price")
    n = load_model(str(folder / "m.ivm")).estimator.n_samples_fit_
    said = run("compare", folder / "m.ivm", tmp_path / "p.ivm", folder / "test.csv").stdout
    assert f"the first was fitted to {n} rows, the second to 40, which is part of the difference" in said
    assert "fitted to" not in run("compare", folder / "m.ivm", folder / "m.ivm", folder / "test.csv").stdout


@pytest.mark.parametrize(("a", "b"), [("m.ivm", "few.ivm"), ("r.ivm", "s.ivm")])
def test_differences_of_two_models_are_those_of_their_rows(folder, a, b):
    """Against predictions of the program for every row."""
    said = json.loads(run("compare", folder / a, folder / b, folder / "test.csv", "--json").stdout)
    each = [json.loads(run("evaluate", folder / name, folder / "test.csv", "--json").stdout) for name in (a, b)]
    names = {"mse": "mse"} if a == "r.ivm" else {"error": "error", "log_loss": "log_loss", "brier": "brier"}
    for key in names:
        for side, figures in zip(("first", "second"), each, strict=True):
            assert said[key][side]["value"] == pytest.approx(figures[key]["value"], rel=1e-12)
    if a == "r.ivm":
        assert said["negative_log_density"]["first"]["value"] == pytest.approx(-each[0]["log_density"]["value"])
    rows = [run("predict", folder / name, folder / "test.csv").stdout.splitlines()[1:] for name in (a, b)]
    truth = [line.split(",")[4 if a == "r.ivm" else 3] for line in (folder / "test.csv").read_text().splitlines()[1:]]
    if a == "r.ivm":
        off = [(np.array(r, dtype=float) - np.array(truth, dtype=float)) ** 2 for r in rows]
    else:
        off = [(np.array(r) != np.array(truth)).astype(float) for r in rows]
    difference = said["mse" if a == "r.ivm" else "error"]["difference"]
    assert difference["value"] == pytest.approx(np.mean(off[0] - off[1]), rel=1e-6)
    assert difference["standard_error"] == pytest.approx(
        np.std(off[0] - off[1], ddof=1) / np.sqrt(len(truth)), rel=1e-6
    )
    text = run("compare", folder / a, folder / b, folder / "test.csv").stdout
    assert "first is better" in text  # which has the column that matters
    assert "no clear difference" in run("compare", folder / a, folder / a, folder / "test.csv").stdout


def test_classes_with_an_order_are_compared_with_the_same_without(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    grade = np.array(["low", "fair", "good"])[np.digitize(x + 0.3 * rng.normal(size=120), [-0.5, 0.5])]
    table = tmp_path / "grades.csv"
    table.write_text("x,grade\n" + "".join(f"{a},{b}\n" for a, b in zip(x, grade, strict=True)))
    for name, options in (("ordered", ("--order", "low,fair,good")), ("plain", ())):
        run("fit", table, "-t", "grade", "-o", tmp_path / f"{name}.ivm", "--active", 20, "--quiet", *options)
    said = json.loads(run("compare", tmp_path / "ordered.ivm", tmp_path / "plain.ivm", table, "--json").stdout)
    for name in ("ordered", "plain"):
        alone = json.loads(run("evaluate", tmp_path / f"{name}.ivm", table, "--json").stdout)
        where = "first" if name == "ordered" else "second"
        assert said["log_loss"][where]["value"] == pytest.approx(alone["log_loss"]["value"], rel=1e-6)
        assert said["brier"][where]["value"] == pytest.approx(alone["brier"]["value"], rel=1e-6)


def test_what_cannot_be_compared(folder):
    test = folder / "test.csv"
    assert (
        "do not predict the same: 'y' (classify) and 'price'"
        in run("compare", folder / "m.ivm", folder / "r.ivm", test, code=1).stderr
    )
    assert "fitted to" in run("compare", folder / "m.ivm", folder / "few.ivm", folder / "train.csv").stderr
    far = NumberPredictions(np.zeros(2), np.array([1e200, 0.0]), np.ones(2), np.array([-np.inf, 0.0]))
    assert losses(far)["mse"][0] == np.inf


def test_one_row_has_no_standard_error(folder, tmp_path):
    lines = (folder / "test.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join(lines[:2]) + "\n")
    said = run("evaluate", folder / "r.ivm", tmp_path / "one.csv", "--report", tmp_path / "r.html")
    assert "mean squared error" in said.stdout
    assert "± ?" in said.stdout


def test_whole_numbers_are_held_back_as_any(folder, tmp_path):
    """Only the first of few whole numbers, which may be classes, are learned on in any case."""
    for targets, kept in ((range(200), 21), (np.arange(200) / 7.0, 30), (np.arange(200) % 3, 3)):
        rows = "".join(f"{k},{float(t)}\n" for k, t in enumerate(targets))
        (tmp_path / "n.csv").write_text("a,y\n" + rows)
        with open_source(str(tmp_path / "n.csv")) as source:
            learned = Learned(source, 0.999, 0)
            assert sum(map(len, learned.blocks(Wanted(("a",), (), "y")))) <= kept + 3


@pytest.mark.parametrize(("name", "active"), [("iris", 40), ("diabetes", 300), ("digits", 60)])
def test_models_are_about_as_large_as_they_are_thought_to_be(tmp_path, name, active):
    X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
    kind, task = (IVMRegressor, "regress") if name == "diabetes" else (IVMClassifier, "classify")
    kind(n_active=active, learn=None).fit(X, y).save(tmp_path / "m.ivm")
    size = (tmp_path / "m.ivm").stat().st_size
    thought = model_bytes(SimpleNamespace(X=X, target=SimpleNamespace(y=y, task=task)), active)
    assert size <= thought <= 1.3 * size + 120_000


def test_a_disk_without_room_is_said_before_the_fit(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=10_000))
    monkeypatch.setattr("infovec.cli.fit.build", None)
    said = run("fit", folder / "train.csv", "-t", "y", "-o", tmp_path / "m.ivm", code=1).stderr
    assert re.search(r"m\.ivm would take about \d\.\d MB, and .* has 0\.0 MB left: make room", said)


def test_active_rows_are_said_per_class_where_they_are(folder):
    assert "with more than two classes for each of them" in " ".join(run("fit", "--help").stdout.split())
    done = run("fit", "iris", "-o", folder / "iris.ivm", "--active", 10, "--time", "1s")
    assert "(10 for each of 3 classes, some for several)" in done.stdout
    assert load_model(str(folder / "iris.ivm")).sketch is not None
    assert (
        "for each"
        not in run("fit", folder / "train.csv", "-t", "y", "-o", folder / "x.ivm", "--active", 9, "--time", "1s").stdout
    )
