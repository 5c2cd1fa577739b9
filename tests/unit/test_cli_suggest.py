"""``infovec suggest``."""

import csv
import gzip
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import dump_svmlight_file

from infovec.cli.commands import infovec
from infovec.cli.model import load_model

RNG = np.random.default_rng(0)


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of numbers and words, and a pool with other columns."""
    folder = tmp_path_factory.mktemp("suggest")
    for name, n in (("train", 60), ("pool", 500)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "a", "b", "colour", "note", *(["kind"] if name == "train" else [])])
            for i in range(n):
                a, b = RNG.normal(size=2)
                row = [f"{i:04d}", f"{a:.3f}", int(10 * b), RNG.choice(["red", "blue"]), f"=x, {i}"]
                writer.writerow([*row, *(["spam" if a + 0.1 * b > 0 else "ham"] if name == "train" else [])])
    run("fit", folder / "train.csv", "-t", "kind", "--drop", "id,note", "-o", folder / "m.ivm", "--quiet")
    return folder


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_come_in_order_with_all_their_columns(folder, tmp_path):
    result = run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 6, "-o", tmp_path / "ask.csv")
    assert "6 of 500 rows" in result.output
    asked, pool = read(tmp_path / "ask.csv"), read(folder / "pool.csv")
    assert list(asked[0]) == ["row", "information", "id", "a", "b", "colour", "note"]
    for row in asked:
        there = pool[int(row["row"]) - 1]
        assert {k: there[k] for k in ("id", "b", "colour", "note")} == {
            k: row[k] for k in ("id", "b", "colour", "note")
        }
        assert float(there["a"]) == float(row["a"])
    scores = [float(row["information"]) for row in asked]
    assert scores == sorted(scores, reverse=True)


def test_rows_are_those_of_the_library(folder, tmp_path):
    run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 5, "--score", "entropy", "-o", tmp_path / "a.csv.gz")
    with gzip.open(tmp_path / "a.csv.gz", "rt", newline="") as file:
        asked = list(csv.DictReader(file))
    loaded, pool = load_model(folder / "m.ivm"), read(folder / "pool.csv")
    X = pd.DataFrame({"a": [float(r["a"]) for r in pool], "b": [float(r["b"]) for r in pool],
                      "colour": [r["colour"] for r in pool]})  # fmt: skip
    rows, scores = loaded.estimator.suggest(X, 5, score="entropy", return_scores=True)
    assert [int(r["row"]) - 1 for r in asked] == rows.tolist()
    np.testing.assert_allclose([float(r["entropy"]) for r in asked], scores, rtol=1e-6)


def test_json_and_spreadsheets(folder):
    lines = run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 3, "--json", "--quiet").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert len(found) == 3
    assert isinstance(found[0]["a"], float)
    assert found[0]["note"].startswith("=x")
    shown = run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 3, "--quiet", "--no-formulas").stdout
    assert "'=x" in shown


def test_names_that_are_taken_and_what_is_refused(folder, tmp_path):
    text = (folder / "pool.csv").read_text().replace("note", "row", 1)
    (tmp_path / "taken.csv").write_text(text)
    assert run("suggest", folder / "m.ivm", tmp_path / "taken.csv", "--quiet").stdout.startswith(
        "suggested row,information,id"
    )
    before = (folder / "pool.csv").read_text()
    lost = run("suggest", folder / "m.ivm", folder / "pool.csv", "-o", folder / "pool.csv", code=1)
    assert "would be lost" in lost.output
    assert (folder / "pool.csv").read_text() == before
    few = run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 501, "-o", tmp_path / "none.csv", code=1)
    assert "the pool has 500" in few.output
    assert not (tmp_path / "none.csv").exists()
    run("suggest", folder / "m.ivm", folder / "pool.csv", "-n", 0, code=2)


def test_sparse_pools_are_known_by_their_row_numbers(tmp_path):
    dense = np.where(RNG.random((120, 3000)) < 0.01, RNG.normal(size=(120, 3000)), 0.0)
    with (tmp_path / "x.libsvm").open("wb") as file:
        dump_svmlight_file(dense, np.where(dense.sum(axis=1) > 0, 1, -1), file, zero_based=False)
    run("fit", tmp_path / "x.libsvm", "-o", tmp_path / "m.ivm", "--active", 20, "--quiet")
    assert load_model(tmp_path / "m.ivm").table.sparse
    shown = run("suggest", tmp_path / "m.ivm", tmp_path / "x.libsvm", "-n", 2, "--quiet").stdout.splitlines()
    assert shown[0] == "row,information"
    assert len(shown) == 3
