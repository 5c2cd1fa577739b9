"""The README's commands take a newcomer from a CSV file to predictions."""

import os
import shlex
import sys
from pathlib import Path

import newcomer
import pytest
from click.testing import CliRunner

from infovec import IVMClassifier
from infovec.cli.commands import infovec

ROOT = Path(__file__).parents[2]
MANY = IVMClassifier().__sklearn_tags__().classifier_tags.multi_class
TABLES = {name: rest for name, *rest in newcomer.tables(3 if MANY else 2)}


def test_the_commands_of_the_readme():
    lines = [shlex.split(line, comments=True) for line in newcomer.commands().splitlines()]
    assert [line[:2] for line in lines] == [
        ["infovec", c] for c in ("fit", "evaluate", "inspect", "predict", "fit", "compare")
    ]


@pytest.mark.parametrize(("name", "shown"), [("patients", "mean log density"), ("tumours", "log loss")])
def test_from_a_table_to_predictions(tmp_path, monkeypatch, name, shown):
    truth = newcomer.write(tmp_path / name, *TABLES[name])
    monkeypatch.chdir(tmp_path / name)
    output = ""
    for line in newcomer.commands().splitlines():
        done = CliRunner().invoke(infovec, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, done.output
        output += done.stdout
    newcomer.check(tmp_path / name, truth)
    assert shown in output


def test_from_a_table_with_words_to_predictions_in_a_shell(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "infovec"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m infovec.cli "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    truth = newcomer.write(tmp_path / "flowers", *TABLES["flowers"])
    output = newcomer.run(tmp_path / "flowers")
    newcomer.check(tmp_path / "flowers", truth)
    assert "IVMClassifier of 'outcome' (" + ("setosa, " if MANY else "") + "versicolor, virginica)" in output
