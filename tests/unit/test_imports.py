"""Importing infovec is quick, and brings nothing beyond NumPy, SciPy and scikit-learn."""

import os
import re
import subprocess
import sys
from pathlib import Path

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
