"""The command line on several files, and on tables that do not fit into memory."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from infovec import load
from infovec.cli import pile
from infovec.cli.commands import infovec


def tables(folder, n=300):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    word = np.array(["red", "green"])[(X[:, 2] > 0).astype(int)]
    label = np.array(["no", "yes"])[(X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)]
    folder.mkdir()
    for k, at in enumerate(np.split(np.arange(n), [120, 200])):
        columns = {"a": X[at, 0], "b": X[at, 1], "colour": word[at], "label": label[at]}
        parquet.write_table(arrow.table(columns), folder / f"{k}.parquet")
    return folder


def run(*arguments):
    return CliRunner().invoke(infovec, [*map(str, arguments), "--target", "label", "--active", "20", "--json"])


def test_a_table_on_disk_gives_the_same_model(tmp_path, monkeypatch):
    folder = tables(tmp_path / "rows")
    first = run("fit", folder, "-o", tmp_path / "a.ivm")
    assert first.exit_code == 0, first.output
    made = []
    before = pile.Pile.__init__

    def without_room(self, offset, room=0.0):
        before(self, offset, 0.0)
        made.append(self)

    monkeypatch.setattr(pile.Pile, "__init__", without_room)
    files = sorted(folder.iterdir())
    second = run("fit", *files, "-o", tmp_path / "b.ivm")
    assert second.exit_code == 0, second.output
    assert made
    a, b = load(tmp_path / "a.ivm"), load(tmp_path / "b.ivm")
    assert a.active_vectors_.shape[1] == 3  # two columns of numbers, one of categories
    np.testing.assert_array_equal(a.active_, b.active_)
    frame = pd.read_parquet(folder)[["a", "b", "colour"]]
    np.testing.assert_allclose(a.predict_proba(frame), b.predict_proba(frame))
    assert json.loads(second.output[second.output.index("{") :])["rows"] == 300


def test_files_that_do_not_agree(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder = tables(tmp_path / "rows")
    parquet.write_table(arrow.table({"a": ["x"], "b": [1.0], "colour": ["red"], "label": ["no"]}), folder / "9.parquet")
    told = run("fit", folder, "-o", tmp_path / "a.ivm")
    assert told.exit_code == 1
    assert "column 'a' holds words in" in told.output
    parquet.write_table(arrow.table({"a": [1.0], "label": ["no"]}), folder / "9.parquet")
    told = run("fit", folder, "-o", tmp_path / "a.ivm")
    assert "do not have the same columns" in told.output
