"""Certificates on the command line, and in reports."""

import csv
import importlib.util
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from infovec import IVMClassifier, load
from infovec.cli.commands import infovec
from infovec.estimators.certifying import split_rows
from infovec.kernels import RBF


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def write(path, *columns):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(zip(*columns, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("certify"), np.random.default_rng(0)
    a, b = rng.normal(size=400), 100.0 + 20.0 * rng.normal(size=400)
    f = a + np.sin((b - 100.0) / 10.0) + 0.2 * rng.normal(size=400)
    kind, word = np.where(f > 0, "spam", "ham"), np.where(rng.random(400) < 0.5, "x", "y")
    for name, rows in (("all", slice(None)), ("old", slice(250)), ("new", slice(250, None))):
        write(folder / f"{name}.csv", ["a", *a[rows]], ["b", *b[rows]], ["kind", *kind[rows]])
    _, second = split_rows(400, 0.5, 0)
    rare = word.copy()
    rare[second[0]] = "rare"
    write(folder / "words.csv", ["a", *a], ["w", *word], ["kind", *kind])
    write(folder / "rare.csv", ["a", *a], ["w", *rare], ["kind", *kind])
    gap = rng.random((2, 400)) < 0.1
    with_gaps = [["" if missing else value for value, missing in zip(*pair, strict=True)]
                 for pair in ((a, gap[0]), (rare, gap[1]))]  # fmt: skip
    write(folder / "gaps.csv", ["a", *with_gaps[0]], ["w", *with_gaps[1]], ["kind", *kind])
    write(folder / "numbers.csv", ["a", *a], ["b", *b], ["price", *f])
    run("fit", folder / "old.csv", "-t", "kind", "-o", folder / "old.ivm", "--active", 40, "--quiet")
    return folder


def test_rows_that_a_model_has_not_seen(folder):
    said = json.loads(run("certify", folder / "old.ivm", folder / "new.csv", "--delta", 0.05, "--json").stdout)
    assert (said["n"], said["delta"], said["best_by"]) == (150, 0.05, "test set")
    assert said["bayes_error"] < said["test_bound"] < said["best_bound"] < 0.5
    text = run("certify", folder / "old.ivm", folder / "new.csv").stdout
    assert "With probability at least 0.99 over the draw of the 150 rows" in text
    assert "test set" in text


def test_rows_of_the_fit_are_refused(folder):
    assert "not held out" in run("certify", folder / "old.ivm", folder / "all.csv", code=1).output
    assert "not held out" in run("certify", folder / "old.ivm", folder / "old.csv", code=1).output


def test_a_few_rows_equal_to_active_rows_are_warned_of(folder, tmp_path):
    """By chance, as in coarse columns; the refusal has words of the command line."""
    active = json.loads(run("inspect", folder / "old.ivm", "--points", 40, "--json").stdout)["active"]
    old = (folder / "old.csv").read_text().splitlines()
    new = (folder / "new.csv").read_text().splitlines()
    for count, code in ((1, 0), (7, 0), (8, 1)):  # of 150, 157 and 158 rows
        some = [old[point["row"]] for point in active[:count]]
        (tmp_path / "some.csv").write_text("\n".join([*new[:11], *some, *new[11:]]))
        done = run("certify", folder / "old.ivm", tmp_path / "some.csv", code=code)
        assert "held_out" not in done.output
        if code:
            assert f"8 of these {150 + count} rows are equal to 8 of the 40 active rows" in done.stderr
            assert "not held out" in done.stderr
        else:
            verb = "is" if count == 1 else "are"
            assert f"warning: {count} of these {150 + count} rows {verb} equal to active rows" in done.stderr
            assert "first is number 11, counted from 1" in done.stderr
    assert "equal to active rows" not in run("certify", folder / "old.ivm", folder / "new.csv").stderr


def test_fit_and_certify(folder):
    output, report = folder / "certified.ivm", folder / "report.html"
    fit = ("fit", folder / "all.csv", "-t", "kind", "-o", output, "--active", 40)
    said = json.loads(run(*fit, "--certify", 0.5, "--delta", 0.05, "--json", "--report", report).stdout)
    assert said["certificate"]["n"] == 200
    assert said["certificate"]["gibbs_bound"] < 0.5
    html = report.read_text()
    assert "<h2>Certificate</h2>" in html
    assert "Share of each class" in html
    X = np.loadtxt(folder / "all.csv", delimiter=",", skiprows=1, usecols=(0, 1)).astype(np.float32)
    y = np.loadtxt(folder / "all.csv", delimiter=",", skiprows=1, usecols=2, dtype=str)
    found = IVMClassifier(n_active=40, random_state=0).fit_certified(X, y, delta=0.05)
    assert said["certificate"]["gibbs_bound"] == pytest.approx(found.gibbs_bound, rel=1e-4)
    assert "With probability at least 0.99" in run(*fit, "--certify", 0.5).stdout
    assert "certificate" in run("inspect", output, "--json").stdout


@pytest.mark.parametrize("name", ["words", "rare", "gaps"])
def test_a_table_is_encoded_by_what_the_rows_that_are_learned_on_know(folder, name):
    """Words, medians and commonest words of the others are none of the prior's; so it is in Python."""
    output = folder / f"{name}.ivm"
    fit = ("fit", folder / f"{name}.csv", "-t", "kind", "-o", output, "--active", 20, "--certify", 0.5, "--json")
    said = json.loads(run(*fit).stdout)["certificate"]
    frame = pd.read_csv(folder / f"{name}.csv").astype({"a": np.float32})  # as the command line keeps numbers
    first, _ = split_rows(len(frame), 0.5, 0)
    known = load(output).table_ if name != "words" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IVMClassifier(n_active=20, random_state=0)
        found = model.fit_certified(frame[["a", "w"]], frame["kind"], split=0.5)
    assert said["gibbs_bound"] == pytest.approx(found.gibbs_bound, rel=1e-3)
    if known is not None:
        assert known.columns[0].fill == pytest.approx(frame["a"][first].median(), rel=1e-6)
        assert "rare" not in known.columns[1].categories
        assert known.columns[1].categories == model.table_.columns[1].categories
    predicted = folder / f"{name}-predicted.csv"
    run("predict", output, folder / f"{name}.csv", "-o", predicted, "--quiet")
    assert np.mean(pd.read_csv(predicted)["prediction"] == model.predict(frame[["a", "w"]])) > 0.99


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--impute", "median"), "medians of all rows"),
        (("--kernel", "matern"), "--kernel rbf"),
        (("--ard",), "--kernel rbf"),
    ],
)
def test_what_would_be_taken_from_all_rows_is_wrong_usage(folder, options, words):
    fit = ("fit", folder / "all.csv", "-t", "kind", "-o", folder / "no.ivm", "--certify", 0.5)
    assert words in run(*fit, *options, code=2).output


def test_numbers_have_no_certificate(folder):
    fit = ("fit", folder / "numbers.csv", "-t", "price", "-o", folder / "price.ivm", "--active", 20, "--quiet")
    assert "errors of classes" in run(*fit, "--certify", 0.5, code=2).output
    run(*fit)
    assert "errors of classes" in run("certify", folder / "price.ivm", folder / "numbers.csv", code=1).output


def test_a_report_without_a_certificate_has_no_section(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, "<b>", "a")
    model = IVMClassifier(kernel=RBF(1.0, 5.0), learn=None, n_active=10, random_state=0).fit(X, y)
    model.report(tmp_path / "without.html")
    assert "Certificate" not in (tmp_path / "without.html").read_text()
    model.report(tmp_path / "with.html", certificate=model.certify(X, y))
    html = (tmp_path / "with.html").read_text()
    assert "<h2>Certificate</h2>" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html.split("<h2>Certificate</h2>")[1]


@pytest.mark.parametrize("task", ["ordinal", "classify"])
def test_figures_that_are_named_as_those_of_the_predictions_are(tmp_path, task):
    """Of several classes the vote of all draws is another rule, which errs on other rows."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=(400, 2)).round(3)
    grade = np.digitize(a.sum(axis=1) + 0.7 * rng.normal(size=400), [-1.2, 0.0, 1.2])
    for name, part in (("train", slice(0, 100)), ("new", slice(100, 400))):
        cells = "".join(f"{x},{y},{g}\n" for (x, y), g in zip(a[part], grade[part], strict=True))
        (tmp_path / f"{name}.csv").write_text(f"a,b,grade\n{cells}")
    table, model = tmp_path / "new.csv", tmp_path / "o.ivm"
    run("fit", tmp_path / "train.csv", "-t", "grade", "--task", task, "-o", model, "--active", 20)
    error = json.loads(run("evaluate", model, table, "--json").stdout)["error"]["value"]
    found = json.loads(run("certify", model, table, "--json").stdout)
    assert found["test_error"] == pytest.approx(error)
    assert found["best_by"] == "test set"
    if importlib.util.find_spec("matplotlib"):
        run("certify", model, table, "--report", tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert "nothing here says how well" not in page
        assert "None were given but those of the certificate below" in page
        assert f'error of the predictions on the rows</td><td class="number">{error:.2%}' in page
    assert f"such draws were wrong on {found['gibbs_error']:.2%}, the predictions on {error:.2%}" in found["statement"]
