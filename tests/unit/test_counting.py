"""Weights where parameters are learned: copies of one observation, or observations of their own."""

import numpy as np
import pytest
from scipy.special import expit

from infovec import IVMClassifier
from infovec.errors import ParameterError
from infovec.kernels import RBF
from infovec.machines.counting import as_copies, told_apart


def noisy(n, C, seed=0):
    """Classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    f = 1.5 * X @ np.array([[0.0, 0.9, -0.9], [1.0, -0.5, -0.5]])
    y = np.argmax(f + rng.gumbel(size=(n, 3)), axis=1)
    return X, y if C == 3 else (y == 0).astype(int)


def loss(model, X, y):
    return -float(np.mean(model.predict_log_proba(X)[np.arange(len(y)), y]))


def test_weights_of_copies_sum_to_the_effective_number_of_observations():
    np.testing.assert_allclose(as_copies(np.full(7, 1e300)), 1.0)
    weight = np.array([1.0, 2.0, 4.0, 1.0])
    assert as_copies(weight).sum() == pytest.approx(8.0**2 / 22.0)
    np.testing.assert_allclose(as_copies(weight) / weight, as_copies(weight)[0])


def test_observations_disagree_and_copies_do_not():
    group, y = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    assert told_apart(y, np.tile([70.0, 30.0], 10), group)
    assert not told_apart(y, np.full(20, 2.0), None)
    assert not told_apart(np.tile([0, 0, 1, 1], 5), np.full(20, 5.0), group)
    brute = np.random.default_rng(0).integers(0, 3, size=(4, 12))  # labels of units at four inputs
    differ = np.mean([brute[g, i] != brute[g, j] for g in range(4) for i in range(12) for j in range(12) if i != j])
    counts = np.stack([(brute == c).sum(axis=1) for c in range(3)], axis=1)
    share = counts.sum(axis=0) / 48
    assert told_apart(np.tile(np.arange(3), 4), counts.ravel().astype(float), np.repeat(np.arange(4), 3)) == (
        differ > 0.1 * (1.0 - share @ share)
    )


@pytest.mark.parametrize("C", [2, 3])
def test_a_constant_weight_changes_nothing(C):
    X, y = noisy(80, C)
    plain = IVMClassifier(n_active=20, random_state=0).fit(X, y)
    for w in (3, 0.25, 1e12):
        model = IVMClassifier(n_active=20, random_state=0).fit(X, y, sample_weight=np.full(80, w))
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    twice = IVMClassifier(n_active=20, random_state=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_array_equal(twice.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("C", [2, 3])
def test_a_bootstrap_sample_predicts_about_as_well_as_its_distinct_rows(C):
    X, y = noisy(300, C)
    Z, t = noisy(2000, C, seed=1)
    drawn = np.random.default_rng(0).integers(0, 300, size=300)
    distinct = np.unique(drawn)
    models = [IVMClassifier(n_active=60, random_state=0).fit(X[at], y[at]) for at in (drawn, distinct)]
    assert loss(models[0], Z, t) < 1.05 * loss(models[1], Z, t)


def test_few_inputs_with_many_labels_each_tell_the_truth():
    x = np.linspace(-3.0, 3.0, 10)[:, None]
    p = expit(1.5 * np.sin(1.5 * x[:, 0]) + 0.3)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        at = rng.integers(0, 10, size=600)
        model = IVMClassifier(random_state=0).fit(x[at], rng.uniform(size=600) < p[at])
        assert 2e-3 < model.likelihood_.spread < 9.0
        np.testing.assert_allclose(model.predict_proba(x)[:, 1], p, atol=0.15)


@pytest.mark.parametrize("form", ["probit", "softmax"])
def test_more_copies_than_coupled_classes_can_cope_with_are_refused(form):
    X, y = noisy(40, 3)
    model = IVMClassifier(kernel=RBF(), multi_class=form, learn=None, n_active=10)
    with pytest.raises(ParameterError, match="divide sample_weight so that none is above 10000"):
        model.fit(X, y, sample_weight=np.full(40, 1e12))
