"""The commands: what they print, write and answer."""

import csv
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import beta, norm, t
from sklearn import datasets as sklearn_datasets
from sklearn.metrics import confusion_matrix, log_loss

import infovec as library
from infovec.cli.commands import infovec
from infovec.cli.model import load_model
from infovec.evaluation import bootstrap_error, coverage_error, mean_figure, rejected_loss, share_figure, shown
from infovec.likelihoods.tails import residual_density
from infovec.metrics import expected_calibration_error

RNG = np.random.default_rng(0)
FIT = ("fit", "spam.csv", "-t", "kind", "-o", "m.ivm")


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def write(path, columns, *arrays):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(a.tolist() for a in arrays), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of two classes, of a number and of ordered classes, and models of them."""
    folder = tmp_path_factory.mktemp("cli")
    a, b = RNG.normal(size=300), 100.0 + 20.0 * RNG.normal(size=300)
    f = a + np.sin((b - 100.0) / 10.0)
    noise = 0.2 * RNG.normal(size=300)
    write(folder / "spam.csv", ["a", "b", "kind"], a, b, np.where(f + noise > 0, "spam", "ham"))
    write(folder / "price.csv", ["a", "b", "price"], a, b, 1000.0 + 50.0 * (f + noise))
    write(
        folder / "grade.csv",
        ["a", "b", "grade"],
        a,
        b,
        np.array(["low", "middle", "high"])[np.digitize(f + noise, [-1, 1])],
    )
    common = ("--active", 60, "--quiet")
    run("fit", folder / "spam.csv", "-t", "kind", "-o", folder / "spam.ivm", *common)
    run("fit", folder / "price.csv", "-t", "price", "-o", folder / "price.ivm", *common)
    run("fit", folder / "grade.csv", "-t", "grade", "--order", "low,middle,high", "-o", folder / "grade.ivm", *common)
    return folder


def test_fit_says_how_far_learning_is(folder, monkeypatch, tmp_path):
    monkeypatch.setattr("infovec.cli.screen._EVERY", 0.0)
    said = run("fit", folder / "spam.csv", "-t", "kind", "-o", tmp_path / "m.ivm", "--active", 20).stderr
    lines = [line for line in said.splitlines() if line.startswith("fitting: learning")]
    assert lines
    for line in lines:
        assert re.search(r"stage \d+ of \d+, step \d+ of at most \d+, about \d+\.\d s left, log evidence -", line)
    shares = [int(found[1]) for line in lines if (found := re.search(r" \((\d+)%\)$", line))]
    assert len(shares) == len(lines)
    assert 0 < shares[0] < shares[-1] <= 100


def read(text):
    return list(csv.DictReader(text.splitlines()))


def test_predictions_are_those_of_the_library(folder):
    model = load_model(str(folder / "spam.ivm"))
    rows = read(run("predict", folder / "spam.ivm", folder / "spam.csv", "--proba", "--std").stdout)
    assert list(rows[0]) == ["prediction", "proba_ham", "proba_spam", "latent_std"]
    table = read((folder / "spam.csv").read_text())
    raw = np.array([[float(r["a"]), float(r["b"])] for r in table])
    X = model.table.given(raw)
    p = model.estimator.predict_proba(X)
    np.testing.assert_allclose([float(r["proba_spam"]) for r in rows], p[:, 1], rtol=1e-6)
    np.testing.assert_allclose([float(r["latent_std"]) for r in rows], model.estimator.predict_latent(X)[1], rtol=1e-6)
    assert [r["prediction"] for r in rows] == model.estimator.predict(X).tolist()
    assert np.mean([r["prediction"] == t["kind"] for r, t in zip(rows, table, strict=True)]) > 0.9


def test_numbers_come_with_their_standard_deviation(folder):
    rows = read(run("predict", folder / "price.ivm", folder / "price.csv", "--std").stdout)
    truth = np.array([float(r["price"]) for r in read((folder / "price.csv").read_text())])
    z = (truth - [float(r["prediction"]) for r in rows]) / [float(r["std"]) for r in rows]
    assert 0.7 < np.std(z) < 1.2


def test_ordered_classes_keep_their_order(folder):
    rows = read(run("predict", folder / "grade.ivm", folder / "grade.csv", "--proba", "--std").stdout)
    assert list(rows[0]) == ["prediction", "proba_low", "proba_middle", "proba_high", "latent_std"]
    truth = [r["grade"] for r in read((folder / "grade.csv").read_text())]
    assert np.mean([r["prediction"] == t for r, t in zip(rows, truth, strict=True)]) > 0.8
    for r in rows:
        assert max(("low", "middle", "high"), key=lambda grade: float(r[f"proba_{grade}"])) == r["prediction"]
    said = json.loads(run("inspect", folder / "grade.ivm", "--json").stdout)
    assert said["classes"] == ["low", "middle", "high"]
    judged = json.loads(run("evaluate", folder / "grade.ivm", folder / "grade.csv", "--json").stdout)
    own = [float(r[f"proba_{t}"]) for r, t in zip(rows, truth, strict=True)]
    assert judged["log_loss"]["value"] == pytest.approx(-np.log(own).mean(), rel=1e-6)


def test_reports_have_ordered_classes_from_low_to_high(folder, tmp_path):
    pytest.importorskip("matplotlib")
    run("evaluate", folder / "grade.ivm", folder / "grade.csv", "--report", tmp_path / "r.html")
    rows = read(run("predict", folder / "grade.ivm", folder / "grade.csv").stdout)
    truth = [r["grade"] for r in read((folder / "grade.csv").read_text())]
    matrix = (tmp_path / "r.html").read_text().split('class="confusion"')[1].split("</table>")[0]
    assert re.findall(r'<th title="([^"]*)"', matrix) == ["low", "middle", "high"]
    counts = [int(n.replace("·", "0")) for n in re.findall(r"<td[^>]*>([^<]*)</td>", matrix)]
    known = confusion_matrix(truth, [r["prediction"] for r in rows], labels=["low", "middle", "high"])
    assert counts == known.ravel().tolist()


def test_predictions_go_to_files(folder, tmp_path):
    text = run("predict", folder / "spam.ivm", folder / "spam.csv").stdout
    done = run("predict", folder / "spam.ivm", folder / "spam.csv", "-o", tmp_path / "out.csv")
    assert (done.stdout, done.stderr) == ("", f"300 rows: {tmp_path / 'out.csv'}\n")
    assert (tmp_path / "out.csv").read_text() == text
    run("predict", folder / "spam.ivm", folder / "spam.csv", "-o", tmp_path / "out.csv.gz", "--quiet")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.csv", "out.csv.gz"]


def test_json_for_programs(folder, tmp_path):
    rows = [
        json.loads(line)
        for line in run("predict", folder / "spam.ivm", folder / "spam.csv", "--proba", "--json").stdout.splitlines()
    ]
    assert len(rows) == 300
    assert rows[0]["proba_ham"] + rows[0]["proba_spam"] == pytest.approx(1.0)
    done = run(
        "fit", folder / "price.csv", "-t", "price", "-o", tmp_path / "m.ivm", "--active", 20, "--json", "--quiet"
    )
    assert done.stderr == ""
    summary = json.loads(done.stdout)
    assert (summary["task"], summary["rows"], summary["n_active"], summary["classes"]) == ("regress", 300, 20, None)


@pytest.mark.parametrize(
    ("labels", "options", "task", "classes"),
    [
        (["no", "yes"], [], "classify", ["no", "yes"]),
        ([0, 1], [], "classify", [0, 1]),
        ([-1.0, 1.0], [], "classify", [-1, 1]),
        ([0, 1], ["--task", "regress"], "regress", None),
        ([0.5, 1.5], [], "regress", None),
        ([1.0, 2.0, 3.0], ["--task", "ordinal"], "ordinal", [1, 2, 3]),
        (range(25), [], "regress", None),
        ([10, 9], ["--task", "classify"], "classify", [9, 10]),
    ],
)
def test_the_task_is_found_from_the_target(tmp_path, labels, options, task, classes):
    labels = list(labels)
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{i},{labels[i % len(labels)]}\n" for i in range(100)))
    done = run("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 9, "--json", *options)
    summary = json.loads(done.stdout)
    assert (summary["task"], summary["classes"]) == (task, classes)


def test_figures_of_classes_are_those_of_scikit_learn(folder):
    figures = json.loads(run("evaluate", folder / "spam.ivm", folder / "spam.csv", "--json").stdout)
    rows = read(run("predict", folder / "spam.ivm", folder / "spam.csv", "--proba").stdout)
    truth = np.array([r["kind"] for r in read((folder / "spam.csv").read_text())])
    p = np.array([float(r["proba_spam"]) for r in rows])
    wrong = (np.where(p > 0.5, "spam", "ham") != truth).mean()
    assert figures["error"]["value"] == pytest.approx(wrong)
    assert figures["log_loss"]["value"] == pytest.approx(log_loss(truth, p), rel=1e-5)
    assert figures["error"]["standard_error"] == pytest.approx(np.sqrt(wrong * (1 - wrong) / 300), rel=0.1)
    assert expected_calibration_error(truth == "spam", p) == pytest.approx(
        figures["calibration_error"]["value"], abs=1e-6
    )
    assert figures["error_reject"][0]["error"] == figures["error"]
    certain = np.argsort(np.maximum(p, 1 - p))[150:]
    half = figures["error_reject"][-1]
    assert half["rejected"] == pytest.approx(0.5)
    assert half["error"]["value"] == pytest.approx((np.where(p > 0.5, "spam", "ham") != truth)[certain].mean())


def test_figures_of_numbers(folder):
    figures = json.loads(run("evaluate", folder / "price.ivm", folder / "price.csv", "--json").stdout)
    rows = read(run("predict", folder / "price.ivm", folder / "price.csv", "--std").stdout)
    truth = np.array([float(r["price"]) for r in read((folder / "price.csv").read_text())])
    mean, std = (np.array([float(r[k]) for r in rows]) for k in ("prediction", "std"))
    assert figures["mse"]["value"] == pytest.approx(np.mean((truth - mean) ** 2), rel=1e-5)
    assert figures["rmse"]["value"] == pytest.approx(np.sqrt(np.mean((truth - mean) ** 2)), rel=1e-5)
    assert figures["mae"]["value"] == pytest.approx(np.mean(np.abs(truth - mean)), rel=1e-5)
    assert figures["mse"]["standard_error"] == pytest.approx(
        np.std((truth - mean) ** 2, ddof=1) / np.sqrt(300), rel=1e-5
    )
    residual = residual_density(library.load(folder / "price.ivm").residual_quantiles_)
    expected = t.logpdf((truth - mean) / std, residual.df, scale=residual.scale) - np.log(std)
    assert figures["log_density"]["value"] == pytest.approx(np.mean(expected), rel=1e-5)
    certain = np.argsort(std, kind="stable")[:150]
    assert figures["error_reject"][-1]["mse"]["value"] == pytest.approx(np.mean((truth - mean)[certain] ** 2), rel=1e-4)


@pytest.mark.parametrize("name", ["spam", "price", "grade"])
def test_figures_for_people(folder, name):
    text = run("evaluate", folder / f"{name}.ivm", folder / f"{name}.csv", "--quiet").stdout
    assert "±" in text
    assert "calibration error" in text
    assert text.count("rejected") == 6


def test_labels_that_the_model_does_not_know(folder, tmp_path):
    (tmp_path / "x.csv").write_text("a,b,kind\n1,100,spam\n1,100,eggs\n")
    message = run("evaluate", folder / "spam.ivm", tmp_path / "x.csv", code=1).stderr
    assert "line 3: the target 'kind' is 'eggs', none of the classes of the model (ham, spam)" in message


def test_coverage_of_intervals():
    z = np.abs(norm.ppf((np.arange(20000) + 0.5) / 20000))
    assert coverage_error(z) < 1e-3  # standard normal: as it should be
    assert coverage_error(0.0 * z) == pytest.approx(0.5)  # everything is in every interval
    share = [2 * norm.cdf(norm.ppf((1 + level) / 2) / 2) - 1 for level in np.arange(1, 10) / 10]
    assert coverage_error(2.0 * z) == pytest.approx(np.mean(np.abs(share - np.arange(1, 10) / 10)), abs=1e-3)


def test_standard_errors():
    draws = [share_figure(int(RNG.binomial(200, 0.1)), 200) for _ in range(2000)]
    assert np.mean([f.standard_error for f in draws]) == pytest.approx(np.std([f.value for f in draws]), rel=0.05)
    for k in (0, 7, 50):  # as of a probability that is uniform before anything is seen
        figure = share_figure(k, 50)
        assert (figure.value, figure.standard_error) == pytest.approx((k / 50, beta(1 + k, 51 - k).std()), rel=1e-12)
    x = RNG.normal(size=400)
    assert bootstrap_error(lambda rows: x[rows].mean(), 400) == pytest.approx(mean_figure(x).standard_error, rel=0.2)
    assert rejected_loss(np.array([5.0, 1.0, 3.0]), np.array([9.0, 1.0, 2.0]), 1 / 3).value == 2.0


def test_inspection(folder):
    data = json.loads(run("inspect", folder / "price.ivm", "--points", 3, "--json").stdout)
    model = load_model(str(folder / "price.ivm"))
    assert data["kernel"] == [repr(model.estimator.kernel_)]
    assert data["log_evidence"] == pytest.approx(model.estimator.log_evidence_)
    assert data["provenance"]["rows"] == 300
    table = read((folder / "price.csv").read_text())
    assert len(data["active"]) == 3
    for point in data["active"]:  # in the units of the table, and the row is where it says
        row = table[point["row"] - 1]
        assert point["values"] == {name: pytest.approx(float(row[name]), rel=1e-4) for name in "ab"}
    text = run("inspect", folder / "price.ivm").stdout
    for word in ("IVMRegressor of 'price'", "log evidence", "relevances", "first active rows", "provenance", "command",
                 "not how much predictions depend on it"):  # fmt: skip
        assert word in text


def test_what_inspection_says_is_in_words(tmp_path):
    a, b = RNG.normal(size=60), RNG.normal(size=60)
    write(tmp_path / "x.csv", ["a", "b", "y"], a, b, a > 0)
    fit = ("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 5)
    run(*fit, "--report", tmp_path / "r.html")
    said = run("inspect", tmp_path / "m.ivm").stdout
    assert "{" not in said
    assert re.search(r"plan +seconds \S+, learning \S+, memory \S+ .?B", said)
    absent = run("inspect", tmp_path / "none.ivm", code=1).stderr
    assert absent.startswith(f"Error: there is no file {tmp_path / 'none.ivm'}")


@pytest.mark.parametrize("kernel", ["rbf", "matern", "exponential", "linear"])
def test_relevant_columns_are_found(tmp_path, kernel):
    X = RNG.normal(size=(150, 3)) * [1.0, 1e3, 1e-3]
    y = X[:, 1] / 1e3 + 0.1 * RNG.normal(size=150)
    write(tmp_path / "x.csv", ["a", "b", "c", "y"], *X.T, y)
    run("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 40, "--kernel", kernel, "--ard")
    found = json.loads(run("inspect", tmp_path / "m.ivm", "--json").stdout)["relevances"]
    assert found[0]["column"] == "b"
    assert found[1]["relevance"] < 0.6


def test_a_report_without_matplotlib_is_refused_before_any_work(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("infovec.cli.reporting.find_spec", lambda name: None)
    done = run(
        "fit", folder / "spam.csv", "-t", "kind", "-o", tmp_path / "m.ivm", "--report", tmp_path / "r.html", code=1
    )
    assert "--report needs matplotlib" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_reports(folder, tmp_path):
    done = run(
        "fit", folder / "spam.csv", "-t", "kind", "-o", tmp_path / "m.ivm", "--report", tmp_path / "fit.html",
        "--active", 20, "--ard",
    )  # fmt: skip
    assert "fit.html" in done.stderr
    text = (tmp_path / "fit.html").read_text()
    plan = load_model(str(tmp_path / "m.ivm")).provenance["plan"]
    for word in ("IVMClassifier of kind", "ham, spam", "None were given", f"{plan['seconds']:.3g} s", "spam.csv"):
        assert word in text
    for name in ("price", "grade"):
        data = json.loads(
            run(
                "evaluate", folder / f"{name}.ivm", folder / f"{name}.csv", "--report", tmp_path / "e.html", "--json"
            ).stdout
        )
        text = (tmp_path / "e.html").read_text()
        assert "Test rows: 300" in text
        assert "Learning curve" in text
        assert shown(data["calibration_error"]) in text.replace("\N{NO-BREAK SPACE}", " ")
    row = load_model(str(folder / "grade.ivm")).estimator.active_[0]
    b = float(read((folder / "grade.csv").read_text())[row]["b"])
    assert f'<td class="number">{row + 1}</td>' in text  # in the units of the table, and its count of rows
    assert f'<td class="number">{b:.4g}</td>' in text
    run(
        "fit",
        folder / "spam.csv",
        "-t",
        "kind",
        "-o",
        tmp_path / "n.ivm",
        "--report",
        tmp_path / "no" / "r.html",
        code=1,
    )
    assert not (tmp_path / "n.ivm").exists()  # said before any work


def test_a_limit_of_time_leaves_a_usable_model(tmp_path):
    X = RNG.normal(size=(3000, 5))
    write(tmp_path / "x.csv", [*"abcde", "y"], *X.T, np.sin(X[:, 0]) + 0.1 * RNG.normal(size=3000))
    done = run("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--time", "0.6s", "--json")
    assert json.loads(done.stdout)["n_active"] > 5
    figures = json.loads(run("evaluate", tmp_path / "m.ivm", tmp_path / "x.csv", "--json").stdout)
    assert figures["mse"]["value"] < 0.8 * figures["variance_of_target"]


def test_data_sets_by_name(tmp_path):
    run("fit", "diabetes", "-o", tmp_path / "m.ivm", "--active", 30, "--quiet")
    figures = json.loads(run("evaluate", tmp_path / "m.ivm", "diabetes", "--json").stdout)
    assert (figures["task"], figures["rows"]) == ("regress", 442)
    assert figures["mse"]["value"] < 0.6 * figures["variance_of_target"]


def test_sparse_tables_stay_sparse(tmp_path):
    dense = np.where(RNG.random((120, 3000)) < 0.01, RNG.normal(size=(120, 3000)), 0.0)
    y = np.where(dense[:, :60].sum(axis=1) > 0, 1, -1)
    with (tmp_path / "x.libsvm").open("wb") as file:
        sklearn_datasets.dump_svmlight_file(dense, y, file, zero_based=False)
    done = run("fit", tmp_path / "x.libsvm", "-o", tmp_path / "m.ivm", "--active", 50, "--json")
    assert json.loads(done.stdout)["classes"] == [-1, 1]
    assert load_model(str(tmp_path / "m.ivm")).table.sparse
    figures = json.loads(run("evaluate", tmp_path / "m.ivm", tmp_path / "x.libsvm", "--json").stdout)
    assert figures["error"]["value"] < 0.3


def test_models_saved_in_python_know_their_columns_but_no_target(tmp_path):
    frame = pd.DataFrame({"a": RNG.normal(size=40), "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(range(40), "D"),
                          "word": np.array(["red", "green"] * 20)})  # fmt: skip
    y = frame["a"] + (frame["word"] == "red")
    frame.to_csv(tmp_path / "x.csv", index=False)
    for X, name in ((frame, "m"), (frame[["a"]], "n"), (frame[["a"]].to_numpy(), "a")):
        model = library.IVMRegressor(n_active=5, learn=None, random_state=0).fit(X, y)
        model.save(tmp_path / f"{name}.ivm")
        assert run("inspect", tmp_path / f"{name}.ivm").stdout.startswith("IVMRegressor\n")
        if name != "a":
            rows = read(run("predict", tmp_path / f"{name}.ivm", tmp_path / "x.csv").stdout)
            np.testing.assert_allclose([float(r["prediction"]) for r in rows], model.predict(X), rtol=1e-6, atol=1e-8)
    np.savetxt(tmp_path / "places.csv", frame[["a"]].to_numpy(), fmt="%.17g")
    frame[["a"]].to_csv(tmp_path / "named.csv", index=False, header=["x0"])
    for table in (("places.csv", "--no-header"), ("named.csv",)):
        rows = read(run("predict", tmp_path / "a.ivm", tmp_path / table[0], *table[1:]).stdout)
        np.testing.assert_allclose([float(r["prediction"]) for r in rows], model.predict(X), rtol=1e-6, atol=1e-8)
    message = run("predict", tmp_path / "a.ivm", tmp_path / "x.csv", code=1).stderr
    assert "fitted in Python to an array of 1 columns without names" in message
    assert "name these x0 to x0 in its header, in the order of the array, or give a table of nothing else" in message
    two = library.IVMRegressor(n_active=5, learn=None, random_state=0).fit(X, np.stack([y, -y], axis=1))
    two.save(tmp_path / "two.ivm")
    for command in (("inspect",), ("predict", tmp_path / "x.csv"), ("evaluate", tmp_path / "x.csv")):
        message = run(command[0], tmp_path / "two.ivm", *command[1:], code=1).stderr
        assert "was saved in Python and predicts 2 targets at once, where the command line has one" in message
    message = run("evaluate", tmp_path / "m.ivm", tmp_path / "x.csv", code=1).stderr
    assert "was saved in Python and does not say how to read a table, its target" in message


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Usage"),
        (("fit",), 2, "Missing argument 'DATA...'"),
        (("fit", "spam.csv", "-o", "m.ivm"), 2, "name the column to predict: --target, one of a, b, kind"),
        (("fit", "spam.csv", "-t", "kind"), 2, "Missing option '-o'"),
        ((*FIT, "--active", "many"), 2, "'many' is neither a number"),
        ((*FIT, "--active", "0"), 2, "a whole number from 1"),
        ((*FIT, "--memory", "much"), 2, "write it like 500MB or 2GB"),
        ((*FIT, "--time", "soon"), 2, "write it like 60s, 5m or 1h"),
        ((*FIT, "--task", "guess"), 2, "'guess' is not one of"),
        ((*FIT, "--order", "a,b", "--task", "regress"), 2, "--order is for --task ordinal"),
        (("predict", "price.ivm", "price.csv", "--proba"), 2, "--proba is for classes"),
        (("fit", "absent.csv", "-t", "kind", "-o", "m.ivm"), 1, "there is no file absent.csv"),
        (("fit", "spam.csv", "-t", "nothing", "-o", "m.ivm"), 1, "spam.csv has no column 'nothing'"),
        (("fit", "spam.csv", "-t", "kind", "-o", "absent/m.ivm"), 1, "there is no folder"),
        ((*FIT, "--likelihood", "poisson"), 1, "is not for --task classify; choose probit, logit"),
        ((*FIT, "--transform", "log"), 1, "--transform log is for numbers"),
        ((*FIT, "--memory", "1kB"), 1, "not enough"),
        (("predict", "absent.ivm", "spam.csv"), 1, "absent.ivm"),
        (("predict", "spam.csv", "spam.csv"), 1, "spam.csv cannot be loaded"),
        (("fit", "spam.ivm", "-t", "kind", "-o", "m.ivm"), 1, "not from .ivm"),
        (("reproduce", "nothing"), 2, "no such name: nothing; there are"),
        (("bench",), 2, "no name given; there are"),
    ],
)  # fmt: skip
def test_exit_codes_and_messages(folder, monkeypatch, arguments, code, message):
    monkeypatch.chdir(folder)
    result = run(*arguments, code=code)
    assert message in result.stderr + (result.stdout if not arguments else "")
    assert "Traceback" not in result.stderr
    assert not (folder / "m.ivm").exists()


def test_experiments_and_benchmarks_are_listed_and_need_a_source_tree(tmp_path, monkeypatch):
    assert "thesis-plv" in run("reproduce", "--list").stdout.split()
    listed = set(run("bench", "--list").stdout.split())
    assert {"svc", "stream", "speed"} <= listed
    assert not {"defaults", "drawing", "forms", "peers"} & listed
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("infovec.cli.outside.__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert "get the source (git clone)" in run("reproduce", "thesis-plv", code=1).stderr


def test_experiments_run_in_a_process_of_their_own_and_hand_on_its_failure(monkeypatch, capfd):
    monkeypatch.setenv("INFOVEC_DATA", "")
    run("reproduce", "thesis-plv", "--quick", code=1)
    assert "Set INFOVEC_DATA" in capfd.readouterr().err


def test_the_demonstration_draws_its_figure(tmp_path, monkeypatch):
    monkeypatch.setattr("infovec.demo.compare_on_digits", lambda: print("compared"))  # its table is tested elsewhere
    assert "compared" in run("demo", "--out", tmp_path / "new").stdout
    assert (tmp_path / "new" / "classification.png").stat().st_size > 10_000
