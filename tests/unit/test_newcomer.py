"""The README's commands take a newcomer from a CSV file to predictions."""

import os
import sys
from pathlib import Path

import newcomer

from infovec import IVMClassifier

ROOT = Path(__file__).parents[2]


def test_from_tables_to_predictions_with_the_commands_of_the_readme(tmp_path):
    program = tmp_path / "bin" / "infovec"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m infovec.cli "$@"\n')
    program.chmod(0o755)
    many = IVMClassifier().__sklearn_tags__().classifier_tags.multi_class
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
    found = newcomer.main(tmp_path / "tables", 3 if many else 2, environment)
    assert newcomer.commands().count("infovec ") == 4
    assert "mean log density" in found["patients"][0]
    assert "log loss" in found["tumours"][0]
    assert (
        "IVMClassifier of 'outcome' (" + ("setosa, " if many else "") + "versicolor, virginica)" in found["flowers"][0]
    )
