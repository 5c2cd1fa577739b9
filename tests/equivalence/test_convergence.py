"""Parallel EP comes to rest on every classification set, with kernels that are far off as well."""

import warnings

import numpy as np
import pytest
from fixed import IVMClassifier

from infovec.kernels import RBF, Bias

SETS = [
    "a9a", "australian", "banana", "crabs", "dna", "german", "glass", "heart", "ijcnn1", "ionosphere", "iris", "isolet",
    "ivm_clusters", "ivm_crescent", "ivm_unitsquare", "letter", "mnist", "optdigits", "pima", "pima_ripley", "satimage",
    "segment", "sonar", "spambase", "splice", "synth", "thyroid", "twonorm", "usps", "vowel", "waveform", "waveform40",
    "wdbc", "wine", "wisconsin_prog",
]  # fmt: skip
N_ROWS, N_ACTIVE = 500, 80


def one_against_rest(data):
    X = np.asarray(data["X_train"] if "X_train" in data else data["X"], dtype=float)
    y = data["y_train"] if "y_train" in data else data["y"]
    rows = np.random.default_rng(0).permutation(len(y))[:N_ROWS]
    X, y = X[rows], y[rows]
    spread = X.std(axis=0)
    labels, counts = np.unique(y, return_counts=True)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y == labels[np.argmax(counts)]


@pytest.mark.parametrize("name", SETS)
def test_it_comes_to_rest_or_says_so(name, dataset):
    X, y = one_against_rest(dataset(name))
    distinct = len(np.unique(np.column_stack([X, y]), axis=0))
    sensible = np.sqrt(np.sum(X.var(axis=0)))
    for factor in (0.1, 1.0, 10.0):
        for variance in (1e-2, 1.0, 1e2, 1e4):
            kernel = RBF(factor * sensible, variance) + Bias(0.1)
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a ConvergenceWarning would say so
                model = IVMClassifier(kernel=kernel, n_active=N_ACTIVE, random_state=0).fit(X, y)
            assert model.converged_
            assert model.history_["sweep_change"][-1] <= 1e-4
            assert model.history_["sweep_rows"][-1] == distinct  # equal rows count as one of larger weight
            proba = model.predict_proba(X)
            assert np.all(np.isfinite(proba))
            loss = -np.mean(np.log(proba[np.arange(len(y)), y.astype(int)]))
            assert loss < 1.05 * np.log(2.0)  # never worse than knowing nothing
