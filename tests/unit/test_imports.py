"""Importing infovec is quick, and brings nothing beyond NumPy, SciPy and scikit-learn."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import infovec

HEAVY = {"matplotlib", "pandas", "polars", "torch", "onnx", "onnxruntime", "dask", "click", "rich", "sympy", "numba"}


def test_what_an_import_brings_and_takes():
    code = "import sklearn.svm, sys; before = set(sys.modules); import infovec; print(*(set(sys.modules) - before))"
    environment = {**os.environ, "PYTHONPATH": str(Path(infovec.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    added = {name.partition(".")[0] for name in done.stdout.split()}
    assert "infovec" in added
    assert not added & HEAVY
    took = {m[2]: int(m[1]) for m in re.finditer(r"\|\s*(\d+) \| (sklearn\.svm|infovec)$", done.stderr, flags=re.M)}
    assert took["infovec"] < 0.25 * took["sklearn.svm"]  # on a machine at rest that takes about a second


def test_the_program_starts_without_pandas_and_others_still_have_it():
    pytest.importorskip("pandas")
    script = (
        "import sys\n"
        "from infovec.cli.start import start_without_pandas\n"
        "start_without_pandas()\n"
        "from infovec import IVMClassifier\n"
        "assert 'sklearn.utils.fixes' in sys.modules and 'pandas' not in sys.modules\n"
        "import pandas, numpy\n"
        "X = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(50, 2)), columns=['a', 'b'])\n"
        "model = IVMClassifier(n_active=9, learn=None).fit(X, X['a'] > 0)\n"
        "assert model.feature_names_in_.tolist() == ['a', 'b']\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(infovec.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
