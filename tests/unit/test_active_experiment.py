"""The experiment of how many labels it takes."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def experiment(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.chdir(tmp_path)
    from experiments.catalogue import load

    return load("active-learning")


def test_labels_are_counted_from_where_accuracy_stays_above_the_mark(experiment):
    needed = sys.modules["experiments.active_learning.asking"].needed
    counts = np.arange(10, 31)
    jumpy = np.where((counts == 14) | (counts >= 20), 0.9, 0.5)
    assert needed(counts, jumpy, 0.8) == 20.0
    assert needed(np.array([10, 30]), np.array([0.5, 0.9]), 0.7) == 20.0  # a straight line between batches
    assert needed(counts, jumpy, 0.95) == np.inf


def test_labels_of_a_batch_are_told_in_the_order_of_asking(experiment):
    asking = sys.modules["experiments.active_learning.asking"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    data, pools = asking.split(X, (X[:, 0] > 0).astype(int), 60, 30, 10, 0), []

    def last(model, X, n, rng):
        pools.append(len(X))
        return np.arange(len(X))[::-1][:n]

    counts, by_five = asking.course(data, last, 16, 5, 0)
    assert pools == [50, 45]
    assert counts.tolist() == list(range(10, 17))
    one = asking.course(data, last, 16, 1, 0)[1]
    assert np.array_equal(by_five, one)  # who asks without looking at the model needs as many by fives


def test_ways_to_ask_start_from_the_same_labels_and_are_compared(experiment, dataset, tmp_path):
    dataset("banana")
    sizes = experiment.Sizes({"banana": 18}, {"banana": 2}, pool=120, test=120, batch=4, peers=False)
    rows = {row["quantity"]: row for row in experiment.run(True, sizes)}
    assert {f"banana: labels needed, {way}" for way in ("random", "information", "batches")} <= set(rows)
    assert rows["banana: share of random, standard error"]["ours"] >= 0.0
    assert 0.6 < rows["banana: accuracy with all labels"]["ours"] <= 1.0
    assert (tmp_path / "out" / "active-learning" / "curves.png").stat().st_size > 10_000
